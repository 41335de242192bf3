// Validating decoder of UTF-8, one character at a time.
#include "merganser/base/utf8.hpp"

namespace merganser {

// Decodes the first character of a UTF-8 text; invalid bytes have length 0.
Utf8Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  // 0xc0 and 0xc1 begin overlong forms of ASCII, bytes above 0xf4 code points beyond U+10FFFF.
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  char32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {code, bytes};
}

// Encodes a character in one to four bytes.
void append_character(char32_t code, std::string& to) {
  const auto add = [&](char32_t bits) { to += static_cast<char>(bits); };
  const auto more = [&](int shift) { add(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
    return more(0);
  }
  if (code < 0x10000) {
    add(0xe0 | code >> 12);
  } else {
    add(0xf0 | code >> 18);
    more(12);
  }
  more(6);
  more(0);
}

}  // namespace merganser
