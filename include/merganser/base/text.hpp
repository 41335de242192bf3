#pragma once
/// Numbers and lists as texts.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

[[nodiscard]] std::string count_text(std::int64_t n);      ///< a count: 374,900
[[nodiscard]] std::string seconds_text(double s);          ///< a time: 12.3 ms
[[nodiscard]] std::string bytes_text(double bytes);        ///< an amount of memory: 28.6 MiB
[[nodiscard]] std::string hex16_text(std::uint64_t word);  ///< 16 digits: 00c0ffee00c0ffee

/// The pieces between separators, empty ones too; an empty text is one. They are parts of `text`.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);
/// The text without the characters `blank` at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text, std::string_view blank = " \t");

/// The items with `between` them, each as `text` (a function, or a member) gives it: "a, b".
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

/// Shortest decimal text that reads back as the same double.
[[nodiscard]] std::string number_text(double x);

}  // namespace merganser
