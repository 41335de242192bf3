#pragma once
/// Points of a set that new ones are looked up in: on each rank a part of space, in a tree.
#include <span>
#include <vector>

#include "merganser/msf/new_points.hpp"
#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/pairs.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"

namespace merganser::msf::euclidean {

/// What is looked up: the k nearest, and with core distances of the set the joints.
struct LookUp {
  std::size_t k;
  bool join;
};
struct Looked {
  std::vector<Near> near;     ///< k for each place
  std::vector<Joint> joints;  ///< one for each, if asked for
};

/// True if the first comes before the second.
[[nodiscard]] inline bool joins_before(const Joint& a, const Joint& b) {
  if (a.reachability != b.reachability) return a.reachability < b.reachability;
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

/// The same by a tree and by all pairs. `cores`: of the points in the order given; empty without joints. Collective.
template <std::size_t D>
[[nodiscard]] Looked look_up_in_tree(const Given& points, std::span<const double> cores, const Given& fresh,
                                     const LookUp& what, comm::Transport& transport, const EuclideanOptions& options,
                                     Report& report);
[[nodiscard]] Looked look_up_by_pairs(const Given& points, std::span<const double> cores, const Given& fresh,
                                      const LookUp& what, comm::Transport& transport, const EuclideanOptions& options,
                                      Report& report);

/// The best joint of each place among all ranks' points; each begins with its core distance, and what is infinite. Collective.
/// @param cores  distances, in the order of the slab
/// @param rows   places of this rank
void join_by_pairs(const Slab& slab, std::span<const double> cores, std::span<const double> rows,
                   std::vector<Joint>& joints, comm::Transport& transport);

}  // namespace merganser::msf::euclidean
