#pragma once
/// Readers and writers of each format, from and to the bytes of a file. @throws InputError
#include <string>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// Bytes of any format.
ProcessGraph parse_any(const std::string& path, const std::string& bytes);

ProcessGraph parse_binary(const std::string& path, const std::string& bytes);
std::string print_binary(const ProcessGraph& graph);

ProcessGraph parse_adjacency(const std::string& path, const std::string& text);
std::string print_adjacency(const ProcessGraph& graph);

ProcessGraph parse_pairs(const std::string& path, const std::string& text);
std::string print_pairs(const ProcessGraph& graph);

ProcessGraph parse_matrix_market(const std::string& path, const std::string& text);
std::string print_matrix_market(const ProcessGraph& graph);

ProcessGraph parse_metis(const std::string& path, const std::string& text);
/// @param path  for messages
std::string print_metis(const std::string& path, const ProcessGraph& graph);

}  // namespace merganser::graphs::detail
