#pragma once
/// Process graph of kind "rgg": a random geometric graph over vertices, whose ranks hold horizontal strips of the unit square.
#include <span>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"

namespace merganser::graphs::detail {

/// Process graph of kind "rgg", filled by strip_graphs(), with the counts of the random geometric graph over vertices that it comes
/// from.
struct StripGraph {
  Rows rows;                      ///< adjacency lists of the process graph
  std::int64_t vertex_edges = 0;  ///< undirected edges between vertices, without cross edges
  std::int64_t cross_edges = 0;   ///< edges added at random, of any length
  double radius = 0;              ///< largest distance of vertices that an edge joins
};
/// Generates one process graph of kind "rgg" (ranks are strips of a random geometric graph) for each of `percents`, the number of cross
/// edges (random edges between vertices that no other edge joins) as a percentage of the others. The points of the geometric graph are
/// drawn, and their neighbours searched, once. Local.
/// @param options  of which ranks, seed, vertices, degree and ghost_bytes are used
/// @throws UsageError for options out of range, and for more cross edges than half the pairs without an edge
std::vector<StripGraph> strip_graphs(const ProcessGraphOptions& options, std::span<const double> percents);

/// Returns the number of cross edges of a strip graph: `percent` of its `edges` vertex edges, rounded down.
inline std::int64_t cross_count(double percent, std::int64_t edges) {
  return static_cast<std::int64_t>(percent * static_cast<double>(edges) / 100);
}

}  // namespace merganser::graphs::detail
