#pragma once
/// Queries of a distributed point set by new points (k nearest points, joints), with a tree of boxes or by comparing all pairs.
#include <span>
#include <vector>

#include "merganser/msf/new_points.hpp"
#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/pairs.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {

/// Kind of query of a point set by new points: the k nearest points, and optionally the joints, which need core
/// distances of the set.
struct QueryKind {
  std::size_t k;  ///< nearest points per new point; the k-th gives its core distance
  bool join;      ///< joints are requested
};
/// Result of query_tree() or query_by_pairs() for this rank's new points, in their order.
struct QueryResult {
  std::vector<Near> near;     ///< k nearest points of the set for each new point
  std::vector<Joint> joints;  ///< edge of least mutual reachability to the set for each new point, if requested
};

/// Returns whether joint a (edge from a new point to a point of the set) comes before b: by mutual reachability, then distance,
/// then id.
[[nodiscard]] inline bool joins_before(const Joint& a, const Joint& b) {
  if (a.reachability != b.reachability) return a.reachability < b.reachability;
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

/// Answers the queries of a point set by all ranks' new points with a tree of boxes on each rank. Collective.
/// @param cores  core distances of this rank's points of the set, in the order of the input; empty without joints
template <std::size_t D>
[[nodiscard]] QueryResult query_tree(const CheckedPoints& points, std::span<const double> cores,
                                     const CheckedPoints& fresh, const QueryKind& what, comm::Transport& transport,
                                     const EuclideanOptions& options, Report& report);
/// Answers the queries of a point set by all ranks' new points by comparing all pairs, for more than kMaxAxes axes. Collective.
/// Results are those of query_tree().
/// @param cores  core distances of this rank's points of the set, in the order of the input; empty without joints
[[nodiscard]] QueryResult query_by_pairs(const CheckedPoints& points, std::span<const double> cores,
                                         const CheckedPoints& fresh, const QueryKind& what, comm::Transport& transport,
                                         const EuclideanOptions& options, Report& report);

/// Finds the best joint (edge of least mutual reachability) of each of this rank's new points to all ranks' points of the set, by
/// comparing all pairs. Collective.
/// @param cores   core distances (not squared) of this rank's points of the set, in the order of the slab
/// @param rows    coordinates of this rank's new points, point by point
/// @param joints  by new point; on entry with its core distance, and infinite otherwise
void join_by_pairs(const Slab& slab, std::span<const double> cores, std::span<const double> rows,
                   std::vector<Joint>& joints, comm::Transport& transport);

}  // namespace merganser::msf::euclidean
