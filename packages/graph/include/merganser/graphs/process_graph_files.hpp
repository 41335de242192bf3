#pragma once
/// Serial input and output of process graphs, held whole by the caller. All functions are local. Formats:
/// packages/topology/docs/topology-files.md. Files of graphs that are distributed over ranks: files.hpp.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs {

/// Formats of files of process graphs.
enum class ProcessGraphFormat : std::uint8_t {
  binary,         ///< compressed rows of 64-bit numbers, the layout of [neve]; .bin
  adjacency,      ///< "from: to weight to weight ..." a line; .txt
  pairs,          ///< "from,to" or "from,to,weight" a line, as the neighbourhood benchmarks of OSU read it; .adj
  matrix_market,  ///< coordinates, of any symmetry but hermitian; .mtx
  metis,          ///< symmetric graphs; written: with whole weights; .graph, .metis
};

/// Returns the name of a process graph file format: "binary", "adjacency", "pairs", "matrix-market", "metis".
[[nodiscard]] std::string_view to_string(ProcessGraphFormat format);
/// Returns the process graph file format with a name.
/// @throws UsageError for an unknown name, with the list of names
[[nodiscard]] ProcessGraphFormat parse_process_format(std::string_view name);
/// Returns all formats of process graph files, in the order of the enumeration.
[[nodiscard]] std::span<const ProcessGraphFormat> process_formats();
/// Returns the process graph file format that a path's extension stands for. The file need not exist.
/// @throws UsageError for an unknown extension, with the list of extensions
[[nodiscard]] ProcessGraphFormat process_format_from_path(const std::string& path);

/// Reads a process graph from a file. The format is determined by the contents of the file, whatever its name.
/// @throws InputError naming the file, the line or offset, the value and what is allowed
/// Memory: proportional to the file's length (and at most some 25 MB more for ranks without arcs).
[[nodiscard]] ProcessGraph read_process_graph(const std::string& path);
/// Reads a process graph from a file in the given format.
/// @throws InputError naming the file, the line or offset, the value and what is allowed
[[nodiscard]] ProcessGraph read_process_graph(const std::string& path, ProcessGraphFormat format);

/// Writes a process graph to a file; a plain file appears whole or not at all. @throws InputError if the file cannot be written, or
/// the format cannot hold the graph (metis: arcs without their equal reverse, weights that are not whole); UsageError for a
/// name that ends in .gz
void write_process_graph(const std::string& path, const ProcessGraph& graph, ProcessGraphFormat format);

}  // namespace merganser::graphs
