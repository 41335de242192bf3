#pragma once
/// Properties that every reader of process graphs must have, as checks for fuzz targets.
#include <string>
#include <string_view>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::fuzz {

using ParseGraph = graphs::ProcessGraph (*)(const std::string& name, const std::string& bytes);

/// Parses a process graph; one that is read must survive writing and reading in every format that holds it, with the format named
/// and detected. @return false if the input was refused
bool feed_process_graph(ParseGraph parse, std::string_view input);

}  // namespace merganser::fuzz
