#pragma once
/// Which file a library is at that may crash where the file is damaged, so that the crash can be explained.
///
/// The library installs no handler: a program that handles SIGSEGV and its like asks library_call_file() in it.
#include "merganser/base/pinned.hpp"

namespace merganser {

/// Held around calls of such a library, on the thread that makes them. O(1).
class LibraryCall : Pinned {
 public:
  /// @param file  lives as long as the object
  explicit LibraryCall(const char* file) noexcept;
  ~LibraryCall();

 private:
  const char* before_;
};

/// The file of the innermost LibraryCall of this thread; null if there is none. Async-signal-safe.
[[nodiscard]] const char* library_call_file() noexcept;

}  // namespace merganser
