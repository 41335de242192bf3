#pragma once
/// Points distributed to ranks by place, but for those that enough equal ones stand for: where most points are equal, no
/// rank gets them all.
#include <optional>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// Who owns a place: ranks halved again and again by planes, equal coordinates by the next axis.
template <std::size_t D>
class Owners {
 public:
  /// @param sample  of all points; the same on every rank
  Owners(std::vector<Place<D>> sample, int ranks);
  [[nodiscard]] int owner(const Place<D>& p) const;

 private:
  struct Cut {
    Place<D> at;
    std::size_t axis;
    int below;  ///< next cut for what lies below, -1 - rank: the owner
    int above;
  };
  int cut(Place<D>* first, Place<D>* last, int rank, int ranks);
  std::vector<Cut> cuts_;
  int only_ = -1;
};

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

template <std::size_t D>
struct DistributedPoints {
  std::vector<Item<D>> items;
  std::uint64_t total = 0;          ///< points on all ranks
  bool surplus = false;             ///< some points may be surplus
  std::optional<Owners<D>> owners;  ///< none on one rank
  /// If asked for: ids of the points that came from each rank, in order, and where each of this rank's points went (-1:
  /// surplus).
  std::vector<std::vector<std::uint64_t>> came;
  std::vector<int> went;
};

/// The points of this rank's part of space; equal points are on one rank. Where many points of a sample are equal, all but
/// `fold` of equal points of a rank are surplus. Collective.
template <std::size_t D>
[[nodiscard]] DistributedPoints<D> distribute_points(const Given& points, std::uint32_t fold,
                                                     comm::Transport& transport, SurplusPoints<D>& surplus,
                                                     bool remember = false);

}  // namespace merganser::msf::euclidean
