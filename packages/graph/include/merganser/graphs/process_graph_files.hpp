#pragma once
/// Files of process graphs. packages/topology/docs/topology-files.md tells the formats. All functions are local.
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

/// The name of a format: "binary", "adjacency", "pairs", "matrix-market", "metis".
[[nodiscard]] std::string_view name_of(ProcessGraphFormat format);
/// The format of a name.
/// @throws UsageError for an unknown name, with the list
[[nodiscard]] ProcessGraphFormat process_format_of_name(std::string_view name);
/// All formats.
[[nodiscard]] std::span<const ProcessGraphFormat> process_formats();
/// The format that a path's extension stands for. @throws UsageError if there is none such, with the list
[[nodiscard]] ProcessGraphFormat process_format_of_path(const std::string& path);

/// Reads a graph; the format is seen in what the file holds, whatever its name.
/// @throws InputError naming the file, the line or offset, the value and what is allowed
/// Memory: proportional to the file's length (and at most some 25 MB more for ranks without arcs).
[[nodiscard]] ProcessGraph read_process_graph(const std::string& path);
/// As above, in a format that the caller knows.
[[nodiscard]] ProcessGraph read_process_graph(const std::string& path, ProcessGraphFormat format);

/// Writes a graph; a plain file appears whole or not at all. @throws InputError if the file cannot be written, or the
/// format cannot hold the graph (metis: arcs without their equal reverse, weights that are not whole); UsageError for a
/// name that ends in .gz
void write_process_graph(const std::string& path, const ProcessGraph& graph, ProcessGraphFormat format);

}  // namespace merganser::graphs
