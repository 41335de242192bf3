// k-d trees of crowded cells in the search of friends (friends_tree.hpp).
#include "src/cluster/friends_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace merganser::cluster {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

/// Returns a coordinate of a spot.
double spot_coordinate(const FriendSpot& s, std::size_t axis) { return axis == 0 ? s.x : axis == 1 ? s.y : s.z; }

/// Bounds of the separation of two coordinates on one axis, one of each of two ranges, and the period of all such pairs.
struct AxisRelation {
  double least;
  double most;
  bool uniform;
  std::int32_t k;
};

/// Relates the range of a to that of b on one axis. Subtraction and squares are monotone in floating point, so the bounds
/// hold for the rounded distances of pairs.
AxisRelation relate_axis(const Box& box, int axis, double a_lower, double a_upper, double b_lower, double b_upper) {
  const double low = b_lower - a_upper;  // of b - a
  const double high = b_upper - a_lower;
  const double most = std::max(std::fabs(low), std::fabs(high));
  const bool touches = low <= 0 && high >= 0;
  const double least = touches ? 0 : std::min(std::fabs(low), std::fabs(high));
  const std::size_t i = static_cast<std::size_t>(axis);
  if (!box.periodic[i]) return {least, most, true, 0};
  const double half = 0.5 * box.extent[i];
  const double over_most = std::fabs(box.extent[i] - most);  // the separation the other way round
  const double over_least = std::fabs(box.extent[i] - least);
  if (low >= -half && high <= half) return {least, most, true, 0};
  if (low > half) return {over_most, over_least, true, -1};
  if (high < -half) return {over_most, over_least, true, 1};
  return {std::min(least, over_most), kUnbounded, false, 0};
}

}  // namespace

// Tree of one cell, built in place by splits at the median of the widest axis.
std::uint32_t FriendTrees::build(std::uint32_t first, std::uint32_t last) {
  const auto root = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({{}, {}, first, last, 0, false});
  split(root);
  return root;
}

/// Computes the bounds of a node and splits it until leaves are small, or all spots are in one point.
void FriendTrees::split(std::uint32_t node) {
  const std::uint32_t first = nodes_[node].first;
  const std::uint32_t last = nodes_[node].last;
  Vec3 lower{kUnbounded, kUnbounded, kUnbounded};
  Vec3 upper{-kUnbounded, -kUnbounded, -kUnbounded};
  for (std::uint32_t i = first; i < last; ++i)
    for (std::size_t a = 0; a < 3; ++a) {
      lower[a] = std::min(lower[a], spot_coordinate(spots_[i], a));
      upper[a] = std::max(upper[a], spot_coordinate(spots_[i], a));
    }
  nodes_[node].lower = lower;
  nodes_[node].upper = upper;
  std::size_t axis = 0;
  for (std::size_t a = 1; a < 3; ++a)
    if (upper[a] - lower[a] > upper[axis] - lower[axis]) axis = a;
  if (last - first <= kLeaf || !(upper[axis] > lower[axis])) return;
  const std::uint32_t middle = first + (last - first) / 2;
  std::nth_element(
      spots_.begin() + first, spots_.begin() + middle, spots_.begin() + last,
      [axis](const FriendSpot& p, const FriendSpot& q) { return spot_coordinate(p, axis) < spot_coordinate(q, axis); });
  const auto left = static_cast<std::uint32_t>(nodes_.size());
  nodes_[node].left = left;
  nodes_.push_back({{}, {}, first, middle, 0, false});
  nodes_.push_back({{}, {}, middle, last, 0, false});
  split(left);
  split(left + 1);
}

/// Relates two nodes: bounds of the squared distances, and whether all pairs have the same periods.
FriendTrees::Relation FriendTrees::relate(const Box& box, const Node& a, const Node& b) const {
  AxisRelation r[3];
  for (std::size_t i = 0; i < 3; ++i)
    r[i] = relate_axis(box, static_cast<int>(i), a.lower[i], a.upper[i], b.lower[i], b.upper[i]);
  return {(r[0].least * r[0].least + r[1].least * r[1].least) + r[2].least * r[2].least,
          (r[0].most * r[0].most + r[1].most * r[1].most) + r[2].most * r[2].most,
          r[0].uniform && r[1].uniform && r[2].uniform,
          {r[0].k, r[1].k, r[2].k}};
}

// Friends within a node: of its children, then between them.
void FriendTrees::connect(FriendSets& sets, std::uint32_t node) {
  const Node n = nodes_[node];
  const Relation self = relate(sets.box(), n, n);
  if (self.uniform && self.most2 <= sets.length2()) {
    for (std::uint32_t i = n.first + 1; i < n.last; ++i) sets.unite(n.first, i);
    nodes_[node].one = true;
    return;
  }
  if (n.left != 0) {
    connect(sets, n.left);
    connect(sets, n.left + 1);
    join(sets, n.left, n.left + 1);
    nodes_[node].one =
        nodes_[n.left].one && nodes_[n.left + 1].one && sets.find(n.first) == sets.find(nodes_[n.left].last);
    return;
  }
  bool one = true;
  for (std::uint32_t i = n.first; i < n.last; ++i)
    for (std::uint32_t j = i + 1; j < n.last; ++j)
      if (sets.are_friends(i, j)) sets.connect(i, j);
  for (std::uint32_t i = n.first + 1; i < n.last; ++i) one = one && sets.find(i) == sets.find(n.first);
  nodes_[node].one = one;
}

/// Unites two nodes of which every pair are friends. @param k  periods of all pairs
void FriendTrees::unite_all(FriendSets& sets, std::uint32_t a, std::uint32_t b, const FriendPeriods& k) {
  Node& p = nodes_[a];
  Node& q = nodes_[b];
  sets.connect(p.first, q.first, k);
  if (!p.one)
    for (std::uint32_t i = p.first + 1; i < p.last; ++i) sets.connect(i, q.first, k);
  if (!q.one)
    for (std::uint32_t j = q.first + 1; j < q.last; ++j) sets.connect(p.first, j, k);
  if (k == FriendPeriods{0, 0, 0}) p.one = q.one = true;
}

/// Compares all pairs of two leaves. @param one_edge  stops at the first pair of friends
bool FriendTrees::join_leaves(FriendSets& sets, const Node& a, const Node& b, bool one_edge) {
  // Spots in one point, of which there may be many, have the same friends.
  const std::uint32_t a_last = a.one && a.lower == a.upper ? a.first + 1 : a.last;
  const std::uint32_t b_last = b.one && b.lower == b.upper ? b.first + 1 : b.last;
  for (std::uint32_t i = a.first; i < a_last; ++i)
    for (std::uint32_t j = b.first; j < b_last; ++j)
      if (sets.are_friends(i, j)) {
        sets.connect(i, j);
        if (one_edge) return true;
      }
  return false;
}

/// Connects the friends of two nodes. @return true if each was one set, and no other pair of theirs connects anything more:
/// a pair was found, and all have the same periods, or the set winds round the box
bool FriendTrees::join_nodes(FriendSets& sets, std::uint32_t a, std::uint32_t b) {
  const Node p = nodes_[a];
  const Node q = nodes_[b];
  const Relation r = relate(sets.box(), p, q);
  if (r.least2 > sets.length2()) return false;
  if (p.one && q.one && sets.wind_together(p.first, q.first)) return true;
  const bool one_edge = r.uniform && p.one && q.one;
  if (one_edge && r.k == FriendPeriods{0, 0, 0} && sets.find(p.first) == sets.find(q.first)) return true;
  if (r.uniform && r.most2 <= sets.length2()) {
    unite_all(sets, a, b, r.k);
    return one_edge;
  }
  if (p.left == 0 && q.left == 0) return join_leaves(sets, p, q, one_edge);
  const bool split_first = q.left == 0 || (p.left != 0 && p.last - p.first >= q.last - q.first);
  const std::uint32_t children = split_first ? p.left : q.left;
  for (std::uint32_t c = children; c < children + 2; ++c) {
    if (split_first ? p.one : q.one) nodes_[c].one = true;
    const bool found = split_first ? join_nodes(sets, c, b) : join_nodes(sets, a, c);
    if (found && one_edge) return true;
  }
  return false;
}

}  // namespace merganser::cluster
