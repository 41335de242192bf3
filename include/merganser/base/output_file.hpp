#pragma once
/// Files that hold results. A file appears whole or not at all; what was there before stays until then.
#include <cstdint>
#include <string>

#include "merganser/base/cleanup.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser {

/// The one way in which this library and its command write files.
///
/// Until commit() the new file has no name (O_TMPFILE), so that a program that is killed leaves nothing. Where the file system
/// cannot do that, or the file must have a name, it lies beside its destination in a folder that only this user may enter. A
/// signal removes it (cleanup.hpp); if there was no time for that, the next OutputFile for the same destination does.
/// A file is replaced only if this user may write to it, and its mode lets somebody, for root too; owner, group, mode and access
/// control list stay, or it is refused. "-" is standard output. A device or a pipe takes the bytes at commit().
///
/// A link is written through and not replaced, if somebody who may decide about the place of this user's files made it:
/// the user, root, or the owner of a folder in which nobody else may write. Any other link is refused.
class OutputFile : Pinned {
 public:
  /// Who writes the bytes.
  enum class Opened : std::uint8_t {
    here,     ///< what is written goes through write()
    by_name,  ///< other processes, or libraries that ask for a path, open name(); the destination is no stream
  };

  /// @param bytes  how large the file will be; 0: unknown. The room is looked for now.
  /// @throws InputError if the destination is no place for a file of `bytes` bytes: no folder that can be written to, a file
  /// that may not be replaced, a link of somebody else, no room; UsageError for a name that says gzip, or none
  explicit OutputFile(const std::string& path, std::int64_t bytes = 0, Opened opened = Opened::here);
  /// Removes what was not committed.
  ~OutputFile();

  /// Path by which the file can be opened until commit(), truncated and written to: in this process, or, with
  /// Opened::by_name, in all that see the folder.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Writes at a place of the file. Threads may write to different places. @throws InputError
  void write(std::uint64_t at, const void* data, std::size_t bytes);
  /// Reserves the room for the whole file, where the file system can: HDF5 does not survive a disk that fills up while
  /// it writes (it crashes at exit, or waits for ever in a collective call). Call once HDF5 has made the file empty.
  /// @throws InputError if there is none
  void hold_room();
  /// Flushes the file to the disk and gives it its name. Called once. @throws InputError if that fails: then the old file
  /// is still there
  void commit();

 private:
  void open_unnamed();
  void open_in_folder();
  void make_private();
  void give_name();
  void copy_to_stream() const;
  void clean_up() noexcept;

  std::string shown_;        // as the user named it
  std::string folder_path_;  // of the destination, without links
  std::string base_;         // its name in there
  std::string name_;
  std::string private_;  // name of the folder beside the destination; empty: none
  CleanupName cleanup_[3];
  int folder_ = -1;  // descriptors
  int private_folder_ = -1;
  int lock_ = -1;
  int file_ = -1;
  int stream_ = -1;
  std::int64_t bytes_;
};

/// Writes a small file at once, as OutputFile does. @throws InputError, UsageError
void write_file(const std::string& path, const std::string& bytes);

/// Finds out, before work is done, that nothing can be written to a path. @throws InputError, UsageError
void check_output(const std::string& path);

/// "; 12 bytes are free on its file system", or nothing where that is unknown: an end for messages of failed writes.
[[nodiscard]] std::string room_left(const std::string& path);

}  // namespace merganser
