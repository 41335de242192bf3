#pragma once
/// Files as the readers of graphs see them, and errors that name a place in one.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::graphs::detail {

/// An error at a place of a file. Of errors on several ranks the one that stands first in the file is told.
struct PlacedError : InputError {
  PlacedError(std::uint64_t at, const std::string& what) : InputError(what), position(at) {}
  std::uint64_t position;
};
/// @throws PlacedError "path: byte 24: what"
[[noreturn]] void fail_at_byte(const std::string& path, std::uint64_t byte, const std::string& what);
/// What was found, in quotes, cut and without bytes that a terminal could take amiss.
[[nodiscard]] std::string shown(std::string_view text);

/// Refuses to read on where `bytes` more on each of `sharing` ranks of this machine are not there: what comes out of a
/// compressed file is known only when it is there. @throws InputError "PATH: what, which takes about ..., there is ..."
void check_disk_space(const std::string& path, double bytes, int sharing, const std::string& what);

/// Runs `local` on every rank; if it threw on some, all throw the error that stands first in the file. Collective.
void agree_first(comm::Transport& transport, const std::function<void()>& local);

/// A file open for reading. Not copied; reading does not move.
class File : Pinned {
 public:
  /// @throws InputError "cannot read PATH: why"
  explicit File(std::string path);
  ~File();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Reads up to `bytes` from a place. @return bytes read; fewer only at the end of the file
  std::size_t read(std::uint64_t from, void* to, std::size_t bytes) const;
  /// Reads all `bytes`. @throws PlacedError at the end of the file
  void read_all(std::uint64_t from, void* to, std::size_t bytes, std::string_view what) const;

 private:
  std::string path_;
  int handle_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace merganser::graphs::detail
