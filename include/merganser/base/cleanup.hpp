#pragma once
/// Names of temporary files and folders that must not be left behind when a signal ends the program.
///
///     const CleanupName name("/data/out.nc.part", false);  // before the file is made
///     ... make it, fill it, rename or remove it ...        // and the object dies after that
///
/// The library installs no handler: a program that handles signals calls remove_cleanup_names() from its handler.
#include <cstddef>
#include <string_view>

#include "merganser/base/pinned.hpp"

namespace merganser {

/// Keeps one name in the list of what is to be removed for as long as the object lives. Any thread; no locks, no memory
/// from the heap, O(kCleanupNames). The name is kept as it is, so a relative one needs a program that stays in its folder.
///
/// Beyond kCleanupNames at a time, and for names that the system could not open (kCleanupLength and longer), nothing is
/// kept: only a signal that comes meanwhile would show it, by a file that stays. A child made by fork() removes none of
/// its parent's.
class CleanupName {
 public:
  CleanupName() = default;
  /// @param folder  an empty folder, removed by rmdir; else a file
  CleanupName(std::string_view path, bool folder);
  ~CleanupName() { release(); }
  CleanupName(CleanupName&& other) noexcept;
  CleanupName& operator=(CleanupName&& other) noexcept;

  /// The name is no longer to be removed, for example because the file has its final name now.
  void release() noexcept;
  /// True if the name is in the list.
  [[nodiscard]] bool kept() const noexcept { return slot_ >= 0; }

 private:
  int slot_ = -1;
};
inline constexpr int kCleanupNames = 256;
inline constexpr std::size_t kCleanupLength = 4096;  ///< PATH_MAX of Linux

/// Held while files and folders whose names are kept are made: remove_cleanup_names() on another thread waits for it
/// (0.3 s at most, as launchers kill after one second), and one that comes later than that does not return. So nothing is
/// made behind its back.
class MakingFiles : Pinned {
 public:
  MakingFiles() noexcept;
  ~MakingFiles();
};

/// This thread goes on with nothing that it was making: for a handler that does not return while that of another thread
/// removes what is kept (async-signal-safe).
void give_up_making() noexcept;

/// Removes everything that is in the list, files before folders and what came last before what came first, and keeps
/// every later CleanupName from returning: for a signal handler that ends the program next (async-signal-safe).
void remove_cleanup_names() noexcept;

}  // namespace merganser
