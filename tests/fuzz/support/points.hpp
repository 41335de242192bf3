#pragma once
/// Properties that every reader of points must have, as checks for fuzz targets.
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Reads a file of points on one rank; for some inputs also on three ranks, which must give the same points.
/// @return false if the file was refused
bool feed_points(const std::string& path, std::string_view input);

}  // namespace merganser::fuzz
