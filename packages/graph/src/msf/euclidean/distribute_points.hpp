#pragma once
/// Redistribution of points to the ranks that own their places, by recursive coordinate bisection. Where most points are equal,
/// surplus ones of a place stay on their ranks, represented by others, so that no rank gets them all.
#include <optional>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/msf/euclidean/given.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {

/// Partition of space among ranks for spanning trees of points: a tree of cuts that halves the ranks recursively by planes; equal
/// coordinates are split by the next axis.
template <std::size_t D>
class PlaceOwners {
 public:
  /// Builds the tree of cuts among `ranks` ranks. Local. @param sample  places of a sample of all ranks' points; the same on every
  /// rank
  PlaceOwners(std::vector<Place<D>> sample, int ranks);
  /// Returns the rank that owns the points at a place, by descent of the tree of cuts.
  [[nodiscard]] int owner(const Place<D>& p) const;

 private:
  /// Cut of the recursive coordinate bisection: plane that divides space between two halves of a range of ranks.
  struct Cut {
    Place<D> at;       ///< place in the plane, which decides for equal coordinates on the axis
    std::size_t axis;  ///< axis that the plane is normal to
    int below;         ///< next cut for places below; -1 - rank: their owner
    int above;         ///< next cut for places at or above; -1 - rank: their owner
  };
  /// Divides the sampled places first .. last - 1 among `ranks` ranks from `rank` on, recursively. @return the cut, or -1 - rank
  int cut(Place<D>* first, Place<D>* last, int rank, int ranks);
  std::vector<Cut> cuts_;  ///< tree of cuts
  int only_ = -1;          ///< root of the tree: a cut, or -1 - rank
};

/// Group of equal points on this rank of which some are surplus: not distributed, since others represent them.
struct SurplusGroup {
  std::uint64_t least;                ///< least id of the group's points, which is distributed
  int owner;                          ///< rank that owns the place of the points
  std::vector<std::uint64_t> others;  ///< ids of the surplus points of the group
};

/// Returns the edges of weight 0 that join the surplus points of this rank to the spanning tree: each to the point of least id
/// among all ranks' points that equal it. Collective.
/// @param folds  edges between equal points that this rank owns, as PointTree::folds() returns them
std::vector<Fold> make_surplus_edges(std::span<const SurplusGroup> groups, std::vector<Fold> folds,
                                     comm::Transport& transport);

/// Selection of the points of this rank that are not distributed, since enough points that equal them are.
template <std::size_t D>
class SurplusPoints {
 public:
  /// Selects the surplus points of this rank: of every group of equal points all but the `fold` of least id. Local.
  void choose(const CheckedPoints& points, std::uint32_t fold, const PlaceOwners<D>& owners);

  /// Returns whether point i of this rank, in the order of the input, is surplus and not distributed.
  [[nodiscard]] bool has(std::size_t i) const { return !surplus_.empty() && surplus_[i] != 0; }

  /// Returns the groups of equal points of this rank that have surplus points.
  [[nodiscard]] std::span<const SurplusGroup> groups() const { return groups_; }

 private:
  std::vector<SurplusGroup> groups_;   ///< groups with surplus points
  std::vector<std::uint8_t> surplus_;  ///< by point of the input: 1: surplus; empty: none
};

/// Result of distribute_points() on one rank: its points after the redistribution by places.
template <std::size_t D>
struct DistributedPoints {
  std::vector<IdentifiedPoint<D>> items;  ///< the points that this rank owns
  std::uint64_t total = 0;                ///< points on all ranks
  bool surplus = false;                   ///< some points may be surplus, on any rank
  std::optional<PlaceOwners<D>> owners;   ///< partition of space among the ranks; none on one rank
  /// With `remember`: by rank, the ids of the points that this rank received from it, in order.
  std::vector<std::vector<std::uint64_t>> came;
  /// With `remember`: by point of this rank in the order of the input, the rank that owns it; -1: surplus.
  std::vector<int> went;
};

/// Redistributes all ranks' points to the owners of their places, in boxes of about equal numbers; equal points have one owner.
/// Collective. Where many points of the sample are equal, all but `fold` of equal points of a rank are surplus.
/// @param fold      number of equal points that represent any number of them
/// @param remember  record what is needed to send results back in the order given
template <std::size_t D>
[[nodiscard]] DistributedPoints<D> distribute_points(const CheckedPoints& points, std::uint32_t fold,
                                                     comm::Transport& transport, SurplusPoints<D>& surplus,
                                                     bool remember = false);

}  // namespace merganser::msf::euclidean
