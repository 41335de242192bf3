#pragma once
/// Bounding volume hierarchy (k-d tree of tight boxes) over all points of a rank, whose coordinates are stored in its order as a
/// structure of arrays. (The neighbour search of parcels has trees of another kind: docs/decisions/006-two-trees.md.)
#include <cstdint>
#include <vector>

#include "src/msf/euclidean/metric.hpp"

namespace merganser::msf::euclidean {

/// Point as input of a PointTree: coordinates and id.
template <std::size_t D>
struct Item {
  Place<D> at;
  std::uint64_t id;
};

/// Edge of weight 0 between equal points: from the point of least id, which represents all of them in the tree, to
/// another one.
struct Fold {
  std::uint64_t low;
  std::uint64_t high;
};

/// Node that a traversal of a tree of boxes has yet to visit, with a lower bound of the compared values to points in
/// its box.
struct Visit {
  std::uint32_t node;
  double d2;
};

/// Traverses a tree of boxes from `top` to its leaves, near ones first. Calls leaf(node, bound) for leaves whose ancestors and
/// themselves satisfy within(bound) and open(node) when they are visited; within() may become stricter meanwhile.
/// @param distance2  lower bound for a box
/// @param todo       stack, reused between calls
void visit_leaves(const auto& nodes, std::uint32_t top, std::vector<Visit>& todo, const auto& distance2,
                  const auto& within, const auto& open, const auto& leaf) {
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

/// Tree of tight boxes over this rank's points. Groups of many equal points are folded: the point of least id
/// represents all.
template <std::size_t D>
class PointTree {
 public:
  /// Node of the tree: a box and the range of its points.
  struct Node {
    Bounds<D> box;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t right;   ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;  ///< number of the parent; of the first node its own
  };

  PointTree() = default;
  /// Builds the tree in O(n log n). Local.
  /// @param items  reordered in place
  /// @param leaf   most points in a leaf, up to kMaxLeafPoints
  /// @param fold   groups of at least this many equal points are folded into one; >= 2
  PointTree(std::vector<Item<D>>& items, const Metric<D>& metric, std::uint32_t leaf, std::uint32_t fold);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(id_.size()); }
  [[nodiscard]] const Metric<D>& metric() const { return metric_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  /// Returns the coordinates of point v.
  [[nodiscard]] Place<D> at(std::uint32_t v) const {
    Place<D> place;
    for (std::size_t a = 0; a < D; ++a) place[a] = axes_[a][v];
    return place;
  }
  [[nodiscard]] std::uint64_t id(std::uint32_t v) const { return id_[v]; }
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return id_; }
  /// Returns the coordinates of all points on an axis, followed by 16 infinite ones.
  [[nodiscard]] const double* axis(std::size_t a) const { return axes_[a].data(); }
  [[nodiscard]] double distance2(std::uint32_t a, std::uint32_t b) const { return metric_.distance2(at(a), at(b)); }
  [[nodiscard]] const std::vector<Fold>& folds() const { return folds_; }
  /// Returns the points that represent others, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& folded() const { return folded_; }
  [[nodiscard]] const Bounds<D>& bounds() const { return bounds_; }
  /// Returns the leaves, in the order of their points.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return leaves_; }

 private:
  /// Range of items that becomes a node.
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    bool second;
  };
  /// Makes a node a leaf with the items of a range.
  void finish_leaf(std::vector<Item<D>>& items, const Range& range, std::uint32_t node);
  /// Appends a point to the arrays.
  void append(const Item<D>& item);
  /// Appends the items of a leaf in the order of their places, folding groups of equal ones.
  void fold_equal(Item<D>* first, Item<D>* last);
  /// Appends padding, and sets the ranges of inner nodes.
  void finish();

  Metric<D> metric_;
  std::uint32_t leaf_ = 16;
  std::uint32_t fold_ = 2;
  std::vector<Node> nodes_;
  std::array<std::vector<double>, D> axes_;
  std::vector<std::uint64_t> id_;
  std::vector<Fold> folds_;
  std::vector<std::uint32_t> folded_;
  std::vector<std::uint32_t> leaves_;
  Bounds<D> bounds_;
};

}  // namespace merganser::msf::euclidean
