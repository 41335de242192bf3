#pragma once
/// A folder for files that hand something from one process to another.
#include <map>
#include <string>

#include "merganser/base/cleanup.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser {

/// The folder for temporary files: TMPDIR, else /tmp. @throws InputError if it is no folder that can be written to
[[nodiscard]] std::string temporary_folder();

/// Twelve letters and digits that nobody can know before. @throws InputError if the system gives no random bytes
[[nodiscard]] std::string random_letters();

/// Made under a name that nobody can know before, entered by this user only, and removed with everything in it when it
/// goes out of scope; with the files that it was told of if a signal ends the program (cleanup.hpp).
class PrivateFolder : Pinned {
 public:
  /// @param parent  where it is made; if other hosts use it too, a folder that they see
  /// @throws InputError if it cannot be made
  explicit PrivateFolder(const std::string& parent = temporary_folder());
  ~PrivateFolder();

  /// Where it is.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Path of a file in it, by this process or one that it starts.
  std::string file(const std::string& name);

 private:
  std::string path_;
  CleanupName itself_;
  std::map<std::string, CleanupName> files_;
};

}  // namespace merganser
