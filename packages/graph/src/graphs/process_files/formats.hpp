#pragma once
/// Parsers and serializers of each format of process graphs, from and to the bytes of a whole file. All are local; `path` is for
/// messages. @throws InputError for malformed files, naming the place, and for graphs that a format cannot hold
#include <string>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// Parses a file of a process graph in any format, which the first bytes show.
ProcessGraph parse_any(const std::string& path, const std::string& bytes);

/// Parses a process graph in the binary format of [neve].
ProcessGraph parse_binary(const std::string& path, const std::string& bytes);
/// Returns a process graph in the binary format of [neve].
std::string serialize_binary(const ProcessGraph& graph);

/// Parses a process graph from adjacency lists "rank: rank weight rank weight ...", one line per rank.
ProcessGraph parse_adjacency(const std::string& path, const std::string& text);
/// Returns a process graph as adjacency lists "rank: rank weight rank weight ...", one line per rank.
std::string serialize_adjacency(const ProcessGraph& graph);

/// Parses a process graph from lines "from,to" or "from,to,weight", one per arc.
ProcessGraph parse_pairs(const std::string& path, const std::string& text);
/// Returns a process graph as lines "from,to", one per arc, with weights if some are not 1.
std::string serialize_pairs(const ProcessGraph& graph);

/// Parses a process graph from a Matrix Market file; an entry is an arc from its row to its column.
ProcessGraph parse_matrix_market(const std::string& path, const std::string& text);
/// Returns a process graph as a Matrix Market file of symmetry "general".
std::string serialize_matrix_market(const ProcessGraph& graph);

/// Parses a process graph from a METIS file, in which every arc must have a reverse of equal weight.
ProcessGraph parse_metis(const std::string& path, const std::string& text);
/// Returns a process graph as a METIS file.
/// @throws InputError for arcs without an equal reverse, and weights that are no whole numbers from 1 to 2^53
std::string serialize_metis(const std::string& path, const ProcessGraph& graph);

}  // namespace merganser::graphs::detail
