#pragma once
/// Formatting of numbers with units for reports, and splitting and joining of strings.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Formats an integer with commas between groups of three digits: 374,900.
[[nodiscard]] std::string count_text(std::int64_t n);
/// Formats a time in seconds with three significant digits and the unit ns, us, ms or s: 12.3 ms.
[[nodiscard]] std::string seconds_text(double s);
/// Formats a number of bytes with three significant digits and a binary unit: 28.6 MiB.
[[nodiscard]] std::string bytes_text(double bytes);
/// Formats a word of 64 bits, such as half of a digest, as 16 hexadecimal digits: 00c0ffee00c0ffee.
[[nodiscard]] std::string hex16_text(std::uint64_t word);

/// Splits a text at every separator. Empty pieces are kept, so an empty text gives one. The pieces refer to `text`.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);
/// Returns the text without leading and trailing characters that are in `blank`. Refers to `text`.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blank = " \t");

/// Joins items to one string with `between` them: "a, b". `text` is a function or a pointer to a member that converts an item to
/// text.
template <class Items, class Text = std::identity>
[[nodiscard]] std::string joined(const Items& items, std::string_view between = ", ", Text text = {}) {
  std::string out;
  std::string_view before;
  for (const auto& item : items) {
    out += before;
    out += std::invoke(text, item);
    before = between;
  }
  return out;
}

/// Formats a double as the shortest decimal text that parses to the same bits.
[[nodiscard]] std::string number_text(double x);

}  // namespace merganser
