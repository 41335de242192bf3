// Text tables with aligned columns, and formatted numbers for reports.
#include "apps/frame/table.hpp"

#include <algorithm>
#include <cstdio>

namespace merganser::app {
namespace {

/// Formats a number by a printf format with a variable number of digits.
std::string format_number(const char* how, int digits, double x) {
  char buffer[400];
  const int n = std::snprintf(buffer, sizeof buffer, how, digits, x);
  return {buffer, static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof buffer) - 1))};
}

}  // namespace

// Layout of a table: columns as wide as their widest entry.
std::string Table::text() const {
  std::vector<std::size_t> width;
  for (const auto& r : rows_)
    for (std::size_t c = 0; c < r.size(); ++c) {
      if (c == width.size()) width.push_back(0);
      width[c] = std::max(width[c], r[c].size());
    }
  std::string out;
  for (const auto& r : rows_) {
    std::string line = "  ";
    for (std::size_t c = 0; c < r.size(); ++c) {
      const std::string pad(width[c] - r[c].size(), ' ');
      line += c == 0 ? r[c] + pad : "   " + pad + r[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string percent_text(double share) { return format_number("%.*f", 2, 100 * share) + " %"; }
std::string fixed_text(double x, int digits) { return format_number("%.*f", digits, x); }
std::string general_text(double x, int digits) { return format_number("%.*g", digits, x); }
std::string hex_text(double x) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%a", x);
  return buffer;
}

}  // namespace merganser::app
