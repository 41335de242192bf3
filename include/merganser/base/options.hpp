#pragma once
/// Options: one `describe` function per struct lists its fields; flags, `--help` and the run record all walk that list.
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

/// Value of an option as the run record keeps it; std::monostate: none, where the input gives it.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<std::int64_t>,
                                 std::vector<double>, std::vector<std::string>, std::monostate>;

/// When an option is used: UsedWith or NotWith, as parse() checks it and --help shows it.
struct UseRule {
  bool unless = false;                  ///< true: used where none of the conditions holds; false: where one does
  std::vector<std::string> conditions;  ///< as of UsedWith
};

/// What is said where somebody types an option that a table does not have.
struct Advice {
  std::string typed;  ///< "-n"
  std::string text;   ///< "{value}" stands for the argument after it, "{command}" for the table's command
};

/// What a program does with the files that an option names.
enum class FileRole : std::uint8_t { none, reads, writes };

/// One field of an option struct. Made by OptionTable.
struct Option {
  std::string name;  ///< "min-volume-ratio"; of a positional argument: "FILE"
  char letter = 0;   ///< short form, 'o' for -o
  std::string kind;  ///< what stands for the value in --help; empty for a flag
  std::string help;
  std::string section;
  std::string initial;  ///< default as text; empty: none
  bool flag = false;    ///< takes no value; --no-NAME switches it off
  bool positional = false;
  bool list = false;  ///< a positional that takes every remaining positional argument
  bool rest = false;  ///< and, after its first, every remaining argument
  bool required = false;
  bool hidden = false;      ///< not in --help
  bool given = false;       ///< set by parse()
  bool from_input = false;  ///< has no default of its own: the input gives the value
  FileRole role = FileRole::none;
  std::vector<UseRule> uses;                    ///< all must hold where the option is given
  std::vector<Advice> advice;                   ///< for options that the table does not have
  std::function<void(const std::string&)> set;  ///< @throws UsageError without the option's name
  std::function<OptionValue()> value;
};

// ---- what may follow the help text of an option ----

/// Restriction of a number; `allowed` completes "allowed: ...".
struct Check {
  std::string allowed;
  std::function<bool(double)> ok;
};
/// Numbers above 0.
[[nodiscard]] Check positive();
/// Numbers from `lowest` on.
[[nodiscard]] Check at_least(double lowest);
/// Numbers from `lowest` to `highest`, both included.
[[nodiscard]] Check between(double lowest, double highest);
/// One-letter form: -o.
struct Letter {
  char letter;
};
/// Placeholder in --help instead of that of the type.
struct Kind {
  std::string kind;
};
/// What --help shows as default instead of the value, for values that stand for something else.
struct Initial {
  std::string text;
};
/// The option is not in --help.
struct Hidden {};
/// Of a positional list: what follows its first argument belongs to it too, options included.
struct Rest {};
/// The option must be given.
struct Required {};
/// The value names a file (or is a list of them) that is read. Values may be something else too, as long as no file has
/// that name.
struct Reads {};
/// The same of files that are written.
struct Writes {};
/// The option is used only where one of the conditions holds; parse() refuses it elsewhere. A condition is "--NAME" (of a
/// positional argument: "NAME"): given, not empty, and switched on if it is a flag. Or "--NAME WORD|WORD": its value, given
/// or not, is one of the words, of a list one of its values is; '*' stands for any text. "without CONDITION" turns one round. A
/// value "none" counts as not given. Several rules must all hold.
struct UsedWith : UseRule {
  /// Makes the rule of these conditions, of which one must hold.
  UsedWith(std::initializer_list<std::string> any) : UseRule{false, any} {}
};
/// The option is not used where one of the conditions holds; parse() refuses it there.
struct NotWith : UseRule {
  /// Makes the rule of these conditions, of which none may hold.
  NotWith(std::initializer_list<std::string> any) : UseRule{true, any} {}
};
/// The input of the program may give the value, so the option has no default: its type is std::optional. --help shows
/// `text` in the place of the default: where the value comes from, and what holds where the input does not say.
struct FromInput {
  std::string text;
};
/// What to say where somebody types `typed`, which is no option here.
struct Instead : Advice {
  /// Makes the advice for what is typed; "{value}" and "{command}" are replaced as in Advice::text.
  Instead(std::string typed_option, std::string advice) : Advice{std::move(typed_option), std::move(advice)} {}
};
/// The words a string option may be.
struct Words {
  std::vector<std::string> words;
};

/// A value as --help and messages show it.
[[nodiscard]] std::string value_text(const OptionValue& value);
/// The known word that `word` is a slip of the hand for: the closest one if it is close, else the only one that begins with
/// `word`; empty if there is none. Dashes in front do not count.
[[nodiscard]] std::string closest(std::string_view word, std::span<const std::string> known);
/// When an option is used, as --help says it: " (only with --method hdbscan)"; empty where no rule is.
[[nodiscard]] std::string uses_text(const Option& o);
/// Pieces between commas. An empty text has none. @throws UsageError for an empty piece
[[nodiscard]] std::vector<std::string> split_commas(const std::string& text);

namespace detail {
std::int64_t parse_integer(const std::string& text);
int parse_int(const std::string& text);
double parse_number(const std::string& text);
std::string axes_text(const AxisFlags& axes);
[[noreturn]] void reject(const std::string& text, const std::string& allowed);
void apply_check(const Check& check, double x, const std::string& text);

// What stands for a value of a type in --help, how it is read, and how the record keeps it.
constexpr const char* kind_of(const std::string&) { return "TEXT"; }
constexpr const char* kind_of(double) { return "X"; }
constexpr const char* kind_of(std::int64_t) { return "N"; }
constexpr const char* kind_of(int) { return "N"; }
constexpr const char* kind_of(std::uint64_t) { return "N"; }
constexpr const char* kind_of(const std::vector<int>&) { return "N,N,..."; }
constexpr const char* kind_of(const std::vector<std::string>&) { return "A,B,..."; }
constexpr const char* kind_of(const std::array<std::int64_t, 3>&) { return "X,Y,Z"; }
constexpr const char* kind_of(const AxisFlags&) { return "AXES"; }

void read(const std::string& text, std::string& v);
void read(const std::string& text, double& v);
void read(const std::string& text, std::int64_t& v);
void read(const std::string& text, int& v);
void read(const std::string& text, std::uint64_t& v);
void read(const std::string& text, std::vector<int>& v);
void read(const std::string& text, std::vector<std::string>& v);
void read(const std::string& text, std::array<std::int64_t, 3>& v);
void read(const std::string& text, AxisFlags& v);

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
constexpr const char* kind_of(const std::optional<T>&) {
  return kind_of(T());
}
template <class T>
void read(const std::string& text, std::optional<T>& v) {
  T value{};
  read(text, value);
  v = std::move(value);
}

template <class T>
OptionValue value_of(const T& v) {
  if constexpr (is_optional<T>) {
    return v ? value_of(*v) : OptionValue(std::monostate());
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
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

/// The options of one struct (and the structs it describes in turn), bound to an instance.
class OptionTable : Pinned {
 public:
  /// Binds to `options`, which must outlive the table. Its present values are the defaults.
  template <class T>
  explicit OptionTable(T& options) {
    describe(options, *this);
  }

  // ---- for describe ----
  /// Options after this stand under a heading in --help.
  void section(std::string title) { section_ = std::move(title); }

  template <class T, class... Extra>
  void operator()(std::string name, T& v, std::string help, Extra&&... extra) {
    Option& o = add(std::move(name), v, std::move(help));
    (apply(o, &v, std::forward<Extra>(extra)), ...);
    finish(o);
  }
  template <class E, class... Extra>
  requires std::is_enum_v<E>
  void operator()(std::string name, E& v, std::string help, Choices<E> choices, Extra&&... extra) {
    Option& o = add_enum(std::move(name), v, std::move(help), std::move(choices));
    (apply(o, &v, std::forward<Extra>(extra)), ...);
    finish(o);
  }
  /// An argument without a dash. A vector of strings takes all that remain.
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
    finish(o);
  }

  /// Rules and advice for options that another struct describes.
  template <class Rule>
  void restrict(std::initializer_list<std::string_view> names, const Rule& rule) {
    for (const auto name : names)
      for (Option& o : options_)
        if (o.name == name) apply(o, nullptr, rule);
  }

  // ---- for programs ----
  /// Tells messages which command the options belong to, as "topo bench".
  void set_command(std::string name) { command_ = std::move(name); }
  /// Sets the options from arguments: --name value, --name=value, -x value, --flag, --no-flag, positional; after "--"
  /// everything is positional. An option may be given once, a list too. Options that a rule says are not used here are
  /// refused. @throws UsageError naming the option, the value and what is allowed
  void parse(std::span<const std::string> arguments);
  /// All options, in the order in which describe() names them.
  [[nodiscard]] const std::vector<Option>& options() const noexcept { return options_; }
  /// True if parse() saw the option.
  [[nodiscard]] bool given(std::string_view name) const;
  /// Part of a --help text: positional arguments, then the sections.
  [[nodiscard]] std::string help() const;
  /// What follows the name of a command in its usage: " IN [FILE...] [options]".
  [[nodiscard]] std::string synopsis() const;

 private:
  template <class T>
  Option& add(std::string name, T& v, std::string help) {
    Option o = named(std::move(name), std::move(help));
    if constexpr (std::is_same_v<T, bool>) {
      o.flag = true;
      o.set = [&v](const std::string& text) { v = text == "true"; };
      o.value = [&v]() -> OptionValue { return v; };
    } else {
      o.kind = detail::kind_of(v);
      o.set = [&v](const std::string& text) { detail::read(text, v); };
      o.value = [&v] { return detail::value_of(v); };
    }
    return options_.emplace_back(std::move(o));
  }
  template <class E>
  Option& add_enum(std::string name, E& v, std::string help, Choices<E> choices) {
    Option o = named(std::move(name), std::move(help));
    o.kind = joined(choices.words, "|", [](const auto& choice) { return choice.first; });
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
  static void apply(Option& o, const void*, Initial initial) { o.initial = std::move(initial.text); }
  static void apply(Option& o, const void*, Hidden) { o.hidden = true; }
  static void apply(Option& o, const void*, Rest) { o.rest = true; }
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
  [[nodiscard]] Option named(std::string name, std::string help) const;
  void finish(Option& o);
  Option* find(const std::string& name);
  void set_named(const std::string& argument, std::span<const std::string> rest, std::size_t& used);
  bool set_positional(const std::string& argument);
  void check_once(const Option& o, const std::string& value) const;
  void check_uses() const;
  [[nodiscard]] bool holds(const std::string& condition) const;
  [[noreturn]] void unknown(const std::string& argument, std::span<const std::string> rest) const;

  std::vector<Option> options_;
  std::string section_;
  std::string command_;
};

}  // namespace merganser
