#pragma once
/// Files for readers that want a path.
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Path of a file of this name that holds these bytes, until the name is used again. The bytes lie in memory. @param name  with the extension that the reader looks at
std::string file_of(const std::string& name, std::string_view bytes);

/// Path of this name for a file to be written; removed in the end.
std::string path_of(const std::string& name);

}  // namespace merganser::fuzz
