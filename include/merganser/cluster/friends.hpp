#pragma once
/// Friends of friends: groups of points connected by distances up to a linking length, over all ranks; labelled, or merged
/// to one parcel each.
///
///     FriendsOfFriends friends(transport, decomposition, {.linking = {0.2, Length::Unit::spacing}});   // collective
///     FriendLabels labels = friends.label(PointView::rows(xyz, n), ids);                              // collective
///     FriendsReport report = friends.merge(parcels);                                                 // collective
///
/// Two points are friends if their distance (Box::distance2) is at most the linking length; everything that friendship
/// connects is one group. The id of a group is the lowest of its members, its root the rank that holds that point. It is
/// scikit-learn's DBSCAN with min_samples = 1, in a periodic box. Groups and sums have the same bits for any number of
/// ranks, model, decomposition and order of points (sums are exact and rounded once); no rank holds a group.
///
/// A group that winds round the box through periodic faces has no centre: it is labelled, named, and not merged.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "merganser/cluster/merge_policy.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/parcels/columns.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Options of FriendsOfFriends; the same on every rank.
struct FriendsOptions {
  /// Linking length, inclusive, positive and finite; below half of every periodic extent
  Length linking;
  std::vector<std::string> same;      ///< columns of parcels in which friends are equal; values must be numbers
  std::vector<std::string> velocity;  ///< three columns of parcels whose mean label() reports of groups; empty: none
  std::int64_t least_members = 1;     ///< label() lists groups of at least so many members, >= 1
  Placement place = Placement::centroid;  ///< where merge() puts a merged parcel
  std::uint64_t seed = 0;                 ///< seed of the draws of Placement::member, up to MergePolicy::kMaxSeed
  std::uint64_t step = 0;                 ///< number of the next merge(), in the key of these draws; a merge adds 1
  std::vector<IntegerColumn> integers;    ///< columns of parcels that hold bits of integers, see MergePolicy::integers
};

/// Returns the options by which FriendsOfFriends merges as a merge policy says. Local.
/// @throws UsageError for a policy without friends of friends
[[nodiscard]] FriendsOptions friends_options(const MergePolicy& policy);

/// Columns of points in a caller's arrays, for FriendsOfFriends::label(): one entry per point each.
struct FriendColumns {
  ConstColumn mass;                   ///< masses, finite and positive; null: 1
  std::vector<ConstColumn> same;      ///< columns in which friends are equal
  std::vector<ConstColumn> velocity;  ///< none, or the three components of the velocity, finite
};

/// Group of friends of friends, as FriendLabels lists it on the rank of its root.
struct FriendGroup {
  std::int64_t id = 0;       ///< lowest id of its members
  std::int64_t members = 0;  ///< number of points
  double mass = 0;           ///< sum of the masses, of parcels the volume
  Vec3 centre{};             ///< mean position by mass, in the box; NaN if the group winds round it
  Vec3 velocity{};           ///< mean velocity by mass; 0 if no columns of it are given
  bool winds = false;        ///< whether the group winds round the box through periodic faces
};

/// Counts and times of one search of friends of friends on one rank.
struct FriendNumbers {
  double length = 0;         ///< linking length in units of the box
  std::int64_t points = 0;   ///< points of this rank
  std::int64_t ghosts = 0;   ///< ghosts that it received: points of others within the linking length of its block
  std::int64_t parts = 0;    ///< parts of groups on this rank that are connected to others over ranks or faces
  std::int64_t rounds = 0;   ///< rounds in which ranks agreed on the names of groups; 0 on one rank without such parts
  double local_seconds = 0;  ///< time of the search among points and ghosts
  double exchange_seconds = 0;  ///< time of ghosts and rounds
  double sum_seconds = 0;       ///< time of the sums over groups, and of merging
  comm::Counters counters;      ///< operations of the transport, collectives among them
};

/// Result of FriendsOfFriends::label() on one rank.
struct FriendLabels {
  std::vector<std::int64_t> group;  ///< id of the group of each point, in the order of the arrays given
  std::vector<FriendGroup> groups;  ///< groups whose root is on this rank, by id ascending
  FriendNumbers numbers;            ///< counts and times
};

/// Report of FriendsOfFriends::merge() on one rank: of a step, and what is particular to friends of friends.
struct FriendsReport : StepReport {
  FriendNumbers friends;  ///< counts and times of the search
  std::vector<std::int64_t>
      winding;  ///< ids of the groups whose root is on this rank that wind round the box, ascending
};

/// Finder of friends of friends among points that are distributed to the ranks that own their positions. Every call is
/// collective, with a fixed number of waves and a number of rounds that grows with the logarithm of how many blocks a
/// group spans, one reduction each: it is not for the inside of a merge step that must do without.
///
/// The linking length may exceed blocks: points are compared with those of all ranks within it.
class FriendsOfFriends {
 public:
  /// Keeps a copy of the decomposition and the options. Collective. @throws UsageError on every rank alike for invalid
  /// options, or if ranks differ in them or in the decomposition, or the decomposition is for another number of ranks
  FriendsOfFriends(comm::Transport& transport, const Decomposition& decomposition, const FriendsOptions& options);
  ~FriendsOfFriends();
  FriendsOfFriends(FriendsOfFriends&&) noexcept;

  /// Labels the groups of points in a caller's arrays. Collective; errors are thrown on every rank alike.
  /// @param points  positions in the box and in the rank's block, faces included; z may be null (two dimensions)
  /// @param ids     distinct over all ranks; empty: rank * 2^40 + position
  /// @param columns as many of each kind on every rank; those of a rank without points do not matter
  /// @throws UsageError for arrays of different lengths, ranks with points that differ in their numbers of columns, or a
  /// linking length of half a periodic extent or more, or another number of velocity columns than 0 or 3; InputError for a point
  /// outside of its block, a mass that is not positive and finite, a column that is not a number, or an id that two points of a
  /// rank have (with the decorator `checked`: of all ranks)
  /// Cost: O(n log n) for n points and ghosts, wherever they are; about 80 bytes of memory each.
  [[nodiscard]] FriendLabels label(const PointView& points, std::span<const std::int64_t> ids = {},
                                   const FriendColumns& columns = {});
  /// Labels the groups of parcels, whose masses are their volumes. Collective; errors are thrown on every rank.
  /// @throws UsageError for a column of the options that the parcels do not have, or a linking length of half a periodic extent or
  /// more; InputError for a parcel outside of its block, a volume out of the bounds of limits.hpp, a column that is not a number, or
  /// an id that two parcels of a rank have (with the decorator `checked`: of all ranks)
  [[nodiscard]] FriendLabels label(const Parcels& parcels);

  /// Merges each group to one parcel, that of the lowest id, on its rank, by the rules of the schema with exact sums
  /// (policy_reference.hpp); the other members are removed, the rest keeps its order. A merged parcel may belong to
  /// another rank by its new position: call distribute() or Clusterer::redistribute() before the next step. Collective;
  /// errors are thrown on every rank alike, with no parcel changed.
  /// @param lineage  whether StepReport::lineage lists each parcel merged away, on the rank that held it
  /// @throws UsageError for attributes that merge by an ellipsoid or a callback; InputError as label(), and for values that
  /// are not finite
  FriendsReport merge(Parcels& parcels, bool lineage = false);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser
