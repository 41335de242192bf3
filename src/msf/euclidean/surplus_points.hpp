#pragma once
/// Points that are not distributed because enough equal ones are: where most points are equal, no rank gets them all.
#include <span>
#include <vector>

#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// What was kept back of one group of equal points.
struct SurplusGroup {
  std::uint64_t least;  ///< id, distributed
  int owner;
  std::vector<std::uint64_t> others;  ///< ids, not distributed
};

/// Edges from the points kept back to the least of all points that equal them. `folds` of what was distributed. Collective.
std::vector<Fold> edges_of_surplus(std::span<const SurplusGroup> groups, std::vector<Fold> folds,
                                   comm::Transport& transport);

template <std::size_t D>
class SurplusPoints {
 public:
  /// Keeps back, of every group of this rank's points that are equal, all but the `fold` of least id. Local.
  void choose(const Given& points, std::uint32_t fold, const Owners<D>& owners);

  [[nodiscard]] bool has(std::size_t i) const { return !surplus_.empty() && surplus_[i] != 0; }

  [[nodiscard]] std::span<const SurplusGroup> groups() const { return groups_; }

 private:
  std::vector<SurplusGroup> groups_;
  std::vector<std::uint8_t> surplus_;  ///< by point
};

}  // namespace merganser::msf::euclidean
