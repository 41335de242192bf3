#pragma once
/// Permission check for a file that an output replaces, and transfer of its owner, mode and access control list to the new file.
#include <string>

namespace merganser::detail {

/// Destination of an output file, at which a file may exist that it replaces.
struct OldFile {
  const std::string& shown;  ///< path as the user gave it, for messages
  int folder;                ///< descriptor of the folder of the destination
  const std::string& base;   ///< name in the folder; empty for a stream, which replaces nothing
};

/// Checks that the file at the destination of an output, if there is one, may be replaced. @return true if there is a file
/// @throws InputError if it is no regular file, this user may not write to it, or its mode grants write permission to nobody, which
/// protects it from root too
bool check_replaceable(const OldFile& old);

/// Sets owner and group of the new output file (an open descriptor) to those of the file that it will replace, if there is one.
/// @throws InputError if the system does not allow it: replacing the file would then take it from its owner
void keep_owner(const OldFile& old, int file);

/// Sets owner, group, mode and access control list of the new output file (an open descriptor) to those of the file that it will
/// replace, if there is one. To be called after all writes by name, since the mode may forbid to open the file again.
/// @throws InputError if one of them cannot be set
void keep_owner_and_mode(const OldFile& old, int file);

}  // namespace merganser::detail
