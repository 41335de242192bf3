#pragma once
/// Edge-balanced partition of the vertices of a distributed graph, and redistribution of edges to the owners of their ends.
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// Computes consecutive ranges of a graph's vertices with about equal sums of degrees: range r begins at the first vertex at which
/// the degrees of all vertices before it have reached r shares of the total. A vertex is never split. Loops do not count. Without
/// edges the ranges are of equal length.
///
/// Collective. The result depends on the graph and the number of ranks only.
/// @throws InputError on every rank if an edge has an end that is no vertex, or there are more than 2^63 vertices
/// Cost: per pass O(edges of this rank) time and one reduction; O(ranks) memory, whatever the number of vertices; one pass per
/// 12 bits of that number.
[[nodiscard]] graphs::Ranges balanced_ranges(const graphs::EdgeList& graph, comm::Transport& transport);

/// Redistributes the edges of a graph to the owners of their ends: an edge between two ranges goes to both ranks. Loops are
/// dropped.
///
/// Collective. Ends must be vertices, as balanced_ranges() checks.
/// @return the edges of the whole graph with an end in this rank's range, each once, in no particular order
/// Cost: one exchange between all ranks; send buffers of up to twice the edges of this rank.
[[nodiscard]] graphs::EdgeList distribute_edges(const graphs::EdgeList& graph, const graphs::Ranges& ranges,
                                                comm::Transport& transport);

}  // namespace merganser::msf
