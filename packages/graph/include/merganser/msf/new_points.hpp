#pragma once
/// Exact distributed queries of a point set: the k nearest points, and the point of least mutual reachability, for predictions
/// for new points.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {

/// Point of a set that is among the nearest to a new point, as nearest_points() finds it.
struct NearPoint {
  double distance = 0;   ///< distance to the new point
  std::uint64_t id = 0;  ///< id of the point of the set

  friend bool operator==(const NearPoint&, const NearPoint&) = default;
};

/// Finds the k nearest points of a set to each new point, by (distance as compared, id). Collective.
///
/// @param points  this rank's share of the set
/// @param fresh   new points of this rank, of the same space; their ids are not used; some ranks may have none
/// @param k       1 to the number of points of the set, the same on every rank
/// @return k neighbours for each new point of this rank, row after row
/// @throws InputError on every rank for bad points and for a k beyond their number; UsageError for a k below 1 and for new
///         points of another space, and as euclidean_forest() beyond kMaxTreeDimension, where every new point is compared
///         with every point
/// Cost: a tree of the points (no list of neighbours, no rounds), then O(log n) per new point and k
[[nodiscard]] std::vector<NearPoint> nearest_points(const PointSet& points, const PointSet& fresh, int k,
                                                    comm::Transport& transport, const EuclideanOptions& options,
                                                    Report& report);

/// Edge by which a new point would join the minimum spanning tree of mutual reachability of a set, as join_points() finds it.
struct Joint {
  std::uint64_t id = 0;     ///< id of the point of the set at the other end
  double distance = 0;      ///< distance of the new point to it
  double core = 0;          ///< core distance of the new point: that to its k-th nearest point of the set
  double reachability = 0;  ///< mutual reachability: the greatest of the distance and both core distances

  friend bool operator==(const Joint&, const Joint&) = default;
};

/// Finds for each new point the point of the set with the least mutual reachability distance; of several the nearest, then that with the
/// least id. Exact over all points of the set, where other implementations compare a few nearest ones. Collective.
///
/// @param cores  core distance of each point of this rank's share, as core_distances() returns them
/// @param k      the core distance of a new point is that to its k-th nearest point of the set. The
///               EuclideanOptions::min_samples of the fit corresponds to hdbscan's approximate_predict, whose min_samples counts
///               one less
/// @return one for each new point of this rank; errors and cost as nearest_points(), InputError too where a core distance is
///         missing, negative or no number
[[nodiscard]] std::vector<Joint> join_points(const PointSet& points, std::span<const double> cores,
                                             const PointSet& fresh, int k, comm::Transport& transport,
                                             const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
