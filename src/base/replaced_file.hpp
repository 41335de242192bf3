#pragma once
/// The rule for a file that an output replaces.
#include <string>

namespace merganser::detail {

/// A name in an open folder, for messages as the user gave it.
struct OldFile {
  const std::string& shown;
  int folder;
  const std::string& base;
};

/// Refuses what may not be replaced: what is no plain file; a file to which this user could not write, or that is protected
/// by a mode that lets nobody write, which counts for root too. @return whether there is a file @throws InputError
bool check_replaceable(const OldFile& old);

/// Gives a new file owner and group of the one that it will replace, if there is one. @throws InputError if that is not
/// allowed: then replacing it would take the file from its owner
void keep_owner(const OldFile& old, int file);

/// As keep_owner(), and mode and access control list. Whoever writes to the file by its name has done so.
/// @throws InputError if one of them cannot be kept
void keep_owner_and_mode(const OldFile& old, int file);

}  // namespace merganser::detail
