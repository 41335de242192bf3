#pragma once
/// Random access to the bytes of an HDF5 file and decoding of its little-endian fields, for the check of references.
/// Nothing here calls the HDF5 library, and no read goes beyond the end of a block or file.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace merganser::io::hdf5 {

/// The undefined address of the HDF5 format, all bits set.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// Throws InputError "PATH: truncated or damaged NetCDF file (WHAT)", for a file that breaks the HDF5 format.
[[noreturn]] void throw_damaged(const std::string& path, std::string_view what);

/// Forward reader of little-endian fields in a block of an HDF5 file. Every call that would pass the end of the block throws
/// InputError "truncated or damaged".
class Cursor {
 public:
  Cursor(const std::string& path, std::span<const std::byte> bytes) : path_(&path), rest_(bytes) {}

  /// Reads the next field of an HDF5 block as an unsigned little-endian number of up to 8 bytes.
  std::uint64_t number(std::size_t bytes);
  /// Reads the next byte of an HDF5 block, as a version, a kind or flags.
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  /// Reads the next field of an HDF5 block as an address in the file; one with all bits set becomes kNowhere, whatever its
  /// width in bytes.
  std::uint64_t address(std::size_t bytes);
  /// Reads the next `bytes` bytes of an HDF5 block as text. The view is valid as long as the block.
  std::string_view text(std::size_t bytes);
  /// Returns a cursor over the next `bytes` bytes of an HDF5 block, as those of one message, and skips them here.
  Cursor part(std::size_t bytes);
  /// Skips the next `bytes` bytes of an HDF5 block.
  void skip(std::size_t bytes) { static_cast<void>(text(bytes)); }
  /// Returns the number of bytes of the HDF5 block that are left to read.
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
  /// Returns the name of the HDF5 file that the block is from, for error messages.
  [[nodiscard]] const std::string& path() const noexcept { return *path_; }

 private:
  const std::string* path_;
  std::span<const std::byte> rest_;
};

/// HDF5 file that is open for reading at any address (pread, no HDF5 library), with a buffer of the last block read.
class Bytes {
 public:
  /// Opens an HDF5 file for reading its bytes. @throws InputError if it cannot be opened
  explicit Bytes(std::string path);
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// Reads `count` bytes at an address of the HDF5 file. The result is valid until the next call: they share one buffer.
  /// @throws InputError if the block passes the end of the file
  [[nodiscard]] Cursor at(std::uint64_t address, std::uint64_t count);
  /// Reads `count` bytes at an address of the HDF5 file and returns a cursor behind `signature`, as "FRHP", with which they
  /// must begin. The result is valid until the next call. @throws InputError if they begin otherwise
  [[nodiscard]] Cursor at(std::uint64_t address, std::uint64_t count, std::string_view signature);
  /// Returns the name of the open HDF5 file, for error messages.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::vector<std::byte> block_;
};

/// Returns the width in bytes, at least 1, of a field of HDF5 that must hold every number from 0 to a limit.
[[nodiscard]] std::size_t encoded_width(std::uint64_t limit);

}  // namespace merganser::io::hdf5
