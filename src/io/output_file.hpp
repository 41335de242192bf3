#pragma once
/// A file that appears whole or not at all.
#include <cstdint>
#include <string>

namespace merganser::io {

/// A temporary file beside its destination; commit() moves it there, the destructor removes what was not committed.
class OutputFile {
 public:
  /// @throws InputError if the destination is no place for a file of `bytes` bytes: a folder that is missing or not
  /// writable, something else than a plain file in its place, a file system without room
  OutputFile(const std::string& path, std::int64_t bytes);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  /// Reserves the room for the whole file, where the file system can: HDF5 does not survive a disk that fills up while
  /// it writes (it crashes at exit, or waits for ever in a collective call). Call once HDF5 has made the file empty.
  /// @throws InputError if there is none
  void hold_room();
  /// Flushes the temporary file to the disk and renames it. @throws InputError if that fails
  void commit();

 private:
  std::string path_;
  std::string folder_;
  std::string temporary_;
  std::int64_t bytes_;
};

/// "; 12 bytes are free on its file system", or nothing where that is unknown: an end for messages of failed writes.
[[nodiscard]] std::string room_left(const std::string& path);

}  // namespace merganser::io
