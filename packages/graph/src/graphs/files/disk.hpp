#pragma once
/// Read access to graph files, and errors with a position, of which all ranks throw the one that comes first in the file.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::graphs::detail {

/// Error at a position of a graph file. Of errors on several ranks, agree_first() throws the error of least position.
struct PlacedError : InputError {
  /// Creates the error of position `at` with the message `what`.
  PlacedError(std::uint64_t at, const std::string& what) : InputError(what), position(at) {}
  std::uint64_t position;  ///< position in the file, in bytes (of a decompressed text); 0 for errors without a position
};
/// Throws the error of a graph file at a byte. @throws PlacedError "path: byte 24: what"
[[noreturn]] void fail_at_byte(const std::string& path, std::uint64_t byte, const std::string& what);
/// Returns a text of a graph file in quotes for an error message: cut at 40 bytes, with ? in place of what is not printable ASCII.
[[nodiscard]] std::string quote(std::string_view text);

/// Checks that `bytes` more bytes of memory are available for each of `sharing` ranks of this host. Local. Readers call it
/// before their arrays grow, since the size of a decompressed file is unknown in advance.
/// @throws InputError "PATH: what, which takes about ..., there is ..."
void check_memory(const std::string& path, double bytes, int sharing, const std::string& what);

/// Runs `local`, a step of reading or writing a graph file, on every rank; if it threw an Error (or ran out of memory) on some,
/// every rank throws the error of least position in the file. Collective.
void agree_first(comm::Transport& transport, const std::function<void()>& local);

/// Graph file that is open for reading at any position; there is no file pointer, so concurrent reads do not interfere.
class File : Pinned {
 public:
  /// Opens a graph file for reading. @throws InputError "cannot read PATH: why", also for folders, pipes and devices
  explicit File(std::string path);
  ~File();

  /// Returns the path of the graph file.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns the size of the graph file on disk when it was opened, in bytes.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Reads up to `bytes` bytes of the graph file from offset `from`. @return bytes read; fewer only at the end of the file
  /// @throws InputError if the system reports an error
  std::size_t read(std::uint64_t from, void* to, std::size_t bytes) const;
  /// Reads exactly `bytes` bytes of the graph file from offset `from`. @param what  what the bytes are, for the message
  /// @throws PlacedError if the file ends before
  void read_all(std::uint64_t from, void* to, std::size_t bytes, std::string_view what) const;

 private:
  std::string path_;
  int handle_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace merganser::graphs::detail
