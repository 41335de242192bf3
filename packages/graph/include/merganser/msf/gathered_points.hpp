#pragma once
/// All points on rank 0 with their core distances: what grow() compares to find the other edges that a tree could have.
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {
/// How trees of points are found; private but for names.
namespace euclidean {
class Sites;
}

/// All ranks' points on rank 0; none on the others.
struct GatheredPoints {
  std::shared_ptr<const euclidean::Sites> sites;  ///< by id, as they are compared; null: none
  std::vector<double> core_distances;             ///< by id; empty: plain distances

  /// Whether this is rank 0, which has the points.
  [[nodiscard]] explicit operator bool() const noexcept { return sites != nullptr; }
};

/// Gathers the points that a forest was made of, and finds their core distances. Collective.
/// @param options  as those of euclidean_forest() that made the forest
/// @throws as core_distances()
/// Cost: that of core_distances() where min_samples is above 1; on rank 0 8 bytes per coordinate, twice that while they
/// arrive, and 8 bytes per point
[[nodiscard]] GatheredPoints gather_points(const PointSet& points, comm::Transport& transport,
                                           const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
