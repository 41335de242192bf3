// Checksums and heads of arrays of NPZ files.
#include "src/io/tables/npz_format.hpp"

#include <cstring>

namespace merganser::io {
namespace {

using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Returns the tables of the checksum: entry [k][b] is that of byte b with k zero bytes behind it.
constexpr CrcTables make_tables() {
  CrcTables t{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t c = b;
    for (int i = 0; i < 8; ++i) c = (c >> 1) ^ ((c & 1) != 0 ? 0xedb88320U : 0);
    t[0][b] = c;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  return t;
}
constexpr CrcTables kTables = make_tables();

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

std::string npy_type(FileType type) {
  const std::string order = std::endian::native == std::endian::little ? "<" : ">";
  const std::string bytes = std::to_string(type_bytes(type));
  if (!is_integer(type)) return order + "f" + bytes;
  const bool is_signed =
      type == FileType::i8 || type == FileType::i16 || type == FileType::i32 || type == FileType::i64;
  return (type_bytes(type) == 1 ? "|" : order) + (is_signed ? "i" : "u") + bytes;
}

std::string npy_array_head(const std::string& type, const std::string& shape) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t kPrefix = 10;
  text.resize((kPrefix + text.size() + 1 + 63) / 64 * 64 - kPrefix, ' ');
  text.back() = '\n';
  std::string head = "\x93NUMPY\x01";
  head += '\0';
  head += static_cast<char>(text.size() & 0xff);
  head += static_cast<char>(text.size() >> 8);
  return head + text;
}

}  // namespace merganser::io
