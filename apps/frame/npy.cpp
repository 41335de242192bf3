#include "apps/frame/npy.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"

namespace merganser::app {
namespace {

/// What follows 'key': in the header.
std::string_view value_of(const std::string& file, std::string_view header, std::string_view key) {
  const auto at = header.find("'" + std::string(key) + "'");
  const auto colon = at == std::string_view::npos ? at : header.find(':', at);
  const auto begin = colon == std::string_view::npos ? colon : header.find_first_not_of(' ', colon + 1);
  if (begin == std::string_view::npos)
    throw InputError(file + ": no " + std::string(key) + " in the header; allowed: .npy as NumPy writes it");
  return header.substr(begin);
}

/// A text up to the next `end`, that one too.
std::string_view through(std::string_view text, char end) {
  return text.substr(0, text.size() < 2 ? text.size() : std::min(text.find(end, 1), text.size() - 1) + 1);
}

/// The lengths of "(3, 2)" or "(3,)", as Python 2 wrote them too: "(3L, 2L)"; none if it is something else.
std::vector<std::uint64_t> lengths_of(std::string_view text) {
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

NpyHead parse_npy_head(const std::string& file, std::string_view begin) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(begin[i])); };
  if (begin.size() < 12 || !begin.starts_with(kNpyMagic) || byte(6) < 1 || byte(6) > 3)
    throw InputError(file + ": not .npy of version 1 to 3; allowed: those");
  const std::uint64_t prefix = byte(6) == 1 ? 10 : 12;
  NpyHead head;
  head.data = prefix + byte(8) + (byte(9) << 8U) + (prefix == 12 ? (byte(10) << 16U) + (byte(11) << 24U) : 0);
  if (head.data > begin.size())
    throw InputError(fmt::format("{}: a header of {} bytes; allowed: up to 65,536, within the file", file, head.data));
  const auto header = begin.substr(prefix, head.data - prefix);
  const auto type = value_of(file, header, "descr");
  head.type = through(type, type.starts_with('[') ? ']' : '\'');
  const auto order = value_of(file, header, "fortran_order");
  head.fortran_order = !order.starts_with("False");
  head.shape_text = through(value_of(file, header, "shape"), ')');
  head.shape = lengths_of(head.shape_text);
  return head;
}

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
