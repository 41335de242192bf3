#pragma once
/// Facts about a process graph that several commands print, record or reckon with. All functions are local.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::app {

/// Makes an object for records: ranks, arcs, mean_degree, max_degree, symmetric, weighted, bytes (sum of the weights), digest.
[[nodiscard]] Json graph_json(const graphs::ProcessGraph& graph);
/// Makes the line "16 ranks, 30 arcs, degree 1.88 on average and at most 2, symmetric", and one with the digest.
[[nodiscard]] std::string graph_text(const graphs::ProcessGraph& graph);

/// Returns the sizes themselves, or 8, 1024 and 65536 bytes for "weights" alone of a graph that has none.
[[nodiscard]] std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph,
                                                 const std::vector<std::string>& sizes);
/// Tells if sizes_for() returns others than `sizes`.
[[nodiscard]] bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes);

/// Forecasts the bytes of memory that a graph takes while it is made or read.
[[nodiscard]] double graph_bytes(const graphs::ProcessGraph& graph);

}  // namespace merganser::app
