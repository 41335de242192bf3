#pragma once
/// The slow and obvious tree of points.
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {

/// Same tree as euclidean_forest(), from all pairs of points: the whole of it on rank 0. Collective.
/// @param min_samples  as EuclideanOptions::min_samples
/// @throws InputError on every rank, as euclidean_forest()
/// Cost: all points on rank 0, O(n^2) time (min_samples > 1: n^2 log n). For checks. Source: Prim's algorithm.
[[nodiscard]] Forest prim(const PointSet& points, comm::Transport& transport, int min_samples = 1);

}  // namespace merganser::msf
