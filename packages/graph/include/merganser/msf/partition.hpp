#pragma once
/// Vertices dealt to ranks so that every rank has about the same number of arcs, and edges brought to their owners.
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// Consecutive ranges of vertices whose degrees sum up to nearly the same: range r begins at the first vertex at which
/// the degrees of all vertices before it have reached r shares of the whole. A vertex is never split. Loops do not
/// count. Without edges the ranges are of equal length.
///
/// Collective. The result depends on the graph and the number of ranks only.
/// @throws InputError on every rank if an edge has an end that is no vertex, or there are more than 2^63 vertices
/// Cost: O(edges here) time per pass and O(ranks) memory, whatever the number of vertices; one pass per 12 bits of it.
[[nodiscard]] graphs::Ranges balanced_ranges(const graphs::EdgeList& graph, comm::Transport& transport);

/// The edges of the whole graph with an end in this rank's range, each once, in no particular order. Loops are dropped.
///
/// Collective. Ends must be vertices, as balanced_ranges() checks.
/// Cost: one exchange between all ranks; up to twice the edges here are held for sending.
[[nodiscard]] graphs::EdgeList distribute_edges(const graphs::EdgeList& graph, const graphs::Ranges& ranges,
                                                comm::Transport& transport);

}  // namespace merganser::msf
