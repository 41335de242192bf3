#pragma once
/// Properties that every reader of distributed graphs must have, as checks for fuzz targets.
#include <string>
#include <string_view>

#include "merganser/graphs/files.hpp"

namespace merganser::fuzz {

/// Reads a graph file on one rank; for some inputs also on three ranks, which must give the same edges, and for some it writes the
/// graph in its own format and in the binary one and reads it again. @param format  name of the format; empty: detect it
/// @return false if it was refused
bool feed_graph(const std::string& path, const std::string& format, std::string_view input);

}  // namespace merganser::fuzz
