#pragma once
/// Random access to the bytes of a file of points, plain or compressed, and their division among ranks.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/graphs/decompressor.hpp"

namespace merganser::app {

/// Returns the first item of a rank's share of `total` items (bytes or rows of a file of points) that are divided evenly.
[[nodiscard]] inline std::uint64_t share_begin(std::uint64_t total, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank);
  const auto p = static_cast<std::uint64_t>(ranks);
  return total / p * r + total % p * r / p;
}

/// File of points (text or .npy) that is open for reading at any offset, on one rank. Of a compressed file offsets are those of the
/// decompressed bytes; reading at an offset before the end of what was read last decompresses from the beginning again.
class PointsBytes {
 public:
  /// Opens a file of points; the path must outlive the object. @throws InputError with the system's reason if it cannot be opened,
  /// and for a compression of which the build lacks the library
  explicit PointsBytes(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_)
      throw InputError("cannot read " + file + ": " + std::strerror(errno) + "; allowed: a file that can be read");
    if (graphs::find_compression(read_plain(0, graphs::kCompressionBytes)) != graphs::Compression::none)
      stream_ = graphs::Decompressor::open(file);
  }
  /// Returns true if the file of points is compressed.
  [[nodiscard]] bool compressed() const { return stream_ != nullptr; }
  /// Reads up to `count` bytes of the file of points from offset `begin` on; fewer only at the end of the file. @throws InputError
  /// if they cannot be read
  [[nodiscard]] std::string read(std::uint64_t begin, std::uint64_t count) const {
    if (!stream_) return read_plain(begin, count);
    if (begin < at_) {
      stream_ = graphs::Decompressor::open(file_);
      at_ = 0;
    }
    skip(begin - at_);
    std::string bytes(count, '\0');
    bytes.resize(stream_->read(bytes.data(), bytes.size()));
    at_ += bytes.size();
    return bytes;
  }
  /// Returns the number of decompressed bytes of a compressed file of points, by decompressing all of it.
  [[nodiscard]] std::uint64_t count_decompressed() const {
    skip(UINT64_MAX);
    return at_;
  }

 private:
  /// Reads up to `count` bytes of the file from offset `begin` on, without decompressing them.
  [[nodiscard]] std::string read_plain(std::uint64_t begin, std::uint64_t count) const {
    std::string bytes(count, '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(begin));
    in_.read(bytes.data(), static_cast<std::streamsize>(count));
    if (in_.bad())
      throw InputError(file_ + ": cannot be read at byte " + std::to_string(begin) + "; allowed: a readable file");
    bytes.resize(static_cast<std::size_t>(in_.gcount()));
    return bytes;
  }
  /// Decompresses up to `count` bytes and drops them; fewer only at the end of the file.
  void skip(std::uint64_t count) const {
    std::string scratch(static_cast<std::size_t>(std::min<std::uint64_t>(count, std::uint64_t{1} << 18)), '\0');
    while (count > 0) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(count, scratch.size()));
      const std::size_t got = stream_->read(scratch.data(), wanted);
      at_ += got;
      count -= got;
      if (got < wanted) return;
    }
  }

  const std::string& file_;
  mutable std::ifstream in_;
  mutable std::unique_ptr<graphs::Decompressor> stream_;  // of a compressed file
  mutable std::uint64_t at_ = 0;                          // decompressed bytes that were read
};

}  // namespace merganser::app
