#pragma once
/// Registry of temporary files and folders that are removed when a signal ends the program.
///
///     const CleanupName name("/data/out.nc.part", false);  // before the file is made
///     ... make it, fill it, rename or remove it ...        // and the object dies after that
///
/// The library installs no handler: a program that handles signals calls remove_cleanup_names() from its handler.
#include <cstddef>
#include <string_view>

#include "merganser/base/pinned.hpp"

namespace merganser {

/// Registration of one path for removal, which lasts as long as the object lives.
///
/// Any thread may make one. It takes no lock and no memory from the heap; cost: O(kCleanupNames). The path is stored as it
/// is given, so a relative one is valid only while the program does not change its working directory.
///
/// If kCleanupNames paths are registered already, or the path has kCleanupLength bytes or more (which no system call would
/// accept), nothing is registered and nothing is thrown: the file then outlives a program that a signal ends. A child process
/// made by fork() removes no path that its parent registered.
class CleanupName {
 public:
  CleanupName() = default;
  /// Registers the path of a temporary file or folder for removal by a signal handler; is_registered() tells whether there was a
  /// free entry.
  /// @param folder  true: a folder, removed by rmdir(), so only if it is empty; false: a file, removed by unlink()
  CleanupName(std::string_view path, bool folder);
  ~CleanupName() { release(); }
  CleanupName(CleanupName&& other) noexcept;
  CleanupName& operator=(CleanupName&& other) noexcept;

  /// Ends the registration of the temporary path, for example because the file has its final name now. Does nothing without one.
  void release() noexcept;
  /// Returns true if the path of this object is registered for removal when a signal ends the program.
  [[nodiscard]] bool is_registered() const noexcept { return slot_ >= 0; }

 private:
  int slot_ = -1;  // index of the entry in the registry of temporary paths; -1: not registered
};
inline constexpr int kCleanupNames = 256;            ///< temporary paths registered at a time in one process, at most
inline constexpr std::size_t kCleanupLength = 4096;  ///< bytes of a path with its terminating zero: PATH_MAX of Linux

/// Scope in which temporary files and folders that are registered for removal are created. May be nested.
///
/// remove_cleanup_names() on another thread waits until no such scope is open (0.3 s at most, since launchers kill a process one
/// second after the signal). A scope that is entered after removal has begun blocks for ever, so no file is created after the
/// registry was walked.
class MakingFiles : Pinned {
 public:
  MakingFiles() noexcept;
  ~MakingFiles();
};

/// Closes all MakingFiles scopes of the calling thread, which creates no file any more. For a signal handler that does not
/// return while the handler of another thread calls remove_cleanup_names(), which would wait for this thread otherwise.
/// Async-signal-safe.
void close_making_files() noexcept;

/// Removes every registered path of this process, files before folders and within each the latest first, and blocks every later
/// constructor of CleanupName and MakingFiles. For a signal handler that ends the program next. Async-signal-safe.
void remove_cleanup_names() noexcept;

}  // namespace merganser
