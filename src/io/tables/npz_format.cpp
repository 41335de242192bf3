// Checksums and heads of arrays of NPZ files.
#include "src/io/tables/npz_format.hpp"

#include <algorithm>
#include <cstring>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/utf8.hpp"

namespace merganser::io {
namespace {

constexpr std::uint32_t kPolynomial = 0xedb88320U;  // of the checksum, its highest power in the lowest bit

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Returns the tables of the checksum: entry [k][b] is that of byte b with k zero bytes behind it.
constexpr CrcTables make_tables() {
  CrcTables t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c >> 1) ^ ((c & 1) != 0 ? kPolynomial : 0);
    t[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}
constexpr CrcTables kTables = make_tables();

/// Returns the product of two polynomials over bits modulo that of the checksum.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept {
  std::uint32_t product = 0;
  for (std::uint32_t bit = 1U << 31; bit != 0; bit >>= 1) {
    if ((a & bit) != 0) product ^= b;
    b = (b >> 1) ^ ((b & 1) != 0 ? kPolynomial : 0);
  }
  return product;
}

/// Returns the text behind 'key': in a Python dictionary, from there on; empty if there is none.
std::string_view behind_key(std::string_view text, const std::string& key) {
  const std::size_t at = text.find("'" + key + "'");
  const std::size_t colon = at == std::string_view::npos ? at : text.find(':', at);
  return colon == std::string_view::npos ? std::string_view() : trimmed(text.substr(colon + 1));
}

/// Returns the length of the Python list that a text begins with, brackets in texts of it not counted; npos if it does not end.
std::size_t list_length(std::string_view text) {
  int depth = 0;
  char quote = 0;  // that began the text which is read; 0: none
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '\'' || c == '"') quote = c;
    if (c == '[') ++depth;
    if (c == ']' && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

/// Parses a shape, as "(10, 3)". @return false if it is none
bool parse_shape(std::string_view text, std::vector<std::int64_t>& shape) {
  const std::size_t close = text.find(')');
  if (!text.starts_with('(') || close == std::string_view::npos) return false;
  for (const std::string_view item : split_at(text.substr(1, close - 1), ',')) {
    const std::string digits(trimmed(item));
    if (digits.empty()) continue;
    if (digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos) return false;
    shape.push_back(std::stoll(digits));
  }
  return true;
}

}  // namespace

void Crc32::add(const void* data, std::size_t bytes) noexcept {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint32_t c = state_;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    const std::uint32_t low =
        c ^ (p[0] | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 | std::uint32_t{p[3]} << 24);
    c = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^ kTables[5][(low >> 16) & 0xff] ^
        kTables[4][low >> 24] ^ kTables[3][p[4]] ^ kTables[2][p[5]] ^ kTables[1][p[6]] ^ kTables[0][p[7]];
  }
  for (; bytes > 0; --bytes, ++p) c = (c >> 8) ^ kTables[0][(c ^ *p) & 0xff];
  state_ = c;
}

// The checksum of A followed by B is that of A times x^(8 * bytes of B), plus that of B.
void Crc32::add_known(std::uint32_t checksum, std::uint64_t bytes) noexcept {
  std::uint32_t factor = 1U << 31;                                                              // 1
  for (std::uint32_t power = 1U << 23; bytes > 0; bytes >>= 1, power = multiply(power, power))  // from x^8 on
    if ((bytes & 1) != 0) factor = multiply(factor, power);
  state_ = ~(multiply(factor, value()) ^ checksum);
}

std::string npy_type(FileType type) {
  const std::string order = std::endian::native == std::endian::little ? "<" : ">";
  const std::string bytes = std::to_string(type_bytes(type));
  if (!is_integer(type)) return order + "f" + bytes;
  const bool is_signed =
      type == FileType::i8 || type == FileType::i16 || type == FileType::i32 || type == FileType::i64;
  return (type_bytes(type) == 1 ? "|" : order) + (is_signed ? "i" : "u") + bytes;
}

void check_utf8(std::string_view name) {
  for (std::string_view rest = name; !rest.empty();) {
    const std::size_t bytes = first_character(rest).bytes;
    if (bytes == 0) throw InputError("cannot write the name \"" + std::string(name) + "\"; allowed: names in UTF-8");
    rest.remove_prefix(bytes);
  }
}

std::string npy_array_head(const std::string& type, const std::string& shape) {
  std::string text = "{'descr': " + type + ", 'fortran_order': False, 'shape': (" + shape + "), }";
  const bool is_utf8 =
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  // Version 2.0 has four bytes for the length, 3.0 as well and is in UTF-8; before, the text is in Latin-1.
  const bool is_long = is_utf8 || text.size() > 0xff00;
  const std::size_t prefix = is_long ? 12 : 10;
  text.resize((prefix + text.size() + 1 + 63) / 64 * 64 - prefix, ' ');
  text.back() = '\n';
  std::string head = "\x93NUMPY";
  head += is_utf8 ? '\3' : is_long ? '\2' : '\1';
  head += '\0';
  for (std::size_t i = 8; i < prefix; ++i) head += static_cast<char>((text.size() >> (8 * (i - 8))) & 0xff);
  return head + text;
}

namespace {

/// Returns a text in Latin-1 as UTF-8.
std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) append_character(static_cast<unsigned char>(c), out);
  return out;
}

}  // namespace

std::optional<ArrayHead> parse_array_head(std::string_view begin) {
  if (begin.size() < 12 || !begin.starts_with("\x93NUMPY")) return std::nullopt;
  if (begin[6] < 1 || begin[6] > 3) return std::nullopt;
  const std::size_t prefix = begin[6] == 1 ? 10 : 12;
  std::uint64_t length = 0;
  for (std::size_t i = prefix; i-- > 8;) length = length << 8 | static_cast<unsigned char>(begin[i]);
  if (length > begin.size() - prefix) return std::nullopt;
  std::string_view text = begin.substr(prefix, length);
  ArrayHead head;
  head.data = prefix + length;
  const std::string_view type = behind_key(text, "descr");
  if (type.size() < 2) return std::nullopt;
  if (type.starts_with('[')) {
    const std::size_t length = list_length(type);
    if (length == std::string_view::npos) return std::nullopt;
    head.type = std::string(type.substr(0, length));
    text = type.substr(length);  // fields may be called as the keys that follow
    if (begin[6] < 3) head.type = from_latin1(head.type);
  } else {
    head.type = std::string(type.substr(1, type.find('\'', 1) - 1));
  }
  head.fortran = behind_key(text, "fortran_order").starts_with("True");
  if (!parse_shape(behind_key(text, "shape"), head.shape)) return std::nullopt;
  return head;
}

std::string unread_type(const std::string& type) {
  const char other = std::endian::native == std::endian::little ? '>' : '<';
  if (type.starts_with(other) && parse_npy_type(npy_type(FileType::f64).substr(0, 1) + type.substr(1)))
    return "of type " + type + ", which is of the other byte order (NumPy: a.astype(a.dtype.newbyteorder('=')))";
  return "of type " + type + ", which is not read (integers of 8 to 64 bits and floats of 32 and 64 are)";
}

std::optional<FileType> parse_npy_type(const std::string& name) {
  for (int t = 1; t <= 11; ++t)
    if (is_number(static_cast<FileType>(t)) && npy_type(static_cast<FileType>(t)) == name)
      return static_cast<FileType>(t);
  return std::nullopt;
}

}  // namespace merganser::io
