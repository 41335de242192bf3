#pragma once
/// Bytes of an HDF5 file, by address. Nothing here calls the HDF5 library.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace merganser::io::hdf5 {

/// An address that leads nowhere.
inline constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

/// Ends reading: the file is not what the format says. @throws InputError
[[noreturn]] void damaged(const std::string& path, std::string_view what);

/// Little-endian numbers, one after the other, out of a block that was read. Every step checks the end.
class Cursor {
 public:
  Cursor(const std::string& path, std::span<const std::byte> bytes) : path_(&path), rest_(bytes) {}

  /// A number of up to 8 bytes.
  std::uint64_t number(std::size_t bytes);
  std::uint8_t byte() { return static_cast<std::uint8_t>(number(1)); }
  /// An address: all ones are kNowhere, whatever the width.
  std::uint64_t address(std::size_t bytes);
  std::string_view text(std::size_t bytes);
  Cursor part(std::size_t bytes);
  void skip(std::size_t bytes) { static_cast<void>(text(bytes)); }
  [[nodiscard]] std::size_t left() const noexcept { return rest_.size(); }
  [[nodiscard]] const std::string& path() const noexcept { return *path_; }

 private:
  const std::string* path_;
  std::span<const std::byte> rest_;
};

/// An open file.
class Bytes {
 public:
  /// @throws InputError if it cannot be opened
  explicit Bytes(std::string path);
  ~Bytes();
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  /// Reads `count` bytes at an address. The block lives until the next call. @throws InputError beyond the end of the file
  [[nodiscard]] Cursor at(std::uint64_t address, std::uint64_t count);
  /// Reads `count` bytes at an address that begin with `signature`, four letters, and returns what follows these.
  [[nodiscard]] Cursor at(std::uint64_t address, std::uint64_t count, std::string_view signature);
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::vector<std::byte> block_;
};

/// Bytes that hold every number up to a limit, as HDF5 counts them.
[[nodiscard]] std::size_t bytes_for(std::uint64_t limit);

}  // namespace merganser::io::hdf5
