#pragma once
/// Points that are not distributed because enough equal ones are: where most points are equal, no rank gets them all.
#include <vector>

#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

template <std::size_t D>
class SurplusPoints {
 public:
  /// Keeps back, of every group of this rank's points that are equal, all but the `fold` of least id. Local.
  void choose(const Given& points, std::uint32_t fold, const Owners<D>& owners);

  [[nodiscard]] bool has(std::size_t i) const { return !surplus_.empty() && surplus_[i] != 0; }

  /// Edges from the surplus points to the least of all points that equal them. `tree` has what was distributed. Collective.
  [[nodiscard]] std::vector<Fold> edges(const PointTree<D>& tree, comm::Transport& transport) const;

 private:
  struct Group {
    std::uint64_t least;  ///< id, distributed
    int owner;
    std::vector<std::uint64_t> others;  ///< ids, not distributed
  };
  std::vector<Group> groups_;
  std::vector<std::uint8_t> surplus_;  ///< by point
};

}  // namespace merganser::msf::euclidean
