// Minimal PNG encoder with uncompressed data, and base64.
#include "apps/frame/png.hpp"

#include <algorithm>
#include <string_view>

namespace merganser::app::png {
namespace {

/// Appends the four bytes of a number of a PNG file, the highest first.
void put_big_endian(std::string& out, std::uint32_t x) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(x >> shift & 0xff);
}

/// Returns the CRC-32 of the bytes, which PNG requires of each chunk.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xedb88320 ^ crc >> 1 : crc >> 1;
  }
  return ~crc;
}

/// Returns a chunk of a PNG file: length, kind, content and checksum of the latter two.
std::string chunk(std::string_view kind, const std::string& content) {
  std::string out;
  put_big_endian(out, static_cast<std::uint32_t>(content.size()));
  const std::string checked = std::string(kind) + content;
  out += checked;
  put_big_endian(out, checksum(checked));
  return out;
}

/// Returns the rows of a PNG file as a zlib stream of stored (uncompressed) blocks, with its Adler-32 checksum.
std::string zlib_stream(const std::string& bytes) {
  constexpr std::size_t kMax = 65535;
  std::string out = "\x78\x01";
  for (std::size_t at = 0; at < bytes.size() || at == 0; at += kMax) {
    const std::size_t size = std::min(kMax, bytes.size() - at);
    out += static_cast<char>(at + size == bytes.size() ? 1 : 0);
    for (const std::size_t n : {size, ~size}) {
      out += static_cast<char>(n & 0xff);
      out += static_cast<char>(n >> 8 & 0xff);
    }
    out.append(bytes, at, size);
  }
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<std::uint8_t>(c)) % 65521;
    b = (b + a) % 65521;
  }
  put_big_endian(out, b << 16 | a);
  return out;
}

}  // namespace

// Smallest PNG encoder: header, one stored zlib stream of rows, end.
std::string encode(const std::vector<Colour>& pixels, std::uint32_t width, std::uint32_t height) {
  std::string head;
  put_big_endian(head, width);
  put_big_endian(head, height);
  head += {8, 2, 0, 0, 0};  // eight bits of red, green, blue; nothing interlaced
  std::string rows;
  rows.reserve(static_cast<std::size_t>(height) * (3 * static_cast<std::size_t>(width) + 1));
  for (std::uint32_t y = 0; y < height; ++y) {
    rows += '\0';  // no filter
    for (std::uint32_t x = 0; x < width; ++x)
      for (const std::uint8_t part : pixels[static_cast<std::size_t>(y) * width + x]) rows += static_cast<char>(part);
  }
  return std::string("\x89PNG\r\n\x1a\n", 8) + chunk("IHDR", head) + chunk("IDAT", zlib_stream(rows)) +
         chunk("IEND", {});
}

// Encoding of pictures within HTML and SVG.
std::string base64(const std::string& bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve(bytes.size() / 3 * 4 + 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<std::uint8_t>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k > bytes.size() - i ? '=' : kDigits[three >> (18 - 6 * k) & 63];
  }
  return out;
}

}  // namespace merganser::app::png
