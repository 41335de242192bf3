#pragma once
/// Which file a path leads to, for paths that must be different files.
#include <cstdint>
#include <optional>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Two paths lead to one file if, and only if, these are equal: through links of any kind, and also before it exists.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;  ///< of the file; of its folder if it does not exist
  std::string name;         ///< in the folder; empty if it exists
  bool plain = false;       ///< a plain file, or none yet: not a folder, device or pipe

  friend bool operator==(const FileIdentity& a, const FileIdentity& b) {
    return a.device == b.device && a.inode == b.inode && a.name == b.name;
  }
};

/// The file that a path leads to. Local.
/// @return nothing if the folder of the path does not exist
[[nodiscard]] std::optional<FileIdentity> identity(const std::string& path);

/// A path as its folder, without links, and the name of the file in there.
struct Place {
  std::string folder;
  std::string name;
  bool stream = false;  ///< what stands there is a device, a pipe, or an open file of a process
};

/// Follows links as OutputFile says. @throws InputError for a link that may not be followed, or a path without end
[[nodiscard]] Place place_of_output(const std::string& path);

}  // namespace merganser
