#pragma once
/// Graph files: read by all ranks, each its part, into undirected edges; written by all ranks.
///
/// Whatever a file holds becomes an undirected graph: an arc and its reverse become one edge, loops are dropped, and of
/// equal parallel edges one stays. Parallel edges of different weights (of two directions too) all stay. The own format
/// is taken as it is. A file without weights gets made ones. Formats and their rules: packages/graph/docs/graph-files.md.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/graphs/generate.hpp"

namespace merganser::graphs {

/// Formats of graph files.
enum class Format : std::uint8_t { edge_list, matrix_market, metis, dimacs, parhip, bvgraph, binary };
/// The name that format_of_name() takes.
[[nodiscard]] std::string_view name_of(Format format);
/// All formats.
[[nodiscard]] std::span<const Format> formats();
/// The format of a name.
/// @throws UsageError for an unknown name, with the list
[[nodiscard]] Format format_of_name(std::string_view name);
/// The format that the extension tells ("x.mtx"), also before ".gz"; edge_list for .txt, .tsv, .el, .edges.
/// @throws UsageError for others
[[nodiscard]] Format format_of_path(const std::string& path);
/// The format of an existing file: bvgraph where PATH.graph and PATH.properties are there; else by its extension; else by its
/// first bytes (binary, Matrix Market, ParHIP, DIMACS), and edge_list where they show none of these.
/// @throws InputError if it cannot be read, is empty, or is the .graph of a BVGraph, which is named without extension
[[nodiscard]] Format detect_format(const std::string& path);

/// How a graph file is read.
struct ReadOptions {
  std::string format;   ///< a name of formats(); empty: what the file shows
  std::string weights;  ///< see weights_of_name(); empty: those of the file, or uniform where it has none
  std::uint64_t seed = 1;
};

/// What reading did; the same on every rank.
struct ReadLog {
  Format format = Format::edge_list;
  bool compressed = false;
  std::uint64_t file_bytes = 0;
  std::uint64_t arcs = 0;          ///< entries of the file
  std::uint64_t loops = 0;         ///< dropped
  std::uint64_t repeated = 0;      ///< entries dropped as equal to another: reverse arcs and duplicates
  bool directed = false;           ///< arcs were made edges
  bool weighted = false;           ///< weights are those of the file
  bool relabelled = false;         ///< ids were too sparse: EdgeList::names has the originals
  std::vector<std::string> lines;  ///< what a user should know, in plain words
};

/// Reads a graph from a file. Collective; every rank must see the file. The edges do not depend on the number of ranks.
/// @param path  of a BVGraph: without extension, PATH.graph and PATH.properties are read (and PATH.offsets if there)
/// @throws InputError on every rank: the file, the line or byte, what stands there, what is allowed
/// Cost: each rank reads its part of the file, then one exchange of all edges and a sort; memory: forecast_file().
[[nodiscard]] EdgeList read_graph(const std::string& path, const ReadOptions& options, comm::Transport& transport,
                                  ReadLog& log);

/// What reading a file would take, from its size and its first bytes. Local. @throws InputError as read_graph()
[[nodiscard]] Forecast forecast_file(const std::string& path, const ReadOptions& options, int ranks);

/// Refuses a format that cannot be written, before work is done.
/// @throws UsageError for a format that is read only
void check_writable(Format format);

/// Writes a graph: binary and ParHIP by all ranks (they must see one disk), text by rank 0 in bounded memory. METIS and
/// ParHIP hold both arcs of every edge, 24 bytes each meanwhile; they take integer weights only and no loops. The file
/// appears whole or not at all. Collective. @throws InputError on every rank if it cannot be written, UsageError for a
/// format that is read only and a name that ends in .gz
void write_graph(const std::string& path, const EdgeList& graph, Format format, comm::Transport& transport);

}  // namespace merganser::graphs
