#pragma once
/// Decoding of UTF-8 that validates its input, since names of files may be any bytes, and encoding.
#include <cstddef>
#include <string>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser {

/// Character of a UTF-8 text as first_character() decodes it.
struct Utf8Character {
  char32_t code = 0;      ///< Unicode code point
  std::size_t bytes = 0;  ///< length of its encoding, 1 to 4; 0: the bytes are not valid UTF-8
};

/// Decodes the first character of a text, which must not be empty. Overlong forms, surrogates and code points beyond U+10FFFF are
/// invalid.
[[nodiscard]] Utf8Character first_character(std::string_view text);

/// Appends a character to a UTF-8 text. @param code  Unicode code point, at most U+10FFFF and no surrogate
void append_character(char32_t code, std::string& to);

}  // namespace merganser
