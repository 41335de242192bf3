#pragma once
/// Shared-memory minimum spanning forest of the edges of one rank: filter-Kruskal.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// Computes the minimum spanning forest of `edges`, in ascending order of (weight, low, high). Local. Of equal parallel edges
/// one is kept; loops are dropped. Filter-Kruskal: the least edges are sorted and processed first; edges within one tree by
/// then are dropped unsorted.
/// @param vertices  every end is below it; at most 2^32
/// @param threads   threads that share the passes over the edges; the result does not depend on it
/// @param flip      complements the bits of all weights first, for a maximum spanning forest; the edges returned have the
///                  complemented weights
/// @param progress  called repeatedly by the calling thread with the share done, 0 to 1; may be empty
/// @throws InputError for more vertices than 2^32, or an edge with an end that is no vertex
/// Cost: expected O(m + n log n log(m / n)) for random weights; beside the edges 4 bytes per vertex and at most about
/// as many edges as later passes filter again (some n to m / 2 of them). Source: [osipov2009].
template <class Edge>
[[nodiscard]] std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads = 1,
                                             bool flip = false, const std::function<void(double)>& progress = {});

}  // namespace merganser::msf
