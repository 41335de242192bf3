// Formats of counts, times and bytes in reports, and splitting of strings.
#include "merganser/base/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace merganser {
namespace {

/// Formats a time or a number of bytes with three significant digits and its unit.
std::string scaled(double x, const char* unit) {
  const double a = std::fabs(x);
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, "%.*f %s", a < 9.995 ? 2 : (a < 99.95 ? 1 : 0), x, unit);
  return buffer;
}

}  // namespace

// Formats an integer with commas between groups of three digits.
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

// Formats a number of bytes with three significant digits and a binary unit, B to EiB.
std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1023.5 && unit < 6) {
    bytes /= 1024;
    ++unit;
  }
  if (unit > 0) return bytes < 1e6 ? scaled(bytes, kUnits[unit]) : "over a million EiB";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.0f B", bytes);
  return buffer;
}

std::string hex16_text(std::uint64_t word) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += "0123456789abcdef"[word >> shift & 15U];
  return out;
}

// Splits a text at every separator, empty pieces included.
std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    pieces.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return pieces;
}

std::string_view trimmed(std::string_view text, std::string_view blank) {
  const std::size_t from = text.find_first_not_of(blank);
  return from == std::string_view::npos ? "" : text.substr(from, text.find_last_not_of(blank) + 1 - from);
}

}  // namespace merganser
