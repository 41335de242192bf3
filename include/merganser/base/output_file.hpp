#pragma once
/// Atomic creation of result files: a file appears complete or not at all, and the file that it replaces stays until then.
#include <cstdint>
#include <string>

#include "merganser/base/cleanup.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser {

/// Output file that is created under its name by commit(). All files that this library and its command write are of this class.
/// Used by one process; local.
///
/// Before commit() the new file has no name (O_TMPFILE), so a program that is killed leaves nothing. Where the file system does not
/// support that, or the file must be opened by name, it is created beside its destination in a private folder with the mode 0700. A
/// signal handler removes that folder (cleanup.hpp); a folder that a killed program left is removed by the next OutputFile with the
/// same destination. An existing file is replaced only if this user may write to it and its mode grants write permission to
/// anybody, which holds for root too; owner, group, mode and access control list are preserved, else it is refused. "-" is standard
/// output. A device or a pipe receives the bytes at commit().
///
/// A symbolic link is followed, not replaced, if this user, root, or the owner of a folder in which nobody else may write created
/// it. Any other link is refused.
class OutputFile : Pinned {
 public:
  /// Way in which the temporary file of an output is opened for writing.
  enum class Opened : std::uint8_t {
    here,  ///< by this object: all bytes are passed to write()
    by_name,  ///< by other processes or libraries that need a path, which open name(); the destination must be a regular file
  };

  /// Opens a temporary file for a destination and checks that the file system has room for it.
  /// @param path   destination; "-" is standard output
  /// @param bytes  size of the finished file in bytes; 0: unknown
  /// @throws InputError if the destination cannot hold a file of `bytes` bytes: a folder that does not exist or cannot be written
  /// to, a file that may not be replaced, a link of another user, not enough space; UsageError for an empty path and one that ends
  /// in ".gz", ".bz2", ".xz" or ".zst"
  explicit OutputFile(const std::string& path, std::int64_t bytes = 0, Opened opened = Opened::here);
  /// Removes the temporary file if commit() was not called; the destination is then unchanged.
  ~OutputFile();

  /// Returns the path by which the file can be opened, truncated and written to until commit(): by this process or, with
  /// Opened::by_name, by every process that sees the folder.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Writes `bytes` bytes at the offset `at` of the output file, which is still without its name. Several threads may write to
  /// disjoint ranges at the same time.
  /// @throws InputError if the system refuses, for example without space
  void write(std::uint64_t at, const void* data, std::size_t bytes);
  /// Reserves the disk blocks of the whole output file, where the file system supports it. HDF5 does not survive a disk that
  /// becomes full while it writes (it crashes at exit, or blocks for ever in a collective call), so call this after HDF5 has
  /// created the empty file.
  /// @throws InputError if there is not enough space
  void hold_room();
  /// Flushes the complete output file to the disk and moves it to its destination. Called once, after everything was written.
  /// @throws InputError if that fails; an existing file is then still there
  void commit();

 private:
  void open_unnamed();
  void open_in_folder();
  void make_private_folder();
  void link_destination();
  void copy_to_stream() const;
  void clean_up() noexcept;

  std::string shown_;        // path as the user gave it, for messages
  std::string folder_path_;  // folder of the destination, without links
  std::string base_;         // name of the destination in that folder; empty for a stream
  std::string name_;         // path by which the temporary file can be opened
  std::string private_;      // name of the private folder beside the destination; empty: none
  CleanupName cleanup_[3];   // registrations for removal: private folder, lock, data
  int folder_ = -1;          // descriptor of the destination's folder; of these five, -1: not open
  int private_folder_ = -1;  // descriptor of the private folder
  int lock_ = -1;            // descriptor of the lock that shows that this process lives
  int file_ = -1;            // descriptor of the temporary file
  int stream_ = -1;          // descriptor of a device, a pipe or standard output that receives the bytes at commit()
  std::int64_t bytes_;       // size of the finished file; 0: unknown
  bool held_ = false;        // hold_room() may have reserved blocks beyond the end of the file
};

/// Writes a file of the given bytes through an OutputFile: it appears complete or not at all. Local.
/// @throws InputError, UsageError as the constructor of OutputFile, InputError if writing fails
void write_file(const std::string& path, const std::string& bytes);

/// Checks, before a long computation, that an OutputFile could be opened for a path. Creates nothing that stays. Local.
/// @throws InputError, UsageError as the constructor of OutputFile
void check_output(const std::string& path);

/// Formats the free space of the file system of a path for the end of an error message: "; 12 bytes are free on its file system";
/// an empty string if it is unknown. Local.
[[nodiscard]] std::string free_space_note(const std::string& path);

}  // namespace merganser
