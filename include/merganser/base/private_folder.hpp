#pragma once
/// Temporary folders with unpredictable names, for files that one process passes to another.
#include <map>
#include <string>

#include "merganser/base/cleanup.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser {

/// Returns the folder for temporary files: the value of TMPDIR, else /tmp. @throws InputError if it does not exist or cannot be
/// written to
[[nodiscard]] std::string temporary_folder();

/// Returns twelve random letters and digits (60 bits) of the system's generator, which no other user can predict.
/// @throws InputError if the system gives no random bytes
[[nodiscard]] std::string random_letters();

/// Temporary folder with an unpredictable name that only this user may enter (mode 0700). The destructor removes it with everything
/// in it; if a signal ends the program, the files that file() named are removed, and the folder if nothing else is in it
/// (cleanup.hpp).
class PrivateFolder : Pinned {
 public:
  /// Creates a temporary folder with an unpredictable name. Local.
  /// @param parent  folder in which it is created; if processes on other hosts use it, one on a shared file system
  /// @throws InputError if it cannot be created
  explicit PrivateFolder(const std::string& parent = temporary_folder());
  ~PrivateFolder();

  /// Returns the path of the temporary folder.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the path of a file in the temporary folder, which this process or one that it starts may create, and registers it for
  /// removal.
  std::string file(const std::string& name);

 private:
  std::string path_;                          // path of the temporary folder
  CleanupName itself_;                        // registration of the folder for removal by a signal handler
  std::map<std::string, CleanupName> files_;  // by name in the folder: registrations of the files that file() named
};

}  // namespace merganser
