#pragma once
/// Points of a set that are near new ones, exactly and over ranks: what a prediction for new points needs.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf {

/// A point of the set near a new one.
struct NearPoint {
  double distance = 0;
  std::uint64_t id = 0;

  friend bool operator==(const NearPoint&, const NearPoint&) = default;
};

/// The k nearest points of a set to each new point, by (distance as compared, id). Collective.
///
/// @param points  the set: every rank's share
/// @param fresh   new points of this rank, of the same space; their ids are not looked at; none on some ranks is fine
/// @param k       1 to the number of points of the set, the same on every rank
/// @return k for each new point of this rank, row after row
/// @throws InputError on every rank for bad points and for a k beyond their number; UsageError for a k below 1 and for new
///         points of another space, and as euclidean_forest() beyond kMaxTreeDimension, where every new point is compared
///         with every point
/// Cost: a tree of the points (no list of neighbours, no rounds), then O(log n) per new point and k
[[nodiscard]] std::vector<NearPoint> nearest_points(const PointSet& points, const PointSet& fresh, int k,
                                                    comm::Transport& transport, const EuclideanOptions& options,
                                                    Report& report);

/// Where a new point would join the tree of mutual reachability of a set.
struct Joint {
  std::uint64_t id = 0;     ///< the point it joins
  double distance = 0;      ///< to it
  double core = 0;          ///< of the new point: the distance to its k-th nearest point of the set
  double reachability = 0;  ///< the greatest of the distance and both core distances

  friend bool operator==(const Joint&, const Joint&) = default;
};

/// For each new point the point of the set of least mutual reachability; of equal ones the nearest, then that of least id.
/// Exact over all points, where others look at some nearest ones. Collective.
///
/// @param cores  core distance of each point of this rank's share, as core_distances() gives them
/// @param k      which nearest point of the set makes the core distance of a new point. EuclideanOptions::min_samples of
///               the fit is what hdbscan's approximate_predict takes: there it is min_samples + 1, by a count that is one less
/// @return one for each new point of this rank; errors and cost as nearest_points(), InputError too where a core distance is
///         missing, negative or no number
[[nodiscard]] std::vector<Joint> join_points(const PointSet& points, std::span<const double> cores,
                                             const PointSet& fresh, int k, comm::Transport& transport,
                                             const EuclideanOptions& options, Report& report);

}  // namespace merganser::msf
