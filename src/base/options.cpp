// Parser of the command line, formats of option values, and --help, from the description of an option struct.
#include "merganser/base/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/error.hpp"

namespace merganser {
namespace {

/// Returns the value of an option in double quotes, for error messages.
std::string quoted(const std::string& text) { return '"' + text + '"'; }

}  // namespace

Check positive() {
  return {"greater than 0", [](double x) { return x > 0 && std::isfinite(x); }};
}
Check at_least(double lowest) {
  return {"at least " + number_text(lowest), [lowest](double x) { return x >= lowest && std::isfinite(x); }};
}
Check between(double lowest, double highest) {
  return {number_text(lowest) + " to " + number_text(highest),
          [lowest, highest](double x) { return x >= lowest && x <= highest; }};
}

std::string number_text(double x) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x).ptr;
  return {buffer, end};
}

namespace {

// Format of an option's value as parse() reads it: one overload for each alternative of OptionValue.
std::string format_value(std::monostate) { return {}; }
std::string format_value(bool v) { return v ? "true" : "false"; }
std::string format_value(std::int64_t v) { return std::to_string(v); }
std::string format_value(double v) { return number_text(v); }
std::string format_value(const std::string& v) { return v; }
template <class T>
std::string format_value(const std::vector<T>& v) {
  return joined(v, ",", [](const T& item) { return format_value(item); });
}

}  // namespace

std::string value_text(const OptionValue& value) {
  return std::visit([](const auto& v) { return format_value(v); }, value);
}

// Splits the value of a list option at its commas; an empty piece is an error.
std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> out;
  if (text.empty()) return out;
  for (const auto piece : split_at(text, ',')) {
    if (piece.empty()) throw UsageError(quoted(text) + " has an empty piece; allowed: values between single commas");
    out.emplace_back(piece);
  }
  return out;
}

namespace detail {

void reject(const std::string& text, const std::string& allowed) {
  throw UsageError(quoted(text) + "; allowed: " + allowed);
}

void apply_check(const Check& check, double x, const std::string& text) {
  if (!check.ok(x)) reject(text, check.allowed);
}

namespace {

/// Parses the value of an option as an integer of type T. @throws UsageError for another text, and for numbers out of the type's
/// range
template <class T>
T parse_whole(const std::string& text, const char* allowed) {
  T v = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, v);
  if (error == std::errc::result_out_of_range) reject(text, "an integer of 64 bits");
  if (error != std::errc() || at != end) reject(text, allowed);
  return v;
}

}  // namespace

std::int64_t parse_integer(const std::string& text) { return parse_whole<std::int64_t>(text, "an integer"); }

int parse_int(const std::string& text) {
  const std::int64_t value = parse_integer(text);
  if (!std::in_range<int>(value)) reject(std::to_string(value), "an integer of 32 bits");
  return static_cast<int>(value);
}

double parse_number(const std::string& text) {
  double v = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = detail::real_from_chars(text.data(), end, v);
  if (error != std::errc() || at != end || !std::isfinite(v)) reject(text, "a finite number");
  return v;
}

void parse_value(const std::string& text, std::string& v) { v = text; }
void parse_value(const std::string& text, double& v) { v = parse_number(text); }
void parse_value(const std::string& text, int& v) { v = parse_int(text); }
void parse_value(const std::string& text, std::int64_t& v) { v = parse_integer(text); }
void parse_value(const std::string& text, std::uint64_t& v) { v = parse_whole<std::uint64_t>(text, "an integer >= 0"); }
void parse_value(const std::string& text, std::vector<std::string>& v) { v = split_commas(text); }

void parse_value(const std::string& text, std::vector<int>& v) {
  std::vector<int> out;  // parsed whole before it is assigned: a bad piece leaves the value as it was
  for (const auto& piece : split_commas(text)) parse_value(piece, out.emplace_back());
  v = std::move(out);
}

void parse_value(const std::string& text, std::array<std::int64_t, 3>& v) {
  const auto pieces = split_commas(text);
  if (pieces.size() != 3) reject(text, "three values, X,Y,Z");
  v = {parse_integer(pieces[0]), parse_integer(pieces[1]), parse_integer(pieces[2])};
}

// Parses the axes of an option such as --periodic: letters of xyz, each once, or none.
void parse_value(const std::string& text, AxisFlags& v) {
  AxisFlags out{};
  if (text.empty()) reject(text, "letters of xyz, or none");
  for (const char c : text == "none" ? std::string() : text) {
    if (c < 'x' || c > 'z' || out[static_cast<std::size_t>(c - 'x')]) reject(text, "letters of xyz, or none");
    out[static_cast<std::size_t>(c - 'x')] = true;
  }
  v = out;
}

std::string axes_text(const AxisFlags& axes) {
  std::string out;
  for (std::size_t a = 0; a < 3; ++a)
    if (axes[a]) out += static_cast<char>('x' + a);
  return out.empty() ? "none" : out;
}

}  // namespace detail

// Applies the modifier Words to a command line option with a text: its value must be one of the words.
void OptionTable::apply(Option& o, const std::string*, Words words) {
  o.kind = joined(words.words, "|");
  o.words = words.words;
  o.set = [set = std::move(o.set), words = std::move(words.words)](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end()) detail::reject(text, joined(words, "|"));
    set(text);
  };
}

// Applies the modifier Words to a command line option with a list: each value must be one of the words.
void OptionTable::apply(Option& o, const std::vector<std::string>*, Words words) {
  o.words = words.words;
  o.set = [set = std::move(o.set), words = std::move(words.words)](const std::string& text) {
    for (const auto& piece : split_commas(text))
      if (std::find(words.begin(), words.end(), piece) == words.end()) detail::reject(piece, joined(words, "|"));
    set(text);
  };
}

Option OptionTable::make_option(std::string name, std::string help) const {
  Option o;
  o.name = std::move(name);
  o.help = std::move(help);
  o.section = section_;
  return o;
}

void OptionTable::set_initial(Option& o) {
  if (!o.initial.empty()) return;
  if (!o.flag) o.initial = value_text(o.value());
  if (o.flag && o.value() == OptionValue(true)) o.initial = "on; off: --no-" + o.name;
}

Option* OptionTable::find(const std::string& name) {
  for (auto& o : options_)
    if (!o.positional && o.name == name) return &o;
  return nullptr;
}

bool OptionTable::is_given(std::string_view name) const {
  return std::any_of(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name && o.given; });
}

/// Sets the option that a command line argument names: --name value, --name=value, -n value, --flag, --no-flag. @param rest
/// arguments after it @param used  number of these that were taken as value
void OptionTable::set_named(const std::string& argument, std::span<const std::string> rest, std::size_t& used) {
  const bool is_long = argument.starts_with("--");
  std::string name = argument.substr(is_long ? 2 : 1);
  std::string value;
  bool has_value = false;
  if (const auto eq = name.find('='); is_long && eq != std::string::npos) {
    value = name.substr(eq + 1);
    name.resize(eq);
    has_value = true;
  }
  Option* o = nullptr;
  bool off = false;
  if (is_long) {
    o = find(name);
    // An option whose own name begins with "no-" comes first; else --no-NAME switches a flag off, and nothing but a flag.
    if (o == nullptr && name.starts_with("no-")) {
      o = find(name.substr(3));
      off = o != nullptr && o->flag;
      if (!off) o = nullptr;
    }
  } else {
    for (auto& candidate : options_)
      if (name.size() == 1 && candidate.letter == name[0]) o = &candidate;
  }
  if (o == nullptr)
    throw_unknown(is_long ? "--" + name : argument, has_value ? std::span<const std::string>(&value, 1) : rest);
  if (o->flag) {
    if (has_value)
      throw UsageError("--" + o->name + " has the value " + quoted(value) + "; allowed: --" + o->name + " or --no-" +
                       o->name);
    value = off ? "false" : "true";
  } else if (!has_value) {
    if (rest.empty()) throw UsageError("--" + o->name + " needs a value: " + o->kind);
    value = rest[0];
    used = 1;
  }
  check_once(*o, value);
  try {
    o->set(value);
  } catch (const UsageError& e) {
    throw UsageError("--" + o->name + ": " + e.what());
  }
  o->given = true;
}

/// Sets the next positional argument of the command line. Returns true if all arguments after this one belong to it, options
/// included (modifier Rest).
bool OptionTable::set_positional(const std::string& argument) {
  for (auto& o : options_) {
    if (!o.positional || (o.given && !o.list)) continue;
    try {
      o.set(argument);
    } catch (const UsageError& e) {
      throw UsageError(o.name + ": " + e.what());
    }
    o.given = true;
    return o.rest;
  }
  throw UsageError("unexpected argument " + quoted(argument) + "; allowed:" + synopsis());
}

// Parses a command line: named options in any order, positional arguments in theirs, "--" ends the options.
void OptionTable::parse(std::span<const std::string> arguments) {
  bool only_positional = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (!only_positional && a == "--") {
      only_positional = true;
    } else if (!only_positional && a.size() > 1 && a[0] == '-') {  // "-" alone is an argument: standard input or output
      std::size_t used = 0;
      set_named(a, arguments.subspan(i + 1), used);
      i += used;
    } else {
      only_positional = set_positional(a) || only_positional;
    }
  }
  for (const auto& o : options_)
    if (o.required && !o.given) throw UsageError((o.positional ? o.name : "--" + o.name) + " is missing: " + o.help);
  check_uses();
}

// Formats the positional arguments for a usage line, those that may be left out in brackets.
std::string OptionTable::synopsis() const {
  std::string out;
  for (const auto& o : options_) {
    if (!o.positional) continue;
    const std::string name = o.name + (o.list ? "..." : "");
    out += ' ' + (o.required ? name : '[' + name + ']');
  }
  const bool named = std::any_of(options_.begin(), options_.end(), [](const Option& o) { return !o.positional; });
  return out + (named ? " [options]" : "");
}

// Formats the options part of --help: name, kind and initial value to the left, wrapped text to the right.
std::string OptionTable::help() const {
  constexpr std::size_t kColumn = 30;  // at which help texts begin
  constexpr std::size_t kWidth = 110;  // of a line
  std::string out;
  const auto line = [&](const Option& o) {
    std::string left = "  ";
    if (o.positional) {
      left += o.name;
    } else {
      if (o.letter != 0) left += std::string("-") + o.letter + ", ";
      left += "--" + o.name + (o.flag || o.kind.empty() ? "" : ' ' + o.kind);
    }
    if (left.size() + 2 > kColumn) {
      out += left + '\n';
      left.clear();
    }
    left.resize(kColumn, ' ');
    std::string text = o.help + uses_text(o);
    if (!o.initial.empty() && !o.positional) text += " [" + o.initial + ']';
    std::size_t column = kColumn;
    out += left;
    for (const auto word : split_at(text, ' ')) {
      if (column > kColumn && column + word.size() + 1 > kWidth) {
        out += '\n' + std::string(kColumn, ' ');
        column = kColumn;
      }
      if (column > kColumn) out += ' ', ++column;
      out += word;
      column += word.size();
    }
    out += '\n';
  };
  for (const auto& o : options_)
    if (o.positional && !o.hidden) line(o);
  std::vector<std::string> sections;
  for (const auto& o : options_)
    if (!o.positional && !o.hidden && std::find(sections.begin(), sections.end(), o.section) == sections.end())
      sections.push_back(o.section);
  for (const auto& s : sections) {
    if (!out.empty()) out += '\n';
    out += (s.empty() ? "Options" : s) + ":\n";
    for (const auto& o : options_)
      if (!o.positional && !o.hidden && o.section == s) line(o);
  }
  return out;
}

}  // namespace merganser
