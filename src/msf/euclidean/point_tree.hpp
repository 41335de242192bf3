#pragma once
/// One tree of boxes over all points of a rank, which lie in its order as separate coordinates. (Crowded cells of a search
/// have trees of another kind: docs/decisions/006-two-trees.md.)
#include <cstdint>
#include <vector>

#include "src/msf/euclidean/metric.hpp"

namespace merganser::msf::euclidean {

/// A point on its way into a tree.
struct Item {
  Vec3 at;
  std::uint64_t id;
};

/// Equal points: the edge from one to that of least id, which stands for all of them.
struct Fold {
  std::uint64_t low;
  std::uint64_t high;
};

class PointTree {
 public:
  struct Node {
    Bounds box;
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t right;   ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;  ///< of the first node: itself
  };

  PointTree() = default;
  /// @param items  moved about
  /// @param leaf   most points in a leaf
  /// @param fold   groups of at least so many equal points become one; >= 2
  PointTree(std::vector<Item>& items, const Metric& metric, std::uint32_t leaf, std::uint32_t fold);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(id_.size()); }
  [[nodiscard]] const Metric& metric() const { return metric_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] Vec3 at(std::uint32_t v) const { return {x_[v], y_[v], z_[v]}; }
  [[nodiscard]] std::uint64_t id(std::uint32_t v) const { return id_[v]; }
  [[nodiscard]] const std::vector<std::uint64_t>& ids() const { return id_; }
  /// Coordinates of all points, with 16 that are infinite behind them.
  [[nodiscard]] const double* axis(std::size_t a) const { return a == 0 ? x_.data() : a == 1 ? y_.data() : z_.data(); }
  [[nodiscard]] double distance2(std::uint32_t a, std::uint32_t b) const { return metric_.distance2(at(a), at(b)); }
  [[nodiscard]] const std::vector<Fold>& folds() const { return folds_; }
  /// Points that stand for others, ascending.
  [[nodiscard]] const std::vector<std::uint32_t>& folded() const { return folded_; }
  [[nodiscard]] const Bounds& bounds() const { return bounds_; }
  /// Leaves, in order.
  [[nodiscard]] const std::vector<std::uint32_t>& leaves() const { return leaves_; }

 private:
  struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t parent;
    bool second;
  };
  void finish_leaf(std::vector<Item>& items, const Range& range, std::uint32_t node);
  void append(const Item& item);
  void fold_equal(Item* first, Item* last);
  void close();

  Metric metric_;
  std::uint32_t leaf_ = 16;
  std::uint32_t fold_ = 2;
  std::vector<Node> nodes_;
  std::vector<double> x_, y_, z_;
  std::vector<std::uint64_t> id_;
  std::vector<Fold> folds_;
  std::vector<std::uint32_t> folded_;
  std::vector<std::uint32_t> leaves_;
  Bounds bounds_;
};

}  // namespace merganser::msf::euclidean
