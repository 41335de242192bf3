#pragma once
/// Text tables and numbers for people.
#include <string>
#include <vector>

#include "merganser/base/text.hpp"

namespace merganser::app {

/// Columns aligned under their headings: the first to the left, the others to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

[[nodiscard]] std::string percent_text(double share);          ///< 12.34 %
[[nodiscard]] std::string fixed_text(double x, int digits);    ///< 0.125
[[nodiscard]] std::string general_text(double x, int digits);  ///< 8.88178e-16
[[nodiscard]] std::string hex_text(double x);                  ///< 0x1.8p+1

}  // namespace merganser::app
