#pragma once
/// Folder below which the library reads /proc and /sys.
#include <string>

namespace merganser::detail {

/// Prefix of /proc and /sys; empty except in tests, which put files of another system there.
inline std::string system_root;

}  // namespace merganser::detail
