#pragma once
/// Generators of synthetic process graphs. A graph is a function of its options alone, whichever rank generates it and
/// however many ranks run. All functions are local.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/axis_flags.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs {

/// Description of a kind of process graph that generate_process_graph() and make_process_graph() take.
struct ProcessGraphKind {
  std::string_view name;         ///< name of the kind, as "torus2d"
  std::string_view parameter;    ///< name of the parameter that may follow a colon in make_process_graph(); empty: none
  std::string_view description;  ///< one line for lists of kinds
};
/// Returns all kinds of process graphs, ascending by name.
[[nodiscard]] std::span<const ProcessGraphKind> process_graph_kinds();

/// Parameters of the generators of process graphs, generate_process_graph(). A kind uses ranks, seed, and those whose comments name
/// it.
struct ProcessGraphOptions {
  int ranks = 16;           ///< number of ranks of the process graph, from 1
  std::uint64_t seed = 42;  ///< seed of the random numbers
  /// random: the degree of every rank; small-world: the degree before rewiring, even; power-law: twice the arcs that
  /// each new rank brings; geometric, rgg: the mean degree of the process graph (of rgg at least that without cross
  /// edges). 0: the default of the kind.
  double degree = 0;
  std::vector<int> dims;                 ///< torus, grid: ranks along x, y, z; empty: as equal as can be
  AxisFlags periodic{true, true, true};  ///< torus: axes along which it is periodic
  double rewire = 0.1;                   ///< small-world: probability that an edge gets a new end
  int fan_in = 0;                        ///< incast: ranks that send to rank 0; 0: all others
  std::int64_t vertices = 4096;          ///< rgg: vertices per rank
  double cross = 0;                      ///< rgg: cross edges in percent of the vertex edges
  double ghost_bytes = 0;                ///< rgg: weight per ghost vertex; 0: all weights are 1
};

/// Process graph made by generate_process_graph(), with values that were determined while it was generated.
struct GeneratedProcessGraph {
  ProcessGraph graph;             ///< the process graph
  std::vector<int> dims;          ///< torus, grid: ranks along each axis
  std::int64_t vertex_edges = 0;  ///< rgg: undirected edges between vertices, without cross edges
  std::int64_t cross_edges = 0;   ///< rgg: cross edges between vertices (of `degree`: between ranks)
  double radius = 0;              ///< rgg, geometric: largest distance of neighbours in a unit square
};

/// Generates a process graph of a kind. All are symmetric but incast.
///
/// chain, ring; torus1d, torus2d, torus3d (periodic) and torus (dims), grid1d, grid2d, grid3d and grid (no axis
/// periodic); complete; incast: ranks 1 to fan_in send to rank 0; random: every rank has the same degree, edges of a
/// circulant graph switched at random; small-world [watts1998]; power-law: preferential attachment
/// [barabasi1999]; geometric: ranks are points of a periodic unit square, neighbours lie within the radius that gives
/// the mean degree; rgg: `vertices` points in each of `ranks` horizontal strips of a unit square, edges up to the
/// radius of [neve], ranks are neighbours if an edge joins their strips; cross edges join vertices (of `degree`: ranks)
/// taken at random that have no edge yet.
/// @throws UsageError for an unknown kind, options out of range or that contradict each other, and for graphs of more
/// than 2^28 arcs
/// Cost: linear in the arcs and vertices.
[[nodiscard]] GeneratedProcessGraph generate_process_graph(std::string_view kind, const ProcessGraphOptions& options);

/// Parses the text that names a generated process graph, "KIND" or "KIND:PARAMETER": returns the kind, and sets the option that the
/// parameter stands for.
/// @throws UsageError for an unknown kind (with the list), a malformed parameter, and one that the kind does not take
[[nodiscard]] std::string_view parse_process_graph_text(const std::string& text, ProcessGraphOptions& options);

/// Generates or reads the process graph of `ranks` ranks that a text names: "KIND" or "KIND:PARAMETER" (see process_graph_kinds()),
/// as "chain", "torus2d", "torus:4x2", "random:4", "rgg:5", "complete"; any other text with a '.' or '/' is the path of a file,
/// see process_graph_files.hpp.
/// @throws UsageError for an unknown kind (with the list) or a bad parameter; InputError for a file that cannot be read
/// or is a graph of another number of ranks
[[nodiscard]] ProcessGraph make_process_graph(const std::string& text, int ranks, std::uint64_t seed);

}  // namespace merganser::graphs
