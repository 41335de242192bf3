#pragma once
/// The nearest points of all points, on rank 0: what grow() needs to know which other edges a tree could have had.
#include <cstdint>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/grow.hpp"

namespace merganser::msf {

/// The lists, which own their memory.
struct NearestLists {
  std::size_t each = 0;                ///< points in a list
  std::vector<std::int64_t> points;    ///< by vertex
  std::vector<double> core_distances;  ///< by vertex

  /// What grow() takes, as long as the lists live.
  [[nodiscard]] NearestPoints view() const { return {each, points, core_distances}; }
};

/// The min_samples nearest points of every point, itself included, on rank 0; nothing on the others. Collective.
///
/// Of points at one distance from another those of least id are in its list; so edges between points of a lattice may be
/// missing from what grow() knows.
/// @throws as nearest_points()
/// Cost: that of nearest_points(), and 24 bytes for each entry of the lists while they are gathered, 8 afterwards
[[nodiscard]] NearestLists nearest_lists(const PointSet& points, comm::Transport& transport,
                                         const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
