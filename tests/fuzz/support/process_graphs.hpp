#pragma once
/// What all readers of process graphs are held to.
#include <string>
#include <string_view>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::fuzz {

using ParseGraph = graphs::ProcessGraph (*)(const std::string& name, const std::string& bytes);

/// What is read can be written in every format that holds it, and read again in that format, named or not.
/// @return false if it was refused
bool feed_process_graph(ParseGraph parse, std::string_view input);

}  // namespace merganser::fuzz
