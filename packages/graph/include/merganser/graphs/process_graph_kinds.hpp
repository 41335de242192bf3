#pragma once
/// Artificial process graphs. Each is a function of its options alone: the same whoever makes it, on any number of
/// ranks. All functions are local.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/axis_flags.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs {

/// A kind of graph that generate_process_graph() and make_process_graph() know.
struct ProcessGraphKind {
  std::string_view name;
  std::string_view parameter;  ///< what may follow a colon in make_process_graph(); empty: nothing
  std::string_view description;
};
/// The kinds by name.
[[nodiscard]] std::span<const ProcessGraphKind> process_graph_kinds();

/// Parameters of the kinds; each kind takes those that name it.
struct ProcessGraphOptions {
  int ranks = 16;
  std::uint64_t seed = 42;
  /// random: the degree of every rank; small-world: the degree before rewiring, even; power-law: twice the arcs that
  /// each new rank brings; geometric, rgg: the mean degree of the process graph (of rgg at least that without cross
  /// edges). 0: what the kind has if nothing is said.
  double degree = 0;
  std::vector<int> dims;                 ///< torus, grid: ranks along x, y, z; empty: as equal as can be
  AxisFlags periodic{true, true, true};  ///< torus
  double rewire = 0.1;                   ///< small-world: probability that an edge gets a new end
  int fan_in = 0;                        ///< incast: ranks that send to rank 0; 0: all others
  std::int64_t vertices = 4096;          ///< rgg: vertices per rank
  double cross = 0;                      ///< rgg: cross edges in percent of the vertex edges
  double ghost_bytes = 0;                ///< rgg: weight per ghost vertex; 0: all weights are 1
};

/// A graph, and what came about while it was made.
struct GeneratedProcessGraph {
  ProcessGraph graph;
  std::vector<int> dims;          ///< torus, grid
  std::int64_t vertex_edges = 0;  ///< rgg: undirected edges between vertices, without cross edges
  std::int64_t cross_edges = 0;   ///< rgg: cross edges between vertices (of `degree`: between ranks)
  double radius = 0;              ///< rgg, geometric: largest distance of neighbours in a unit square
};

/// Makes a graph of the kind `kind`. Symmetric, but for incast.
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

/// The kind of a text "KIND" or "KIND:PARAMETER"; sets the option that the parameter is.
/// @throws UsageError for an unknown kind (with the list), a parameter that is none or that the kind does not take
[[nodiscard]] std::string_view parse_process_graph_text(const std::string& text, ProcessGraphOptions& options);

/// The graph that a text names, for `ranks` ranks: "KIND" or "KIND:PARAMETER" (see process_graph_kinds()), as "chain",
/// "torus2d", "torus:4x2", "random:4", "rgg:5", "complete"; any other text with a '.' or '/' is a file, see
/// graph_files.hpp.
/// @throws UsageError for an unknown kind (with the list) or a bad parameter; InputError for a file that cannot be read
/// or is a graph of another number of ranks
[[nodiscard]] ProcessGraph make_process_graph(const std::string& text, int ranks, std::uint64_t seed);

}  // namespace merganser::graphs
