#pragma once
/// Folder below which the library reads /proc and /sys for limits of memory and threads.
#include <string>

namespace merganser::detail {

/// Prefix of the paths /proc and /sys; empty except in tests, which put files of another system there.
inline std::string system_root;

}  // namespace merganser::detail
