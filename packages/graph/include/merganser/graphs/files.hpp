#pragma once
/// Parallel input and output of graph files: all ranks read, each its part, into distributed undirected edges; all ranks write.
///
/// Whatever a file holds becomes an undirected graph: an arc and its reverse become one edge, loops are dropped, and of
/// equal parallel edges one stays. Parallel edges of different weights (of two directions too) all stay. merganser's own
/// binary format is read unchanged. Graphs of a file without weights get pseudo-random ones. Formats and their rules:
/// packages/graph/docs/graph-files.md.
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
enum class Format : std::uint8_t {
  edge_list,
  matrix_market,
  metis,
  dimacs,
  parhip,
  bvgraph,
  binary,
  pajek,
  gml,
  graphml
};
/// Returns the name of a graph file format, as "edge-list" or "matrix-market", which parse_format() takes.
[[nodiscard]] std::string_view to_string(Format format);
/// Returns all formats of graph files, in the order of the enumeration.
[[nodiscard]] std::span<const Format> formats();
/// Returns the graph file format with a name.
/// @throws UsageError for an unknown name, with the list of names
[[nodiscard]] Format parse_format(std::string_view name);
/// Returns the graph file format that a path's extension stands for ("x.mtx"; the one before ".gz", ".bz2", ".xz" or ".zst"). The file need not exist.
/// @throws UsageError for an unknown extension, with the list of extensions
[[nodiscard]] Format format_from_path(const std::string& path);
/// Determines the format of an existing graph file: bvgraph if PATH.graph and PATH.properties exist; else by its extension; else by
/// its first bytes (binary, Matrix Market, ParHIP, DIMACS, Pajek, GML, GraphML), and edge_list where they show none of these. Local.
/// @throws InputError if it cannot be read, is empty, or is the .graph of a BVGraph, which is named without extension
[[nodiscard]] Format detect_format(const std::string& path);

/// Parameters of the graph file reader read_graph(); the same on every rank.
struct ReadOptions {
  std::string format;      ///< name of the file's format; empty: as detect_format() determines it
  std::string weights;     ///< see parse_weights(); empty: those of the file, or uniform where it has none
  std::uint64_t seed = 1;  ///< seed of generated weights
  /// Vertices are named by text: EdgeList::text_names has the names. In edge lists any text is a name, and vertices are numbered in the
  /// order in which the names come first in the file; in Pajek, GML and GraphML files labels or ids are names. Formats whose vertices have numbers alone are refused.
  bool names = false;
};

/// Counts of what read_graph() found in a graph file and of what it left out or converted; the same on every rank.
struct ReadLog {
  Format format = Format::edge_list;  ///< format of the file
  bool compressed = false;            ///< the file is compressed
  std::uint64_t file_bytes = 0;       ///< size on disk; of a BVGraph, that of PATH.graph
  std::uint64_t arcs = 0;             ///< entries of the file
  std::uint64_t loops = 0;            ///< entries dropped as loops
  std::uint64_t repeated = 0;         ///< entries dropped as equal to another: reverse arcs and duplicates
  bool directed = false;              ///< the file holds arcs, which were made undirected edges
  bool weighted = false;              ///< weights are those of the file
  bool named = false;                 ///< EdgeList::text_names has the names of vertices
  bool relabelled = false;            ///< ids were too sparse: EdgeList::names has the original ones
  std::vector<std::string> lines;     ///< notes for the user on conversions that were made
};

/// Reads a graph from a file into undirected edges distributed over ranks. Collective; every rank must see the file. The edges do
/// not depend on the number of ranks.
/// @param path  of a BVGraph: without extension, PATH.graph and PATH.properties are read (and PATH.offsets if there)
/// @throws InputError on every rank: the file, the line or byte, what stands there, what is allowed; UsageError for options that do
/// not fit the format
/// Cost: each rank reads its part of the file (of Pajek, GML and GraphML rank 0 all of it), then one exchange of all edges and a sort; memory: forecast_file().
[[nodiscard]] EdgeList read_graph(const std::string& path, const ReadOptions& options, comm::Transport& transport,
                                  ReadLog& log);

/// Estimates the size and the memory of a graph from its file's size and first bytes, without reading it. Local.
/// @param ranks  number of ranks that will read it
/// @throws InputError as read_graph(), as far as the first bytes show an error
[[nodiscard]] Forecast forecast_file(const std::string& path, const ReadOptions& options, int ranks);

/// Checks, before work is done, that graph files can be written in a format. Local.
/// @throws UsageError for a format that is read only (bvgraph, pajek, gml, graphml)
void check_writable(Format format);
/// Returns true if graph files can be written in a format. Local.
[[nodiscard]] bool is_writable(Format format);

/// Returns true if write_graph() writes names of vertices that are text to files of a format (edge lists alone; formats that are read
/// only may hold names too). Local.
[[nodiscard]] bool holds_names(Format format);

/// Writes the graph of all ranks to a file in a given format. Collective.
///
/// Edge lists have the names of vertices that have some (EdgeList::text_names), which rank 0 holds meanwhile; other formats have
/// their numbers.
/// Binary and ParHIP files are written by all ranks, which must share a file system; text by rank 0 in bounded memory. METIS
/// and ParHIP files hold both arcs of every edge, which take 24 bytes each in memory meanwhile; weights must be integers, and
/// loops are left out. The file appears whole or not at all.
/// @throws InputError on every rank if it cannot be written; UsageError for a format that is read only and for a name that
/// ends in .gz, .bz2, .xz or .zst
void write_graph(const std::string& path, const EdgeList& graph, Format format, comm::Transport& transport);

}  // namespace merganser::graphs
