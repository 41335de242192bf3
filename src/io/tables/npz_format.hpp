#pragma once
/// Bytes of NumPy's NPZ files, which reader and writer share: ZIP records (APPNOTE 6.3.3), checksums, heads of arrays.
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/io/columns.hpp"

namespace merganser::io {

// Signatures of a ZIP archive's records, and the value of a 32-bit field whose number stands in a 64-bit one.
inline constexpr std::uint32_t kZipLocal = 0x04034b50;
inline constexpr std::uint32_t kZipCentral = 0x02014b50;
inline constexpr std::uint32_t kZipEnd = 0x06054b50;
inline constexpr std::uint32_t kZip64End = 0x06064b50;
inline constexpr std::uint32_t kZip64Locator = 0x07064b50;
inline constexpr std::uint64_t kZipLarge = 0xffffffff;
inline constexpr std::uint64_t kZipCrcAt = 14;    ///< place of the checksum in a member's record
inline constexpr std::uint64_t kZipUtf8 = 0x800;  ///< flag: names are in UTF-8
inline constexpr std::uint64_t kZipDate = 0x21;   ///< 1 January 1980, so that equal parcels make equal files

/// Writer of little-endian numbers of ZIP records.
struct ZipBytes {
  std::string text;  ///< bytes written so far
  ZipBytes& u16(std::uint64_t v) { return put(v, 2); }
  ZipBytes& u32(std::uint64_t v) { return put(v, 4); }
  ZipBytes& u64(std::uint64_t v) { return put(v, 8); }

 private:
  ZipBytes& put(std::uint64_t v, int bytes) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>((v >> (8 * i)) & 0xff);
    return *this;
  }
};

/// Checksum of ZIP archives (CRC-32, polynomial 0xedb88320), eight bytes at a time by eight tables.
class Crc32 {
 public:
  void add(const void* data, std::size_t bytes) noexcept;
  /// Adds bytes of which only the checksum and the number are known.
  void add_known(std::uint32_t checksum, std::uint64_t bytes) noexcept;
  [[nodiscard]] std::uint32_t value() const noexcept { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffff;
};

/// Returns NumPy's name of a type of numbers in this machine's byte order, as "<f8".
[[nodiscard]] std::string npy_type(FileType type);
/// Returns the head of an array in NumPy's format: a type as it is written, "'<f8'" or a list of named ones, and a shape as "10, 3"
/// or "10,".
[[nodiscard]] std::string npy_array_head(const std::string& type, const std::string& shape);

/// Checks that the name of an array or field is UTF-8, as which NumPy reads it. @throws InputError
void check_utf8(std::string_view name);

/// Head of an array in NumPy's format.
struct ArrayHead {
  std::string type;                 ///< as "<f8"; of a structured type the list as written, from "[" on
  bool fortran = false;             ///< true: stored by columns
  std::vector<std::int64_t> shape;  ///< lengths of the axes
  std::uint64_t data = 0;           ///< offset of the numbers from the first byte of the head
};
/// Parses the head of an array. @param begin  first bytes of it, up to kMaxNpyHead @return nothing if it is none, or longer
[[nodiscard]] std::optional<ArrayHead> parse_array_head(std::string_view begin);
inline constexpr std::uint64_t kMaxNpyHead = 1 << 20;
/// Returns why a type of NumPy's that parse_npy_type() does not know is not read, as "of type |b1, which is not read (...)".
[[nodiscard]] std::string unread_type(const std::string& type);
/// Returns the type of numbers of this machine's byte order that NumPy calls so; nothing for others. @param name  as "<f8"
[[nodiscard]] std::optional<FileType> parse_npy_type(const std::string& name);

}  // namespace merganser::io
