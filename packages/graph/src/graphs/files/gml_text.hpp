#pragma once
/// References to characters in the texts of GML files.
#include <charconv>
#include <string>
#include <string_view>

namespace merganser::graphs::detail {

/// Appends a character to a text in UTF-8. @return false for numbers that are no character
inline bool append_utf8(std::string& out, std::uint32_t code) {
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xc0U | code >> 6U);
    add(0x80U | (code & 63U));
  } else if (code < 0x10000) {
    add(0xe0U | code >> 12U);
    add(0x80U | (code >> 6U & 63U));
    add(0x80U | (code & 63U));
  } else {
    add(0xf0U | code >> 18U);
    add(0x80U | (code >> 12U & 63U));
    add(0x80U | (code >> 6U & 63U));
    add(0x80U | (code & 63U));
  }
  return true;
}

/// Decodes a reference "&NAME;" without & and ;, and appends its character. @return false if it is none that is known
inline bool append_reference(std::string& out, std::string_view name) {
  if (name.starts_with('#')) {
    const bool hex = name.starts_with("#x") || name.starts_with("#X");
    const std::string_view digits = name.substr(hex ? 2 : 1);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hex ? 16 : 10);
    return error == std::errc() && end == digits.data() + digits.size() && append_utf8(out, code);
  }
  constexpr std::string_view kNames[][2] = {{"quot", "\""}, {"amp", "&"}, {"lt", "<"}, {"gt", ">"}, {"apos", "'"}};
  for (const auto& [known, character] : kNames) {
    if (name != known) continue;
    out += character;
    return true;
  }
  return false;
}

/// Decodes the references to characters in a text of a GML file. A & that begins none, as old writers leave it, stays.
/// @return the first reference that is not known; empty: none
inline std::string decode_gml(std::string_view text, std::string& out) {
  constexpr std::size_t kLongest = 12;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = text[at] == '&' ? text.find(';', at) : std::string_view::npos;
    if (end == std::string_view::npos || end - at > kLongest ||
        text.substr(at, end - at).find(' ') != std::string_view::npos) {
      out += text[at];
      continue;
    }
    if (!append_reference(out, text.substr(at + 1, end - at - 1))) return std::string(text.substr(at, end - at + 1));
    at = end;
  }
  return {};
}

}  // namespace merganser::graphs::detail
