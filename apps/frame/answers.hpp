#pragma once
/// Values that an option or the input can give: which of the two did, as it is printed and stands in the record.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/frame/json.hpp"
#include "merganser/base/options.hpp"

namespace merganser::app {

/// What the input gives where the option is not given. The option wins where both say something, with a warning where they
/// differ. Local.
class Answers {
 public:
  /// @param input  the name of the file
  explicit Answers(std::string input) : input_(std::move(input)) {}

  /// The value that counts, and a note of it.
  /// @param option  name without dashes
  /// @param rule    why `otherwise` is the value where neither says it: "EPIC's files are periodic in x and y"
  template <class T>
  T take(const std::string& option, const std::optional<T>& given, const std::optional<T>& in_file, const T& otherwise,
         const std::string& rule) {
    const T value = given ? *given : in_file ? *in_file : otherwise;
    note(option, merganser::detail::value_of(value),
         in_file ? merganser::detail::value_of(*in_file) : OptionValue(std::monostate()), given.has_value(), rule);
    return value;
  }
  /// Notes which value counts; a later note of the same option replaces the one before.
  /// @param in_file  std::monostate: the file does not say
  void note(const std::string& option, const OptionValue& value, const OptionValue& in_file, bool given,
            const std::string& rule);
  [[nodiscard]] bool knows(const std::string& option) const { return sources_.contains(option); }
  /// "periodic xyz (from in.nc)" of one option.
  [[nodiscard]] std::string text(const std::string& option) const;
  /// Lists all values and where each comes from, in the order of their first notes: "periodic xyz (from in.nc), min-volume-ratio 20 (--min-volume-ratio)".
  [[nodiscard]] std::string text() const;
  /// Lists all values, grouped by where they come from: "alpha 0.2, rk-order 4 (from in.nc); damping 0 (--damping)".
  [[nodiscard]] std::string grouped_text() const;
  /// A line for each value of an option that overrides another one of the input.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Sets record["options"] to the values that count, and record["sources"] to where they come from.
  void put(Json& record) const;

 private:
  struct Source {
    OptionValue value, in_file;
    bool given;
    std::string text;
  };
  std::string input_;
  std::vector<std::string> order_;
  std::map<std::string, Source> sources_;
};

}  // namespace merganser::app
