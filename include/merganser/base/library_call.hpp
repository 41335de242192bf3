#pragma once
/// Record of the file that a thread reads through a library which may crash on damaged files (HDF5), so that a signal handler
/// can name the file.
///
/// merganser installs no handler: a program that handles SIGSEGV and the like calls library_call_file() from its own.
#include "merganser/base/pinned.hpp"

namespace merganser {

/// Scope around calls of a library that may crash on a damaged file, on the thread that makes them. May be nested; O(1).
class LibraryCall : Pinned {
 public:
  /// Records that the calling thread works on a file.
  /// @param file  path, which must live as long as the object
  explicit LibraryCall(const char* file) noexcept;
  ~LibraryCall();

 private:
  const char* before_;  // file of the enclosing scope on this thread; null: none
};

/// Returns the path of the file that the calling thread reads through a library, by its innermost LibraryCall; null if there is
/// none. Async-signal-safe.
[[nodiscard]] const char* library_call_file() noexcept;

}  // namespace merganser
