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
struct LookUp {
  std::size_t k;
  bool join;
};
/// Result of a query of a point set, in the order of the new points.
struct Looked {
  std::vector<Near> near;     ///< k for each new point
  std::vector<Joint> joints;  ///< one for each new point, if requested
};

/// Order of joints: by reachability, then distance, then id. Returns whether a comes before b.
[[nodiscard]] inline bool joins_before(const Joint& a, const Joint& b) {
  if (a.reachability != b.reachability) return a.reachability < b.reachability;
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

/// Answers the queries of all ranks' new points with a tree of boxes. Collective.
/// @param cores  core distances of the points of this rank, in the order given; empty without joints
template <std::size_t D>
[[nodiscard]] Looked query_tree(const Given& points, std::span<const double> cores, const Given& fresh,
                                const LookUp& what, comm::Transport& transport, const EuclideanOptions& options,
                                Report& report);
/// Answers the queries of all ranks' new points by comparing all pairs. Collective. Results are those of query_tree().
/// @param cores  core distances of the points of this rank, in the order given; empty without joints
[[nodiscard]] Looked query_by_pairs(const Given& points, std::span<const double> cores, const Given& fresh,
                                    const LookUp& what, comm::Transport& transport, const EuclideanOptions& options,
                                    Report& report);

/// Finds the best joint of each place among all ranks' points, by comparing all pairs. Collective.
/// @param joints  on entry with the core distances of the places, and infinite otherwise
/// @param cores  distances, in the order of the slab
/// @param rows   places of this rank
void join_by_pairs(const Slab& slab, std::span<const double> cores, std::span<const double> rows,
                   std::vector<Joint>& joints, comm::Transport& transport);

}  // namespace merganser::msf::euclidean
