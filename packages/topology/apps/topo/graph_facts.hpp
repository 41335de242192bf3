#pragma once
/// What the commands tell of a process graph.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::app {

/// ranks, arcs, mean_degree, max_degree, symmetric, weighted, bytes (sum of the weights), digest.
[[nodiscard]] Json graph_json(const graphs::ProcessGraph& graph);
/// "16 ranks, 30 arcs, degree 1.88 on average and at most 2, symmetric", and a line with the digest.
[[nodiscard]] std::string graph_text(const graphs::ProcessGraph& graph);

/// What --sizes stands for: itself, or 8, 1024 and 65536 bytes where it says "weights" and the graph has none.
[[nodiscard]] std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph,
                                                 const std::vector<std::string>& sizes);
/// True where sizes_for() gives others than `sizes`.
[[nodiscard]] bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes);

/// Memory of a graph while it is made or read, for forecasts.
[[nodiscard]] double graph_bytes(const graphs::ProcessGraph& graph);

}  // namespace merganser::app
