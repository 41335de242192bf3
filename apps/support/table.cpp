#include "support/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace merganser::app {
namespace {

std::string format(const char* how, int digits, double x) {
  char buffer[400];
  const int n = std::snprintf(buffer, sizeof buffer, how, digits, x);
  return {buffer, static_cast<std::size_t>(std::clamp(n, 0, static_cast<int>(sizeof buffer) - 1))};
}

/// Three significant digits and a unit.
std::string scaled(double x, const char* unit) {
  const double a = std::fabs(x);
  return format("%.*f", a < 9.995 ? 2 : (a < 99.95 ? 1 : 0), x) + ' ' + unit;
}

}  // namespace

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

std::string count_text(std::int64_t n) {
  std::string digits = std::to_string(n);
  const std::size_t first = n < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string seconds_text(double s) {
  if (s == 0) return "0";
  if (std::fabs(s) < 0.9995e-6) return scaled(s * 1e9, "ns");
  if (std::fabs(s) < 0.9995e-3) return scaled(s * 1e6, "us");
  if (std::fabs(s) < 0.9995) return scaled(s * 1e3, "ms");
  return scaled(s, "s");
}

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? format("%.*f", 0, bytes) + " B" : scaled(bytes, kUnits[unit]);
}

std::string percent_text(double share) { return format("%.*f", 2, 100 * share) + " %"; }
std::string fixed_text(double x, int digits) { return format("%.*f", digits, x); }
std::string general_text(double x, int digits) { return format("%.*g", digits, x); }
std::string hex_text(double x) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%a", x);
  return buffer;
}

}  // namespace merganser::app
