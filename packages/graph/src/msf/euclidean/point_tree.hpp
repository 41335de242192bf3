#pragma once
/// One tree of boxes over all points of a rank, which lie in its order as separate coordinates. (Crowded cells of a search
/// have trees of another kind: docs/decisions/006-two-trees.md.)
#include <cstdint>
#include <vector>

#include "src/msf/euclidean/metric.hpp"

namespace merganser::msf::euclidean {

/// A point on its way into a tree.
template <std::size_t D>
struct Item {
  Place<D> at;
  std::uint64_t id;
};

/// Equal points: the edge from one to that of least id, which stands for all of them.
struct Fold {
  std::uint64_t low;
  std::uint64_t high;
};

/// A node that is to be looked at, and a lower bound of what is compared to anything in its box.
struct Visit {
  std::uint32_t node;
  double d2;
};

/// Goes down a tree of boxes to the leaves below `top`, near ones first: leaf(node, bound) where within(bound) and
/// open(node) still hold when its turn comes; within() may become stricter.
/// @param distance2  lower bound for a box
/// @param todo       memory
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

template <std::size_t D>
class PointTree {
 public:
  struct Node {
    Bounds<D> box;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t right;   ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;  ///< of the first node: itself
  };

  PointTree() = default;
  /// @param items  moved about
  /// @param leaf   most points in a leaf
  /// @param fold   groups of at least so many equal points become one; >= 2
  PointTree(std::vector<Item<D>>& items, const Metric<D>& metric, std::uint32_t leaf, std::uint32_t fold);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(id_.size()); }
  [[nodiscard]] const Metric<D>& metric() const { return metric_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] Place<D> at(std::uint32_t v) const {
    Place<D> place;
    for (std::size_t a = 0; a < D; ++a) place[a] = axes_[a][v];
    return place;
  }
  [[nodiscard]] std::uint64_t id(std::uint32_t v) const { return id_[v]; }
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return id_; }
  /// Coordinates of all points, with 16 that are infinite behind them.
  [[nodiscard]] const double* axis(std::size_t a) const { return axes_[a].data(); }
  [[nodiscard]] double distance2(std::uint32_t a, std::uint32_t b) const { return metric_.distance2(at(a), at(b)); }
  [[nodiscard]] const std::vector<Fold>& folds() const { return folds_; }
  /// Points that stand for others, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& folded() const { return folded_; }
  [[nodiscard]] const Bounds<D>& bounds() const { return bounds_; }
  /// Leaves, in order.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return leaves_; }

 private:
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    bool second;
  };
  void finish_leaf(std::vector<Item<D>>& items, const Range& range, std::uint32_t node);
  void append(const Item<D>& item);
  void fold_equal(Item<D>* first, Item<D>* last);
  void close();

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
