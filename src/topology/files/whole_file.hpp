#pragma once
/// Files as a whole: read at once, written whole or not at all.
#include <string>

namespace merganser::topology::detail {

/// @throws InputError if it is no plain file or cannot be read
std::string read_whole(const std::string& path);

/// A plain file is written beside its place and renamed, through symbolic links; a pipe or device takes the bytes
/// itself.
/// @throws InputError
void write_whole(const std::string& path, const std::string& bytes);

}  // namespace merganser::topology::detail
