#pragma once
/// Text as UTF-8, where it may be none: names of files are any bytes.
#include <cstddef>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser {

/// One character of a text.
struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: what is there is no UTF-8
};

/// The character that a text, not empty, begins with. Overlong forms, halves of pairs and what is beyond U+10FFFF are none.
[[nodiscard]] Utf8Character first_character(std::string_view text);

}  // namespace merganser
