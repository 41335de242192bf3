#pragma once
/// Reference implementation of spanning trees of points, for checks: Prim's algorithm on one rank.
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {

/// Computes the minimum spanning tree of points, that of euclidean_forest(), from all pairs by Prim's algorithm. Collective; rank 0
/// gathers the points and computes.
/// @param min_samples  as EuclideanOptions::min_samples, from 1
/// @param alpha  as EuclideanOptions::alpha
/// @return the whole tree on rank 0, no edges on the others
/// @throws InputError and, for alpha, UsageError on every rank, as euclidean_forest()
/// Cost: all points on rank 0, O(n^2) time. Source: Prim's algorithm.
[[nodiscard]] Forest prim(const PointSet& points, comm::Transport& transport, int min_samples = 1, double alpha = 1);

}  // namespace merganser::msf
