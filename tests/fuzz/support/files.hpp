#pragma once
/// Files in memory for fuzz targets whose readers take a path.
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Writes bytes to a file in memory and returns its path; the content is valid until the name is used again.
/// @param name  with the extension that the reader expects
std::string make_file(const std::string& name, std::string_view bytes);

/// Returns a path of this name for a file to be written, which is removed when the process ends.
std::string make_path(const std::string& name);

}  // namespace merganser::fuzz
