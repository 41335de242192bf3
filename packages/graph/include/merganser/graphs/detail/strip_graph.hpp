#pragma once
/// The random geometric graph over ranks in strips, correct for any number of ranks.
#include <span>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"

namespace merganser::graphs::detail {

struct StripGraph {
  Rows rows;
  std::int64_t vertex_edges = 0;
  std::int64_t cross_edges = 0;
  double radius = 0;
};
/// Uses ranks, seed, vertices, degree and ghost_bytes; one graph for each of `percents` of cross edges, the vertices
/// gone through once. @throws UsageError
std::vector<StripGraph> strip_graphs(const ProcessGraphOptions& options, std::span<const double> percents);

/// Cross edges that `percent` of `edges` are, rounded down.
inline std::int64_t cross_count(double percent, std::int64_t edges) {
  return static_cast<std::int64_t>(percent * static_cast<double>(edges) / 100);
}

}  // namespace merganser::graphs::detail
