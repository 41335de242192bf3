#pragma once
/// Files read at once.
#include <string>

namespace merganser::graphs::detail {

/// @throws InputError if it is no plain file or cannot be read
std::string read_whole(const std::string& path);

}  // namespace merganser::graphs::detail
