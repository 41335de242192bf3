#pragma once
/// What every file of a flow says of itself and of its variables.
#include <string>
#include <string_view>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/io/file_heading.hpp"

namespace merganser::app {

/// Global attributes by EPIC's names: kind of the file, conventions, cells and box.
[[nodiscard]] std::vector<io::FileAttribute> grid_attributes(std::string_view file_type, const Grid& grid);

/// A variable with its unit and a name in words.
[[nodiscard]] io::FileVariable file_variable(const char* name, std::vector<std::string> dimensions, const char* unit,
                                             const char* words, io::FileValues values);

}  // namespace merganser::app
