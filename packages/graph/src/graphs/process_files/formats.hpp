#pragma once
/// Parsers and serializers of each format of process graphs, from and to the bytes of a whole file. All are local; `path` is for
/// messages. @throws InputError for malformed files, naming the place, and for graphs that a format cannot hold
#include <string>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// Parses a file of a process graph in any format, which the first bytes show.
ProcessGraph parse_any(const std::string& path, const std::string& bytes);

/// Parses the binary format of [neve].
ProcessGraph parse_binary(const std::string& path, const std::string& bytes);
/// Returns a graph in the binary format of [neve].
std::string serialize_binary(const ProcessGraph& graph);

/// Parses adjacency lists "rank: rank weight rank weight ...".
ProcessGraph parse_adjacency(const std::string& path, const std::string& text);
/// Returns a graph as adjacency lists "rank: rank weight rank weight ...".
std::string serialize_adjacency(const ProcessGraph& graph);

/// Parses a process graph from lines "from,to" or "from,to,weight".
ProcessGraph parse_pairs(const std::string& path, const std::string& text);
/// Returns a graph as lines "from,to", with weights if the graph has some.
std::string serialize_pairs(const ProcessGraph& graph);

/// Parses a Matrix Market file.
ProcessGraph parse_matrix_market(const std::string& path, const std::string& text);
/// Returns a graph as a general Matrix Market file.
std::string serialize_matrix_market(const ProcessGraph& graph);

/// Parses a METIS file, which must be symmetric.
ProcessGraph parse_metis(const std::string& path, const std::string& text);
/// Returns a graph as a METIS file.
/// @throws InputError for arcs without an equal reverse, and weights that are no whole numbers from 1 to 2^53
std::string serialize_metis(const std::string& path, const ProcessGraph& graph);

}  // namespace merganser::graphs::detail
