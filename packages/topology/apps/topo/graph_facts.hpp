#pragma once
/// Facts about a process graph that several commands print, record or reckon with. All functions are local.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::app {

/// Makes the object of a process graph in run records: ranks, arcs, mean_degree, max_degree, symmetric, weighted, bytes (sum of the
/// weights), digest.
[[nodiscard]] Json graph_json(const graphs::ProcessGraph& graph);
/// Describes a process graph: "16 ranks, 30 arcs, degree 1.88 on average and at most 2, symmetric", and a line with its digest.
[[nodiscard]] std::string graph_text(const graphs::ProcessGraph& graph);

/// Returns the message sizes to measure on a process graph: `sizes`, or 8, 1024 and 65536 bytes where they are "weights" alone and
/// the arcs have no weights.
[[nodiscard]] std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph,
                                                 const std::vector<std::string>& sizes);
/// Returns true if the message sizes are "weights" alone and the arcs of the process graph have no weights.
[[nodiscard]] bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes);

/// Forecasts the bytes of memory that a process graph takes while it is generated or read.
[[nodiscard]] double graph_bytes(const graphs::ProcessGraph& graph);

}  // namespace merganser::app
