#pragma once
/// Random access to the bytes of a file of points, and their division among ranks.
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::app {

/// Returns the first item of a rank's share of `total` items (bytes or rows of a file of points) that are divided evenly.
[[nodiscard]] inline std::uint64_t share_begin(std::uint64_t total, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank);
  const auto p = static_cast<std::uint64_t>(ranks);
  return total / p * r + total % p * r / p;
}

/// File of points (text or .npy) that is open for reading at any offset, on one rank.
class PointsBytes {
 public:
  /// Opens a file of points; the path must outlive the object. @throws InputError with the system's reason if it cannot be opened
  explicit PointsBytes(const std::string& file) : file_(file), in_(file, std::ios::binary) {
    if (!in_)
      throw InputError("cannot read " + file + ": " + std::strerror(errno) + "; allowed: a file that can be read");
  }
  /// Reads up to `count` bytes of the file of points from offset `begin` on; fewer only at the end of the file. @throws InputError
  /// if they cannot be read
  [[nodiscard]] std::string read(std::uint64_t begin, std::uint64_t count) const {
    std::string bytes(count, '\0');
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(begin));
    in_.read(bytes.data(), static_cast<std::streamsize>(count));
    if (in_.bad())
      throw InputError(file_ + ": cannot be read at byte " + std::to_string(begin) + "; allowed: a readable file");
    bytes.resize(static_cast<std::size_t>(in_.gcount()));
    return bytes;
  }

 private:
  const std::string& file_;
  mutable std::ifstream in_;
};

}  // namespace merganser::app
