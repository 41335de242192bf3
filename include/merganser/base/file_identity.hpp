#pragma once
/// Identity of the file that a path names, for checks that inputs and outputs are different files.
#include <cstdint>
#include <optional>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Identity of a file, equal for two paths if and only if they name one file: through hard and symbolic links, and also before the
/// file exists. `plain` does not take part in the comparison.
struct FileIdentity {
  std::uint64_t device = 0;  ///< device number of the file; of its folder if the file does not exist
  std::uint64_t inode = 0;   ///< inode number of the file; of its folder if the file does not exist
  std::string name;          ///< name in the folder if the file does not exist; empty if it exists
  bool plain = false;        ///< true for a regular file and for none; false for a folder, device or pipe

  friend bool operator==(const FileIdentity& a, const FileIdentity& b) {
    return a.device == b.device && a.inode == b.inode && a.name == b.name;
  }
};

/// Returns the identity of the file that a path names, all links followed. Local.
/// @return nothing if the folder of the path does not exist, or OutputFile would not follow a link on the way
[[nodiscard]] std::optional<FileIdentity> file_identity(const std::string& path);

/// Resolved location of an output file: folder and name, without symbolic links; resolve_output() returns it.
struct OutputLocation {
  std::string folder;   ///< absolute path without symbolic links
  std::string name;     ///< name of the output file in the folder
  bool stream = false;  ///< true for a device, a pipe, or an open file of a process (/proc/self/fd/N)
};

/// Resolves the path of an output: follows symbolic links by the rules of OutputFile. The file need not exist. Local.
/// @throws InputError for a link of another user that may not be followed, for more than 40 links, and for a path that names a
/// folder
[[nodiscard]] OutputLocation resolve_output(const std::string& path);

}  // namespace merganser
