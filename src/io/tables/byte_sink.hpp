#pragma once
/// Sequential writing of a file of bytes by the rank that writes a table of parcels.
#include <cstdint>
#include <string_view>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/shared_output.hpp"

namespace merganser::io {

/// Sequential writer of an output file, used by rank 0 alone. Local; throws InputError if the system refuses.
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
  /// Returns the number of bytes written so far.
  [[nodiscard]] std::uint64_t size() const noexcept { return at_; }

 private:
  comm::SharedOutput& file_;
  std::uint64_t at_ = 0;
};

}  // namespace merganser::io
