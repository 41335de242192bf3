// Reads of blocks of an HDF5 file and decoding of their little-endian fields, without the HDF5 library.
#include "src/io/hdf5/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::io::hdf5 {

void throw_damaged(const std::string& path, std::string_view what) {
  throw InputError(path + ": truncated or damaged NetCDF file (" + std::string(what) + ")");
}

// Decoding of a little-endian number of an HDF5 block, least significant byte first.
std::uint64_t Cursor::number(std::size_t bytes) {
  std::uint64_t out = 0;
  if (bytes > sizeof out) throw_damaged(*path_, "a number of more than 8 bytes");
  const std::string_view from = text(bytes);
  for (std::size_t i = bytes; i-- > 0;) out = out << 8 | static_cast<unsigned char>(from[i]);
  return out;
}

// Decoding of an HDF5 address; the undefined address (all bits set) has as many bytes as the file's addresses.
std::uint64_t Cursor::address(std::size_t bytes) {
  const std::uint64_t out = number(bytes);
  return bytes < 8 && out == (std::uint64_t{1} << 8 * bytes) - 1 ? kNowhere : out;
}

std::string_view Cursor::text(std::size_t bytes) {
  if (bytes > rest_.size()) throw_damaged(*path_, "a part of it is shorter than it says");
  const std::string_view out(reinterpret_cast<const char*>(rest_.data()), bytes);
  rest_ = rest_.subspan(bytes);
  return out;
}

Cursor Cursor::part(std::size_t bytes) {
  const std::span<const std::byte> from = rest_;
  skip(bytes);
  return {*path_, from.first(bytes)};
}

// Opening of an HDF5 file for the check of references; its size bounds every later read.
Bytes::Bytes(std::string path) : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat about {};
  if (file_ < 0 || ::fstat(file_, &about) != 0) {
    const std::string why = std::strerror(errno);
    if (file_ >= 0) ::close(file_);
    throw InputError("cannot read " + path_ + ": " + why);
  }
  size_ = static_cast<std::uint64_t>(about.st_size);
}

Bytes::~Bytes() { ::close(file_); }

// Bounded read of a block of an HDF5 file by pread(), repeated until all bytes are there.
Cursor Bytes::at(std::uint64_t address, std::uint64_t count) {
  // Subtracted, not added: address + count of a damaged file may overflow. Checked before memory is allocated.
  if (address > size_ || count > size_ - address) throw_damaged(path_, "an address beyond its end");
  block_.resize(count);
  for (std::uint64_t done = 0; done < count;) {
    const ssize_t got = ::pread(file_, block_.data() + done, count - done, static_cast<off_t>(address + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw InputError("cannot read " + path_ + (got < 0 ? std::string(": ") + std::strerror(errno) : ""));
    done += static_cast<std::uint64_t>(got);
  }
  return {path_, block_};
}

Cursor Bytes::at(std::uint64_t address, std::uint64_t count, std::string_view signature) {
  Cursor out = at(address, count);
  if (out.text(signature.size()) != signature)
    throw_damaged(path_, "no " + std::string(signature) + " where one should be");
  return out;
}

std::size_t encoded_width(std::uint64_t limit) {
  return static_cast<std::size_t>(std::bit_width(limit | 1) - 1) / 8 + 1;
}

}  // namespace merganser::io::hdf5
