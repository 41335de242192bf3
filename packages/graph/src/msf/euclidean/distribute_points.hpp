#pragma once
/// Redistribution of points to the ranks that own their places, by recursive coordinate bisection. Where most points are equal,
/// surplus ones of a place stay on their ranks, represented by others, so that no rank gets them all.
#include <optional>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// Owners of places: a tree of cuts that halves the ranks recursively by planes; equal coordinates are split by the next axis.
template <std::size_t D>
class Owners {
 public:
  /// Builds the tree of cuts. Local. @param sample  places of a sample of all ranks' points; the same on every rank
  Owners(std::vector<Place<D>> sample, int ranks);
  /// Returns the rank that owns a place.
  [[nodiscard]] int owner(const Place<D>& p) const;

 private:
  /// Plane that divides the places of a range of ranks in two.
  struct Cut {
    Place<D> at;
    std::size_t axis;
    int below;  ///< next cut for places below; -1 - rank: their owner
    int above;  ///< next cut for places at or above; -1 - rank: their owner
  };
  /// Divides the places first .. last - 1 among `ranks` ranks from `rank` on. @return the cut, or -1 - rank
  int cut(Place<D>* first, Place<D>* last, int rank, int ranks);
  std::vector<Cut> cuts_;
  int only_ = -1;  ///< the root: a cut, or -1 - rank
};

/// Surplus points of one group of equal points on this rank.
struct SurplusGroup {
  std::uint64_t least;                ///< least id of the group, which is distributed
  int owner;                          ///< rank that owns the place
  std::vector<std::uint64_t> others;  ///< ids of the other points of the group, which are not distributed
};

/// Returns edges from the surplus points of this rank to the point of least id among all that equal them. Collective.
/// @param folds  folds of the points that this rank owns, see PointTree
std::vector<Fold> make_surplus_edges(std::span<const SurplusGroup> groups, std::vector<Fold> folds,
                                     comm::Transport& transport);

/// Selection of the points of this rank that are not distributed, since enough points that equal them are.
template <std::size_t D>
class SurplusPoints {
 public:
  /// Selects, of every group of equal points of this rank, all but the `fold` of least id. Local.
  void choose(const Given& points, std::uint32_t fold, const Owners<D>& owners);

  /// Returns whether point i is surplus.
  [[nodiscard]] bool has(std::size_t i) const { return !surplus_.empty() && surplus_[i] != 0; }

  [[nodiscard]] std::span<const SurplusGroup> groups() const { return groups_; }

 private:
  std::vector<SurplusGroup> groups_;
  std::vector<std::uint8_t> surplus_;  ///< by point
};

/// Result of distribute_points() on one rank.
template <std::size_t D>
struct DistributedPoints {
  std::vector<Item<D>> items;       ///< the points that this rank owns
  std::uint64_t total = 0;          ///< points on all ranks
  bool surplus = false;             ///< some points may be surplus
  std::optional<Owners<D>> owners;  ///< none on one rank
  /// With `remember`: by rank, the ids of the points received from it, in order.
  std::vector<std::vector<std::uint64_t>> came;
  /// With `remember`: by point of this rank as given, its owner; -1: surplus.
  std::vector<int> went;
};

/// Redistributes points to the owners of their places, in boxes of about equal numbers; equal points have one owner. Collective.
/// Where many points of the sample are equal, all but `fold` of equal points of a rank are surplus.
/// @param fold      number of equal points that represent any number of them
/// @param remember  record what is needed to send results back in the order given
template <std::size_t D>
[[nodiscard]] DistributedPoints<D> distribute_points(const Given& points, std::uint32_t fold,
                                                     comm::Transport& transport, SurplusPoints<D>& surplus,
                                                     bool remember = false);

}  // namespace merganser::msf::euclidean
