#pragma once
/// What all readers of graphs spread over ranks are held to.
#include <string>
#include <string_view>

#include "merganser/graphs/files.hpp"

namespace merganser::fuzz {

/// Reads a file; for some inputs also over three ranks, which must give the same edges, and what is read is written,
/// in its own format and in the binary one, and read again. @param format  empty: what the file shows
/// @return false if it was refused
bool feed_graph(const std::string& path, const std::string& format, std::string_view input);

}  // namespace merganser::fuzz
