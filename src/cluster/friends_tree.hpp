#pragma once
/// Connected sets of points in the search of friends of a rank, and k-d trees of crowded cells, by which many near points
/// are connected without comparing all pairs.
#include <cstdint>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "src/cluster/friends_local.hpp"

namespace merganser::cluster {

/// Friendship of two points, and what it connects: disjoint sets of spots (union-find) and edges across periodic faces.
class FriendSets {
 public:
  /// Makes sets of one spot each. @param workspace  with the spots in the order of cells; referred to until the end
  FriendSets(const Box& box, double length, FriendWorkspace& workspace, std::vector<FriendEdge>& edges)
      : box_(box), length2_(length * length), spots_(workspace.spots), edges_(edges), parent_(workspace.parent) {
    parent_.resize(spots_.size());
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  /// Returns the domain.
  [[nodiscard]] const Box& box() const { return box_; }
  /// Returns the squared linking length.
  [[nodiscard]] double length2() const { return length2_; }
  /// Returns the spots.
  [[nodiscard]] const FriendVector<FriendSpot>& spots() const { return spots_; }
  /// Returns the representative of the set of a spot.
  [[nodiscard]] std::uint32_t find(std::uint32_t i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }
  /// Returns whether a spot is the representative of its set.
  [[nodiscard]] bool is_representative(std::uint32_t i) const { return parent_[i] == i; }
  /// Unites the sets of two spots.
  void unite(std::uint32_t i, std::uint32_t j) {
    if (parent_[i] == parent_[j]) return;
    i = find(i);
    j = find(j);
    if (i == j) return;
    if (i > j) std::swap(i, j);
    parent_[j] = i;  // the lower index: spots of one cell stay near in memory
  }
  /// Returns whether two spots are friends.
  [[nodiscard]] bool are_friends(std::uint32_t i, std::uint32_t j) const {
    const FriendSpot& a = spots_[i];
    const FriendSpot& b = spots_[j];
    return box_.distance2({a.x, a.y, a.z}, {b.x, b.y, b.z}) <= length2_;
  }
  /// Connects two friends: unites their sets, or lists the edge if it crosses a periodic face.
  void connect(std::uint32_t i, std::uint32_t j) { connect(i, j, periods(i, j)); }
  /// Connects two friends whose periods are known.
  void connect(std::uint32_t i, std::uint32_t j, const FriendPeriods& k) {
    if (k == FriendPeriods{0, 0, 0}) return unite(i, j);
    const std::uint32_t root = find(i);
    if (root == find(j) && !winding_.insert(root).second) return;
    edges_.push_back({spots_[i].point, spots_[j].point, k});
  }
  /// Returns whether two spots are in one set that is known to wind round the box: then no edge between them matters.
  [[nodiscard]] bool wind_together(std::uint32_t i, std::uint32_t j) {
    if (winding_.empty()) return false;
    const std::uint32_t root = find(i);
    return root == find(j) && winding_.count(root) > 0;
  }

 private:
  /// Returns by how many periods spot j moves relative to spot i along the edge of two friends.
  [[nodiscard]] FriendPeriods periods(std::uint32_t i, std::uint32_t j) const {
    const FriendSpot& a = spots_[i];
    const FriendSpot& b = spots_[j];
    return {period(0, b.x - a.x), period(1, b.y - a.y), period(2, b.z - a.z)};
  }
  [[nodiscard]] std::int32_t period(std::size_t axis, double d) const {
    if (!box_.periodic[axis]) return 0;
    return d > 0.5 * box_.extent[axis] ? -1 : d < -0.5 * box_.extent[axis] ? 1 : 0;
  }

  const Box& box_;
  double length2_;
  const FriendVector<FriendSpot>& spots_;
  std::vector<FriendEdge>& edges_;
  FriendVector<std::uint32_t>& parent_;
  std::unordered_set<std::uint32_t> winding_;  // representatives of sets that wind; some are united with others since
};

/// k-d trees over the spots of cells. Two nodes that are farther apart than the linking length are left, two that are
/// within it as a whole are united, and two whose spots are one set each need one edge.
class FriendTrees {
 public:
  /// Most spots of a leaf.
  static constexpr std::uint32_t kLeaf = 8;
  /// Makes no tree yet. @param spots  are reordered within the cells for which trees are built
  explicit FriendTrees(FriendVector<FriendSpot>& spots) : spots_(spots) {}
  /// Builds the tree of the spots first .. last - 1, at least one. @return its root
  std::uint32_t build(std::uint32_t first, std::uint32_t last);
  /// Connects all friends below a node.
  void connect(FriendSets& sets, std::uint32_t node);
  /// Connects the friends of two nodes without common spots.
  void join(FriendSets& sets, std::uint32_t a, std::uint32_t b) { static_cast<void>(join_nodes(sets, a, b)); }

 private:
  struct Node {
    Vec3 lower;           // least coordinates of its spots
    Vec3 upper;           // greatest ones
    std::uint32_t first;  // its first spot
    std::uint32_t last;   // behind its last spot
    std::uint32_t left;   // the first of its two children, which are adjacent; 0: a leaf
    bool one;             // its spots are known to be in one set
  };
  /// Relation of two nodes.
  struct Relation {
    double least2;    // lower bound of the squared distances of two spots, one of each
    double most2;     // upper bound; infinite where periods differ
    bool uniform;     // all pairs have the same periods
    FriendPeriods k;  // these
  };
  void split(std::uint32_t node);
  [[nodiscard]] Relation relate(const Box& box, const Node& a, const Node& b) const;
  bool join_nodes(FriendSets& sets, std::uint32_t a, std::uint32_t b);
  bool join_leaves(FriendSets& sets, const Node& a, const Node& b, bool one_edge);
  void unite_all(FriendSets& sets, std::uint32_t a, std::uint32_t b, const FriendPeriods& k);

  FriendVector<FriendSpot>& spots_;
  std::vector<Node> nodes_;
};

}  // namespace merganser::cluster
