#pragma once
/// All points with their core distances on rank 0, for grow(), which searches them for edges of equal weight.
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {
/// Implementation of spanning trees of points; forward declarations only.
namespace euclidean {
class Sites;
}

/// All ranks' points with their core distances on rank 0, as gather_points() returns them; none on the other ranks.
struct GatheredPoints {
  std::shared_ptr<const euclidean::Sites> sites;  ///< coordinates by id, as they are compared; null: no points here
  std::vector<double> core_distances;  ///< by id of the point, as weights have them; empty: weights are plain distances
  int min_samples = 1;                 ///< of the core distances
  int threads = 1;                     ///< threads of grow()
  euclidean::NeighboursPointer
      neighbours;  ///< those within the core distances, as the tree has them; null: grow() searches them

  /// Returns whether this rank holds the gathered points: true on rank 0.
  [[nodiscard]] explicit operator bool() const noexcept { return sites != nullptr; }
};

/// Gathers the points of a forest on rank 0, and computes their core distances. Collective.
/// @param options  as those of euclidean_forest() that made the forest
/// @throws as core_distances()
/// Cost: that of core_distances() where min_samples is above 1; on rank 0 8 bytes per coordinate, twice that while they
/// arrive, and 8 bytes per point
[[nodiscard]] GatheredPoints gather_points(const PointSet& points, comm::Transport& transport,
                                           const EuclideanOptions& options, Report& report);

/// Gathers the points of a forest on rank 0 with core distances that are known already. Collective.
/// @param cores  core distances of this rank's points, as euclidean_forest() gives them; on all ranks empty for plain distances
/// @param options  as those of euclidean_forest() that made the forest
/// @param neighbours  as euclidean_forest() gives them for the same points; null: grow() searches them
/// @throws InputError on every rank for another number of core distances than of points, and for core distances that alpha multiplies
/// out of range (beyond pi on a sphere), and for neighbours of another number of points; UsageError for options out of range, or not the same
/// on all ranks
/// Cost: as above, without that of core_distances()
[[nodiscard]] GatheredPoints gather_points(const PointSet& points, const std::vector<double>& cores,
                                           comm::Transport& transport, const EuclideanOptions& options = {},
                                           euclidean::NeighboursPointer neighbours = nullptr);

}  // namespace merganser::msf
