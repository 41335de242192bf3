#pragma once
/// Resolution of values that both an option and the input file may give, with the source of each value for the report and the
/// run record. Local to each rank.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/frame/json.hpp"
#include "merganser/base/options.hpp"

namespace merganser::app {

/// Table of resolved option values and their sources. A given option takes precedence over the input file, with a warning if the
/// two differ. Local.
class Answers {
 public:
  /// Makes an empty table of resolved option values. @param input  name of the input file, for messages
  explicit Answers(std::string input) : input_(std::move(input)) {}

  /// Resolves the value of an option: returns the given value, else that of the input file, else `otherwise`, and
  /// records its source.
  /// @param option  name without dashes
  /// @param rule    reason for `otherwise`, for the report: "EPIC's files are periodic in x and y"
  template <class T>
  T resolve(const std::string& option, const std::optional<T>& given, const std::optional<T>& in_file,
            const T& otherwise, const std::string& rule) {
    const T value = given ? *given : in_file ? *in_file : otherwise;
    note(option, merganser::detail::to_option_value(value),
         in_file ? merganser::detail::to_option_value(*in_file) : OptionValue(std::monostate()), given.has_value(),
         rule);
    return value;
  }
  /// Records the resolved value of an option and its source; a later call for the same option replaces the earlier one.
  /// @param in_file  value in the file; std::monostate: it has none
  void note(const std::string& option, const OptionValue& value, const OptionValue& in_file, bool given,
            const std::string& rule);
  /// Returns true if a resolved value of this option has been recorded.
  [[nodiscard]] bool has(const std::string& option) const { return sources_.contains(option); }
  /// Formats one option with its resolved value and source: "periodic xyz (from in.nc)". @throws std::out_of_range if it is not
  /// recorded
  [[nodiscard]] std::string to_string(const std::string& option) const;
  /// Lists all resolved option values with their sources, in the order in which they were first recorded:
  /// "periodic xyz (from in.nc), min-volume-ratio 20 (--min-volume-ratio)".
  [[nodiscard]] std::string to_string() const;
  /// Lists all resolved option values, grouped by their source: "alpha 0.2, rk-order 4 (from in.nc); damping 0 (--damping)".
  [[nodiscard]] std::string to_grouped_string() const;
  /// Returns one line of text for each option whose value differs from that of the input file, which it overrides.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Writes the resolved option values to the run record's "options" and their sources to its "sources".
  void add_to(Json& record) const;

 private:
  /// Resolved value of an option, the value in the input file, and the source as text.
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
