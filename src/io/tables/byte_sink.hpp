#pragma once
/// Writing of a table of parcels: rank 0 appends what stands between the arrays, and every rank writes its rows of them.
#include <cstdint>
#include <string_view>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/shared_output.hpp"

namespace merganser::io {

/// Output file of a table on one rank. Local; throws InputError if the system refuses. Only rank 0 may append.
class ByteSink : Pinned {
 public:
  /// Begins at the start of an output file, which must outlive this.
  explicit ByteSink(comm::SharedOutput& file) : file_(file) {}
  /// Appends bytes to the file.
  void put(const void* data, std::size_t bytes) {
    if (bytes > 0) file_.write(at_, data, bytes);
    at_ += bytes;
  }
  /// Appends a text to the file.
  void put(std::string_view text) { put(text.data(), text.size()); }
  /// Replaces bytes that were written before.
  void replace(std::uint64_t at, const void* data, std::size_t bytes) { file_.write(at, data, bytes); }
  /// Leaves room for bytes that ranks write, behind those appended so far. @return offset of the first
  std::uint64_t leave_room(std::uint64_t bytes) {
    at_ += bytes;
    return at_ - bytes;
  }
  /// Returns the number of bytes appended so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return at_; }
  /// Returns the file, which every rank writes to at any place.
  [[nodiscard]] comm::SharedOutput& file() const noexcept { return file_; }

 private:
  comm::SharedOutput& file_;
  std::uint64_t at_ = 0;
};

}  // namespace merganser::io
