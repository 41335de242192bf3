// Headers of NumPy's array files (.npy): parsing of the Python dictionary in them, and writing.
#include "apps/frame/npy.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"

namespace merganser::app {
namespace {

/// Returns the rest of the header of a .npy file from the value of 'key' on. @throws InputError if the key is missing
std::string_view header_value(const std::string& file, std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "'");
  const auto colon = at == std::string_view::npos ? at : header.find(':', at);
  const auto begin = colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos)
    throw InputError(file + ": no " + std::string(key) + " in the header; allowed: .npy as NumPy writes it");
  return header.substr(begin);
}

/// Returns the part of a .npy header's text up to and including the next `end` after its first character; all of it if there is
/// none.
std::string_view prefix_through(std::string_view text, char end) {
  return text.substr(0, text.size() < 2 ? text.size() : std::min(text.find(end, 1), text.size() - 1) + 1);
}

/// Parses the shape of a .npy header, a tuple of lengths: "(3, 2)", "(3,)", or "(3L, 2L)" as Python 2 wrote it; returns none for
/// any other text.
std::vector<std::uint64_t> parse_lengths(std::string_view text) {
  if (!text.starts_with('(') || !text.ends_with(')')) return {};
  std::vector<std::uint64_t> lengths;
  WordsBetween<','> items(text.substr(1, text.size() - 2));
  for (auto item = items.next(); !item.empty(); item = items.next()) {
    BlankWords words(item);
    auto word = words.next();
    if (word.ends_with('L')) word.remove_suffix(1);
    if (!parse_id(word, lengths.emplace_back()) || !words.rest().empty()) return {};
  }
  return lengths;
}

}  // namespace

// Header of an array file: magic, version, length, then a Python dictionary as text.
NpyHead parse_npy_head(const std::string& file, std::string_view begin) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(begin[i])); };
  if (begin.size() < 12 || !begin.starts_with(kNpyMagic) || byte(6) < 1 || byte(6) > 3)
    throw InputError(file + ": not .npy of version 1 to 3; allowed: those");
  // The length of the header takes two bytes in version 1 and four in later ones, the lowest first.
  const std::uint64_t prefix = byte(6) == 1 ? 10 : 12;
  NpyHead head;
  head.data = prefix + byte(8) + (byte(9) << 8U) + (prefix == 12 ? (byte(10) << 16U) + (byte(11) << 24U) : 0);
  if (head.data > begin.size())
    throw InputError(fmt::format("{}: a header of {} bytes; allowed: up to 65,536, within the file", file, head.data));
  const auto header = begin.substr(prefix, head.data - prefix);
  const auto type = header_value(file, header, "descr");
  head.type = prefix_through(type, type.starts_with('[') ? ']' : '\'');
  const auto order = header_value(file, header, "fortran_order");
  head.fortran_order = order.starts_with("True");
  if (!head.fortran_order && !order.starts_with("False"))
    throw InputError(file + ": fortran_order \"" + std::string(order.substr(0, 20)) +
                     "\" in the header; allowed: True, False");
  head.shape_text = prefix_through(header_value(file, header, "shape"), ')');
  head.shape = parse_lengths(head.shape_text);
  return head;
}

// Header of an array file to be written, padded so that the numbers are aligned.
std::string npy_head(const std::string& type, const std::string& shape) {
  std::string text = "{'descr': " + type + ", 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kBefore = 10;
  while ((kBefore + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string head(kNpyMagic);
  head += {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return head + text;
}

}  // namespace merganser::app
