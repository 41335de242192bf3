#pragma once
/// Command line options: one `describe` function per struct lists its fields with name, help text and checks; parser, `--help` and
/// run record all walk that list, so they cannot differ.
///
///     struct MergeOptions { double min_volume_ratio = 40; };
///     template <class V> void describe(MergeOptions& o, V&& option) {
///       option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest kept volume", positive());
///     }
///     MergeOptions o;
///     OptionTable table(o);
///     table.parse({"--min-volume-ratio", "20"});
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "merganser/base/axis_flags.hpp"
#include "merganser/base/choices.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/base/text.hpp"

namespace merganser {

/// Value of a command line option as the run record stores it; std::monostate: no value, since the input determines it.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<std::string>, std::monostate>;

/// Condition for the use of a command line option, of class UsedWith or NotWith, which parse() checks and --help shows.
struct UseRule {
  bool unless = false;  ///< true: used where none of the conditions holds; false: where at least one holds
  std::vector<std::string> conditions;  ///< "--NAME", "--NAME WORD|WORD" or "without CONDITION", as UsedWith explains
};

/// Error text for an option that a table does not have but that users are likely to type.
struct Advice {
  std::string typed;  ///< option as users type it: "-n"
  std::string text;   ///< "{value}" stands for the argument after it, "{command}" for the table's command
};

/// Access of the program to the files that the value of a command line option names.
enum class FileRole : std::uint8_t { none, reads, writes };

/// Description of one command line option, bound to a field of an option struct. Made by OptionTable.
struct Option {
  std::string name;                ///< name without dashes, "min-volume-ratio"; of a positional argument: "FILE"
  char letter = 0;                 ///< short form, 'o' for -o; 0: none
  std::string kind;                ///< metavariable of the value in --help, "N"; empty for a flag
  std::string help;                ///< text of the option in --help
  std::string section;             ///< heading in --help; empty: "Options"
  std::string initial;             ///< default value as text; empty: none
  std::vector<std::string> words;  ///< words that the value, or each value of a list, may be; empty: not known
  bool flag = false;               ///< takes no value; --no-NAME switches it off
  bool positional = false;         ///< an argument without a dash
  bool list = false;               ///< a positional that takes every remaining positional argument
  bool rest = false;      ///< a positional list that, after its first, takes every remaining argument, options included
  bool required = false;  ///< parse() refuses arguments without it
  bool hidden = false;    ///< not in --help
  bool given = false;     ///< the arguments of parse() contained it
  bool from_input = false;         ///< has no default of its own: the input determines the value
  FileRole role = FileRole::none;  ///< access to the files that the value names
  std::vector<UseRule> uses;       ///< all must hold if the option is given
  std::vector<Advice> advice;      ///< error texts for options that the table does not have
  /// Parses a text and stores it in the field of the option struct. @throws UsageError without the option's name
  std::function<void(const std::string&)> set;
  /// Returns the present value of the field of the option struct.
  std::function<OptionValue()> value;
};

// ---- what may follow the help text of an option ----

/// Range check of a numeric option; of an option with a list of numbers it is applied to each.
struct Check {
  std::string allowed;             ///< range as text, which completes "allowed: ..."
  std::function<bool(double)> ok;  ///< returns true for a value in range
};
/// Makes a range check of an option that accepts finite numbers greater than 0.
[[nodiscard]] Check positive();
/// Makes a range check of an option that accepts finite numbers greater than or equal to `lowest`.
[[nodiscard]] Check at_least(double lowest);
/// Makes a range check of an option that accepts numbers from `lowest` to `highest`, both included.
[[nodiscard]] Check between(double lowest, double highest);
/// Modifier of a command line option: gives it a one-letter form, -o.
struct Letter {
  char letter;  ///< letter of the short form, without the dash
};
/// Modifier of a command line option: replaces the metavariable of its value in --help, which follows from the type otherwise.
struct Kind {
  std::string kind;  ///< metavariable of the option's value, "N"
};
/// Modifier of a command line option: text that --help shows as its default, where the default value stands for another one (0: automatic).
/// Does not change the value.
struct ShownDefault {
  std::string text;  ///< default that --help shows in brackets
};
/// Modifier of a command line option: leaves it out of --help.
struct Hidden {};
/// Modifier of a positional list of a command line: all arguments after its first belong to it, options included.
struct Rest {};
/// Modifier of a command line option: OptionTable::parse() refuses arguments without it.
struct Required {};
/// Modifier of a command line option: the value is the name of a file that is read, or a list of such names. Other values are
/// allowed too, if no file has that name.
struct Reads {};
/// Modifier of a command line option: the value is the name of a file that is written, or a list of such names.
struct Writes {};
/// Modifier: the command line option is used only if one of the conditions holds; parse() refuses it otherwise.
///
/// A condition is "--NAME" (of a positional argument "NAME"): that option is given, its value is neither empty nor "none", and a
/// flag is switched on. Or "--NAME WORD|WORD": the value of that option, given or not, is one of the words; of a list, at least one
/// of its values is; '*' in a word stands for any text. "without CONDITION" negates a condition. Several rules must all hold.
struct UsedWith : UseRule {
  /// Makes the rule that an option is used only if one of these conditions on other options holds.
  UsedWith(std::initializer_list<std::string> any) : UseRule{false, any} {}
};
/// Modifier: the command line option is not used if one of the conditions, written as those of UsedWith, holds; parse() refuses it
/// then.
struct NotWith : UseRule {
  /// Makes the rule that an option is not used if one of these conditions on other options holds.
  NotWith(std::initializer_list<std::string> any) : UseRule{true, any} {}
};
/// Modifier of an option of type std::optional: without the option the input of the program determines the value.
struct FromInput {
  /// Text that --help shows instead of a default: the source of the value, and the value if the input has none.
  std::string text;
};
/// Modifier: adds an error text for a command line option that the table does not have.
struct Instead : Advice {
  /// Makes the advice for an unknown option as users type it; "{value}" and "{command}" are replaced as in Advice::text.
  Instead(std::string typed_option, std::string advice) : Advice{std::move(typed_option), std::move(advice)} {}
};
/// Modifier of a command line option of strings: the allowed values.
struct Words {
  std::vector<std::string> words;  ///< in the order in which --help shows them
};
/// Modifier of a command line option: words that its value, or each value of a list, may be, for completion in shells. The command
/// itself checks the value, and may allow others too.
struct Proposes {
  std::vector<std::string> words;  ///< in the order in which shells propose them
};

/// Formats the value of an option as --help and error messages show it and as parse() reads it: "true", "3", "a,b"; empty for no
/// value.
[[nodiscard]] std::string value_text(const OptionValue& value);
/// Returns the known word that a mistyped word most likely means: the one of least edit distance, if that is small, else the only
/// one that begins with `word`; an empty string if there is none. Leading dashes are ignored.
[[nodiscard]] std::string closest(std::string_view word, std::span<const std::string> known);
/// Formats the rules for the use of an option as --help shows them: " (only with --method hdbscan)"; empty without rules.
[[nodiscard]] std::string uses_text(const Option& o);
/// Splits the value of a list option at its commas; an empty text gives an empty list. @throws UsageError for an empty piece
[[nodiscard]] std::vector<std::string> split_commas(const std::string& text);

namespace detail {
/// Parses the whole value of an option as an integer of 64 bits. @throws UsageError with the text and what is allowed
std::int64_t parse_integer(const std::string& text);
/// Parses the whole value of an option as an integer of 32 bits. @throws UsageError with the text and what is allowed
int parse_int(const std::string& text);
/// Parses the whole value of an option as a finite number. @throws UsageError with the text and what is allowed
double parse_number(const std::string& text);
/// Formats the axes that an option such as --periodic sets: "xy"; "none" for no axis.
std::string axes_text(const AxisFlags& axes);
/// Throws UsageError for a value of an option, with what is allowed instead.
[[noreturn]] void reject(const std::string& text, const std::string& allowed);
/// Applies the range check of an option to a number. @throws UsageError with the text of the value if it is out of range
void apply_check(const Check& check, double x, const std::string& text);

// Three overload sets, with one overload for each type of option: metavariable of the value in --help, parser, value for the run
// record.
constexpr const char* metavariable(const std::string&) { return "TEXT"; }
constexpr const char* metavariable(double) { return "X"; }
constexpr const char* metavariable(std::int64_t) { return "N"; }
constexpr const char* metavariable(int) { return "N"; }
constexpr const char* metavariable(std::uint64_t) { return "N"; }
constexpr const char* metavariable(const std::vector<int>&) { return "N,N,..."; }
constexpr const char* metavariable(const std::vector<std::string>&) { return "A,B,..."; }
constexpr const char* metavariable(const std::array<std::int64_t, 3>&) { return "X,Y,Z"; }
constexpr const char* metavariable(const AxisFlags&) { return "AXES"; }

void parse_value(const std::string& text, std::string& v);
void parse_value(const std::string& text, double& v);
void parse_value(const std::string& text, std::int64_t& v);
void parse_value(const std::string& text, int& v);
void parse_value(const std::string& text, std::uint64_t& v);
void parse_value(const std::string& text, std::vector<int>& v);
void parse_value(const std::string& text, std::vector<std::string>& v);
void parse_value(const std::string& text, std::array<std::int64_t, 3>& v);
void parse_value(const std::string& text, AxisFlags& v);

/// Type trait, true for std::optional alone: the type of options that take their value from the input file if they are not given.
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
constexpr const char* metavariable(const std::optional<T>&) {
  return metavariable(T());
}
template <class T>
void parse_value(const std::string& text, std::optional<T>& v) {
  T value{};
  parse_value(text, value);
  v = std::move(value);
}

/// Converts the field of an option struct to the value that the run record stores.
template <class T>
OptionValue to_option_value(const T& v) {
  if constexpr (is_optional<T>) {
    return v ? to_option_value(*v) : OptionValue(std::monostate());
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    // OptionValue has no unsigned integer: a seed above 2^63 - 1 is recorded as a decimal string.
    if (v > static_cast<std::uint64_t>(INT64_MAX)) return std::to_string(v);
    return static_cast<std::int64_t>(v);
  } else if constexpr (std::is_same_v<T, int>) {
    return std::int64_t{v};
  } else if constexpr (std::is_same_v<T, AxisFlags>) {
    return axes_text(v);
  } else if constexpr (std::is_same_v<T, std::vector<int>> || std::is_same_v<T, std::array<std::int64_t, 3>>) {
    return std::vector<std::int64_t>(v.begin(), v.end());
  } else {
    return v;
  }
}

/// Applies the range check of an option to its value, or to each number of a list. @throws UsageError if one is out of range
template <class T>
void check_all(const Check& check, const T& v, const std::string& text) {
  if constexpr (is_optional<T>) {
    check_all(check, *v, text);
  } else if constexpr (requires { v.begin(); }) {
    for (const auto& x : v) apply_check(check, static_cast<double>(x), text);
  } else {
    apply_check(check, static_cast<double>(v), text);
  }
}
}  // namespace detail

/// Command line parser of one option struct, and of the structs that its describe() describes in turn, bound to an instance.
///
/// Used by one thread; local. It is also the visitor that describe() calls.
class OptionTable : Pinned {
 public:
  /// Binds the parser to an option struct, which must outlive the table. Its present values are the defaults.
  template <class T>
  explicit OptionTable(T& options) {
    describe(options, *this);
  }

  // ---- for describe ----
  /// Begins a section of --help: options that are added after this call are listed under its title.
  void section(std::string title) { section_ = std::move(title); }

  /// Adds an option --NAME that is bound to `v`.
  /// @param extra  modifiers: Check, Letter, Kind, ShownDefault, Hidden, Required, Reads, Writes, UsedWith, NotWith, FromInput, Instead,
  /// Words, Proposes
  template <class T, class... Extra>
  void operator()(std::string name, T& v, std::string help, Extra&&... extra) {
    Option& o = add(std::move(name), v, std::move(help));
    (apply(o, &v, std::forward<Extra>(extra)), ...);
    set_initial(o);
  }
  /// Adds an option --NAME of an enumeration, whose values are given by the names in `choices`.
  /// @param extra  modifiers: Letter, Kind, ShownDefault, Hidden, Required, UsedWith, NotWith, Instead
  template <class E, class... Extra>
  requires std::is_enum_v<E>
  void operator()(std::string name, E& v, std::string help, Choices<E> choices, Extra&&... extra) {
    Option& o = add_enum(std::move(name), v, std::move(help), std::move(choices));
    (apply(o, &v, std::forward<Extra>(extra)), ...);
    set_initial(o);
  }
  /// Adds a positional argument; one of type vector of strings takes all positional arguments that remain.
  /// @param extra  modifiers, as those of an option, and Rest
  template <class T, class... Extra>
  void positional(std::string name, T& v, std::string help, Extra&&... extra) {
    Option& o = add(std::move(name), v, std::move(help));
    o.positional = true;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      o.list = true;
      o.set = [&v, fresh = true](const std::string& text) mutable {
        if (fresh) v.clear();
        fresh = false;
        v.push_back(text);
      };
    }
    (apply(o, &v, std::forward<Extra>(extra)), ...);
    set_initial(o);
  }

  /// Adds a modifier (UsedWith, NotWith, Instead, Hidden and others without a type) to options that were added before, by name.
  /// Names that the table does not have are ignored.
  template <class Rule>
  void restrict(std::initializer_list<std::string_view> names, const Rule& rule) {
    for (const auto name : names)
      for (Option& o : options_)
        if (o.name == name) apply(o, nullptr, rule);
  }

  // ---- for programs ----
  /// Sets the name of the command, as "topo bench", which replaces "{command}" in error messages.
  void set_command(std::string name) { command_ = std::move(name); }
  /// Sets the options from arguments: --name value, --name=value, -x value, --flag, --no-flag, positional; after "--" all arguments
  /// are positional. An option may be given once, a list too. A value that is refused leaves the one before.
  /// @throws UsageError, naming the option, the value and what is allowed, for an unknown option, a bad value, an option given
  /// twice, a missing required one, and one that its rules say is not used with the others
  void parse(std::span<const std::string> arguments);
  /// Returns the descriptions of all options of the struct, in the order in which describe() names them.
  [[nodiscard]] const std::vector<Option>& options() const noexcept { return options_; }
  /// Returns true if the arguments of parse() contained the option; false for a name that the table does not have.
  [[nodiscard]] bool is_given(std::string_view name) const;
  /// Formats the options for --help: positional arguments, then the sections, in lines of at most 110 columns.
  [[nodiscard]] std::string help() const;
  /// Formats the arguments of a usage line, which follow the name of the command: " IN [FILE...] [options]".
  [[nodiscard]] std::string synopsis() const;

 private:
  /// Adds an option that is bound to a field, with the parser and the metavariable of the field's type.
  template <class T>
  Option& add(std::string name, T& v, std::string help) {
    Option o = make_option(std::move(name), std::move(help));
    if constexpr (std::is_same_v<T, bool>) {
      o.flag = true;
      o.set = [&v](const std::string& text) { v = text == "true"; };
      o.value = [&v]() -> OptionValue { return v; };
    } else {
      o.kind = detail::metavariable(v);
      o.set = [&v](const std::string& text) { detail::parse_value(text, v); };
      o.value = [&v] { return detail::to_option_value(v); };
    }
    return options_.emplace_back(std::move(o));
  }
  /// Adds an option that is bound to a field of an enumeration, whose values are given by name.
  template <class E>
  Option& add_enum(std::string name, E& v, std::string help, Choices<E> choices) {
    Option o = make_option(std::move(name), std::move(help));
    for (const auto& choice : choices.words) o.words.emplace_back(choice.first);
    o.kind = joined(o.words, "|");
    o.set = [&v, all = o.kind, words = choices.words](const std::string& text) {
      for (const auto& [word, e] : words)
        if (word == text) {
          v = e;
          return;
        }
      detail::reject(text, all);
    };
    o.value = [&v, choices]() -> OptionValue { return choices.name(v); };
    return options_.emplace_back(std::move(o));
  }
  // One overload for each modifier. Those that change `set` wrap the function there, so modifiers are applied in the order given.
  template <class T>
  static void apply(Option& o, T* v, Check check) {
    o.set = [set = std::move(o.set), check = std::move(check), v](const std::string& text) {
      const T before = *v;
      set(text);
      try {
        detail::check_all(check, *v, text);
      } catch (...) {
        *v = before;
        throw;
      }
    };
  }
  static void apply(Option& o, const void*, Letter letter) { o.letter = letter.letter; }
  static void apply(Option& o, const void*, Kind kind) { o.kind = std::move(kind.kind); }
  static void apply(Option& o, const void*, ShownDefault initial) { o.initial = std::move(initial.text); }
  static void apply(Option& o, const void*, Hidden) { o.hidden = true; }
  static void apply(Option& o, const void*, Rest) { o.rest = true; }
  static void apply(Option& o, const void*, Proposes known) { o.words = std::move(known.words); }
  static void apply(Option& o, const void*, Required) { o.required = true; }
  static void apply(Option& o, const void*, Reads) { o.role = FileRole::reads; }
  static void apply(Option& o, const void*, Writes) { o.role = FileRole::writes; }
  static void apply(Option& o, const void*, UsedWith rule) { o.uses.push_back(std::move(rule)); }
  static void apply(Option& o, const void*, NotWith rule) { o.uses.push_back(std::move(rule)); }
  static void apply(Option& o, const void*, Instead advice) { o.advice.push_back(std::move(advice)); }
  template <class T>
  static void apply(Option& o, const std::optional<T>*, FromInput from) {
    o.initial = std::move(from.text);
    o.from_input = true;
  }
  static void apply(Option& o, const std::string*, Words words);
  static void apply(Option& o, const std::vector<std::string>*, Words words);
  /// Makes the description of an option in the present section of --help.
  [[nodiscard]] Option make_option(std::string name, std::string help) const;
  /// Sets the default that --help shows for an option from its present value, unless a modifier has set one.
  void set_initial(Option& o);
  /// Returns the command line option --NAME of the table; null if there is none.
  Option* find(const std::string& name);
  void set_named(const std::string& argument, std::span<const std::string> rest, std::size_t& used);
  bool set_positional(const std::string& argument);
  /// Refuses a second value of an option. @throws UsageError if the arguments contained the option before
  void check_once(const Option& o, const std::string& value) const;
  /// Checks the rules UsedWith and NotWith of all options that were given. @throws UsageError if one is not met
  void check_uses() const;
  /// Returns whether a condition of UsedWith or NotWith holds for the present values of the options.
  [[nodiscard]] bool is_met(const std::string& condition) const;
  [[noreturn]] void throw_unknown(const std::string& argument, std::span<const std::string> rest) const;

  std::vector<Option> options_;  // in the order in which describe() names them
  std::string section_;          // heading of --help for options that are added now
  std::string command_;          // name of the command, for error messages
};

}  // namespace merganser
