#pragma once
/// Queries of one rank's points by places of new points, with a tree of boxes: k nearest points, and joints.
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/msf/euclidean/fitted.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {

/// Tree of boxes over one rank's points of a set, with their core distances, for queries by places. Local; queries may run
/// concurrently.
template <std::size_t D>
class NearSearch : Pinned {
 public:
  /// Builds the tree of boxes. Equal points stay apart, since each may be an answer.
  /// @param items  points of this rank; reordered @param core_of  returns the core distance of the point of an id; not called unless
  /// `join`, without which join_here() must not be called
  NearSearch(std::vector<IdentifiedPoint<D>>& items, const Metric<D>& metric, std::uint32_t leaf, bool join,
             const auto& core_of)
      : tree_(items, metric, leaf, kNone), leaves_(leaf_points(tree_, nullptr)) {
    if (!join) return;
    cores_.resize(tree_.size());
    for (std::uint32_t v = 0; v < tree_.size(); ++v) cores_[v] = core_of(tree_.id(v));
  }

  /// Returns the tree of boxes over this rank's points of the set.
  [[nodiscard]] const PointTree<D>& tree() const { return tree_; }
  /// Returns the core distance of point v of the tree.
  [[nodiscard]] double core(std::uint32_t v) const { return cores_[v]; }

  /// Visits the leaves of this rank's tree that may have points within `most()` of a place, near ones first, and calls
  /// take(point, compared) for such points. most() may shrink meanwhile.
  void visit_near(const Place<D>& at, const auto& most, const auto& take) const {
    // Points at exactly most() count: of equal distances the least id wins.
    if (tree_.nodes().empty()) return;
    std::array<double, kMaxLeafPoints + 8> to;
    std::vector<Visit> todo;
    const auto search_leaf = [&](std::uint32_t leaf, double) {
      const auto& node = tree_.nodes()[leaf];
      nearest::leaf_distances(leaves_, at.data(), most(), node.begin, node.end, to.data());
      for (std::uint32_t v = node.begin; v < node.end; ++v)
        if (to[v - node.begin] <= most()) take(v, to[v - node.begin]);
    };
    visit_leaves(
        tree_.nodes(), 0, todo, [&](const Bounds<D>& box) { return tree_.metric().distance2(at, box); },
        [&](double d2) { return d2 <= most(); }, [](std::uint32_t) { return true; }, search_leaf);
  }

  /// Inserts the points of this rank nearest to a place, up to the compared value `limit`, into a sorted row of k nearest points.
  void nearest_here(const Place<D>& at, double limit, std::size_t k, Near* row) const {
    visit_near(
        at, [&] { return std::min(limit, row[k - 1].d2); },
        [&](std::uint32_t v, double d2) {
          insert_near(row, k, {d2, tree_.id(v)});
        });
  }

  /// Replaces `best` by the best joint (edge of least mutual reachability) from a new point's place to this rank's points, if that
  /// comes before it.
  void join_here(const Place<D>& at, Joint& best) const {
    const Metric<D>& metric = tree_.metric();
    double most = metric.compared_above(best.reachability);
    visit_near(
        at, [&] { return most; },
        [&](std::uint32_t v, double d2) {
          Joint joint{tree_.id(v), metric.weight(d2), best.core, 0};
          joint.reachability = std::max({joint.distance, best.core, cores_[v]});
          if (!joins_before(joint, best)) return;
          best = joint;
          most = metric.compared_above(best.reachability);
        });
  }

 private:
  PointTree<D> tree_;           ///< tree of boxes over the points of this rank
  nearest::LeafPoints leaves_;  ///< view of the tree's points for scans of leaves
  std::vector<double> cores_;   ///< core distances (not squared), in the order of the tree; empty without joints
};

}  // namespace merganser::msf::euclidean
