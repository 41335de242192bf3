#pragma once
/// Text tables and formatted numbers for reports on a terminal.
#include <string>
#include <vector>

#include "merganser/base/text.hpp"

namespace merganser::app {

/// Table of text with columns aligned under their headings: the first to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  /// Appends a row of entries to the text table, one per column.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Formats the table as lines of text, indented by two blanks.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Formats a share (0 to 1) as a percentage with two decimals: "12.34 %".
[[nodiscard]] std::string percent_text(double share);
/// Formats a number for reports with `digits` decimals: "0.125".
[[nodiscard]] std::string fixed_text(double x, int digits);
/// Formats a number with `digits` significant digits, with an exponent where that is shorter: "8.88178e-16".
[[nodiscard]] std::string general_text(double x, int digits);
/// Formats all bits of a double in hexadecimal, for reports of exact values: "0x1.8p+1".
[[nodiscard]] std::string hex_text(double x);

}  // namespace merganser::app
