#pragma once
/// The minimum spanning forest of edges that one rank holds.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// Forest of `edges`, in ascending order of (weight, low, high). Of equal parallel edges one is kept; loops are dropped.
/// Local. Filter-Kruskal: the least edges are sorted and joined, edges within one tree of theirs are dropped unsorted.
/// @param vertices  every end is below it; at most 2^32
/// @param threads   threads that share the passes over the edges; the result does not depend on it
/// @param flip      turns the order of weights: what is returned has the complement of its weights, and is the forest
///                  and the order of those
/// @param progress  called now and then by the calling thread with the share that is done; may be empty
/// @throws InputError for more vertices than 2^32, or an edge with an end that is no vertex
/// Cost: expected O(m + n log n log(m / n)) for random weights; beside the edges 4 bytes per vertex and at most about
/// as many edges as are looked at again (some n to m / 2 of them). Source: [osipov2009].
template <class Edge>
[[nodiscard]] std::vector<Edge> local_forest(std::span<const Edge> edges, std::uint64_t vertices, int threads = 1,
                                             bool flip = false, const std::function<void(double)>& progress = {});

/// Forest of two forests that are each in ascending order; the result is in ascending order.
template <class Edge>
[[nodiscard]] std::vector<Edge> merge_forests(std::span<const Edge> a, std::span<const Edge> b, std::uint64_t vertices);

}  // namespace merganser::msf
