#pragma once
/// Bounding volume hierarchy (k-d tree of tight boxes) over all points of a rank, whose coordinates are stored in its order as a
/// structure of arrays. (The neighbour search of parcels has trees of another kind: docs/decisions/006-two-trees.md.)
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "merganser/nearest/metric.hpp"

namespace merganser::nearest {

/// Point with its id, as it travels to the rank that owns its place and as input of a PointTree.
template <std::size_t D>
struct IdentifiedPoint {
  Place<D> at;       ///< canonical coordinates
  std::uint64_t id;  ///< id, unique over all ranks
};

/// Edge of weight 0 between equal points: from the point of least id, which represents all of them in the tree, to
/// another one.
struct Fold {
  std::uint64_t low;   ///< id of the representing point
  std::uint64_t high;  ///< id of the other point
};

/// Node that a traversal of a tree of boxes has yet to visit, with a lower bound of the compared values to points in
/// its box.
struct Visit {
  std::uint32_t node;  ///< number of the node in the tree of boxes
  double d2;           ///< lower bound of the compared distances to points in its box
};

/// Traverses a tree of boxes from `top` to its leaves, near ones first. Calls leaf(node, bound) for leaves whose ancestors and
/// themselves satisfy within(bound) and open(node) when they are visited; within() may become stricter meanwhile.
/// @param distance2  lower bound for a box
/// @param todo       stack, reused between calls
void visit_leaves(const auto& nodes, std::uint32_t top, std::vector<Visit>& todo, const auto& distance2,
                  const auto& within, const auto& open, const auto& leaf) {
  // The nearer child is descended to at once, the other one pushed: leaves near the query come first and tighten within().
  todo.assign(1, {top, distance2(nodes[top].box)});
  while (!todo.empty()) {
    Visit next = todo.back();
    todo.pop_back();
    while (within(next.d2) && open(next.node)) {
      const auto& node = nodes[next.node];
      if (node.right == 0) {
        leaf(next.node, next.d2);
        break;
      }
      Visit far{node.right, distance2(nodes[node.right].box)};
      next = {next.node + 1, distance2(nodes[next.node + 1].box)};
      if (far.d2 < next.d2) std::swap(next, far);
      if (within(far.d2)) todo.push_back(far);
    }
  }
}

/// Traverses a tree of boxes as visit_leaves() does from the root, but begins at node `from` and goes on to the subtrees beside the way
/// from it to the root, which for what is near takes fewer steps.
/// @param covers  covers(node) is true only if no points outside of a node are within(); then the way up ends at that node
void visit_leaves_from(const auto& nodes, std::uint32_t from, std::vector<Visit>& todo, const auto& distance2,
                       const auto& within, const auto& open, const auto& covers, const auto& leaf) {
  visit_leaves(nodes, from, todo, distance2, within, open, leaf);
  for (std::uint32_t child = from; child != 0 && !covers(child); child = nodes[child].parent) {
    const std::uint32_t parent = nodes[child].parent;
    if (open(parent))
      visit_leaves(nodes, nodes[parent].right == child ? parent + 1 : nodes[parent].right, todo, distance2, within,
                   open, leaf);
  }
}

/// Tree of tight boxes (bounding volume hierarchy) over the points that this rank owns, with their coordinates and ids. Groups of
/// many equal points are folded: the point of least id represents all.
template <std::size_t D>
class PointTree {
 public:
  /// Node of the tree of boxes: a box and the range of its points.
  struct Node {
    Bounds<D> box;         ///< bounding box of the points
    std::uint32_t begin;   ///< first point of the box
    std::uint32_t end;     ///< behind the last point of the box
    std::uint32_t right;   ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;  ///< number of the parent; of the first node its own
  };

  PointTree() = default;
  /// Builds the tree of boxes over points in O(n log n). Local.
  /// @param items  the points; reordered in place
  /// @param leaf   most points in a leaf, up to kMaxLeafPoints
  /// @param fold   groups of at least this many equal points are folded into one; >= 2
  /// @param threads  threads that share the work where there are many points; the tree does not depend on it
  PointTree(std::vector<IdentifiedPoint<D>>& items, const Metric<D>& metric, std::uint32_t leaf, std::uint32_t fold,
            int threads = 1);

  /// Returns the number of points in the tree, without those that others represent.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(id_.size()); }
  /// Returns the metric by which the points of the tree are compared.
  [[nodiscard]] const Metric<D>& metric() const { return metric_; }
  /// Returns the nodes of the tree of boxes over this rank's points, depth first from the root.
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Returns the coordinates of point v, numbered in the order of the tree.
  [[nodiscard]] Place<D> at(std::uint32_t v) const {
    Place<D> place;
    for (std::size_t a = 0; a < D; ++a) place[a] = axes_[a][v];
    return place;
  }
  /// Returns the id of point v of the tree.
  [[nodiscard]] std::uint64_t id(std::uint32_t v) const { return id_[v]; }
  /// Returns the ids of all points, in the order of the tree.
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return id_; }
  /// Returns the coordinates of all points of the tree on an axis, followed by 16 times infinity, so that vector loads may read beyond
  /// the last point.
  [[nodiscard]] const double* axis(std::size_t a) const { return axes_[a].data(); }
  /// Returns the distance of points a and b of the tree, as compared.
  [[nodiscard]] double distance2(std::uint32_t a, std::uint32_t b) const { return metric_.distance2(at(a), at(b)); }
  /// Returns the edges of weight 0 between the points that are left out of the tree (folded) and the equal points that represent them.
  [[nodiscard]] const std::vector<Fold>& folds() const { return folds_; }
  /// Returns the points of the tree that represent equal points left out of it, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& representatives() const { return folded_; }
  /// Returns the bounding box of all points of this rank's tree.
  [[nodiscard]] const Bounds<D>& bounds() const { return bounds_; }
  /// Returns whether the points of other nodes than `node` and those below it are all farther than `d2`, as compared, from every place in
  /// `inner`, a part of the node's box. May return false although they are.
  [[nodiscard]] bool covers(std::uint32_t node, const Bounds<D>& inner, double d2) const {
    if (!metric_.plain() || metric_.sphere) return false;
    // Nodes are separated by planes: the other points are beyond a side of the tight box, or on it where all points are at one place.
    const Bounds<D>& outer = nodes_[node].box;
    bool some = false;
    bool all = true;
    for (std::size_t a = 0; a < D; ++a) {
      const double below = inner.lower[a] - outer.lower[a];
      const double above = outer.upper[a] - inner.upper[a];
      const bool flat = bounds_.extent(a) == 0;  // no point is beyond a side
      some |= !flat;
      all &= flat | ((below * below > d2) & (above * above > d2));
    }
    return some && all;
  }
  /// Returns the numbers of the nodes that are leaves, in the order of their points.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return leaves_; }

 private:
  /// Range of input points that becomes a node of the tree.
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;     ///< node of which it becomes a child
    bool second;              ///< it becomes the second child
    std::uint32_t divisions;  ///< number of nested divisions (class Division) that contain the range
    std::uint32_t divided;    ///< its node in the innermost division; 0: it has been split off since
    std::uint32_t
        undivided;  ///< number of points of the nearest range above that could not be divided; 0: there is none
  };
  /// Takes memory for a tree of so many points.
  void reserve(std::size_t points);
  using Children = std::pair<Range, Range>;
  class Divisions;
  /// Builds the part of the tree over a range of the input, after the nodes that there are.
  void build(std::vector<IdentifiedPoint<D>>& items, const Range& top, Divisions& divisions, int threads);
  /// Appends the node of a range of the input, and partitions the range for its children. @return their ranges; nothing: the node is a
  /// leaf
  std::optional<Children> add_node(std::vector<IdentifiedPoint<D>>& items, Range range, Divisions& divisions);
  /// Appends another part of the tree as the second child of node `parent`.
  void append(const PointTree& other, std::uint32_t parent);
  /// Makes a node a leaf of the tree with the points of a range of the input.
  void finish_leaf(std::vector<IdentifiedPoint<D>>& items, const Range& range, std::uint32_t node);
  /// Appends a point to the tree during its construction: to the coordinates by axis and the ids.
  void append(const IdentifiedPoint<D>& item);
  /// Appends the points of a leaf to the tree in the order of their places, folding groups of fold_ or more equal ones.
  void fold_equal(IdentifiedPoint<D>* first, IdentifiedPoint<D>* last);
  /// Completes the tree: appends padding to the coordinates, and sets the ranges of points of inner nodes.
  void finish();

  Metric<D> metric_;
  std::uint32_t leaf_ = 16;                  ///< most points in a leaf
  std::uint32_t fold_ = 2;                   ///< fewest equal points that are folded
  std::vector<Node> nodes_;                  ///< tree of boxes, depth first
  std::array<std::vector<double>, D> axes_;  ///< by axis: coordinates of the points
  std::vector<std::uint64_t> id_;            ///< by point: its id
  std::vector<Fold> folds_;                  ///< edges to the points that others represent
  std::vector<std::uint32_t> folded_;        ///< points that represent others
  std::vector<std::uint32_t> leaves_;        ///< nodes that are leaves
  Bounds<D> bounds_;                         ///< box of all points
};

}  // namespace merganser::nearest
