#pragma once
/// What the readers of points are held to.
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Reads a file of points; for some inputs also over three ranks, which must give the same. @return false if it was refused
bool feed_points(const std::string& path, std::string_view input);

}  // namespace merganser::fuzz
