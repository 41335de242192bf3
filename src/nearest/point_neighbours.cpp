// k nearest neighbours of all points of a rank's tree (all-kNN), leaf by leaf, on several threads.
#include "merganser/nearest/point_neighbours.hpp"

#include <algorithm>

#include "merganser/base/parallel.hpp"

namespace merganser::nearest {
namespace {

/// Search for the nearest neighbours of the points of one leaf of a point tree at a time, with buffers that are reused. One per
/// thread.
template <std::size_t D>
class LeafSearch {
 public:
  LeafSearch(const PointTree<D>& tree, const NeighbourSearch& search)
      : tree_(tree), keep_((search.keep + 7) / 8 * 8), leaves_(leaf_points(tree, search.core)) {}

  /// Finds the nearest neighbours of the points of a leaf: scans the leaf itself, then the sibling subtrees on the way to the root,
  /// so that near boxes come first and shrink the search radius early. The result is valid until the next call.
  [[nodiscard]] LeafResult operator()(std::uint32_t leaf) {
    const auto& node = tree_.nodes()[leaf];
    begin(node);
    scan(node);
    const auto& nodes = tree_.nodes();
    for (std::uint32_t child = leaf; child != 0; child = nodes[child].parent) {
      const std::uint32_t parent = nodes[child].parent;
      visit(node, nodes[parent].right == child ? parent + 1 : nodes[parent].right);
    }
    return {lists_.first, lists_.count, keep_, lists_.distance2, lists_.point};
  }

 private:
  /// Clears the neighbour lists and makes one for each point of a leaf.
  void begin(const typename PointTree<D>::Node& node) {
    const std::uint32_t count = node.end - node.begin;
    const std::size_t rows = static_cast<std::size_t>(count) * keep_;
    distance2_.assign(rows + 8, kInfinity);
    point_.assign(rows + 8, 0);
    limit_.assign(count + 16, -1);
    std::fill_n(limit_.begin(), count, kInfinity);
    lists_ = {node.begin, count, keep_, aligned(distance2_.data()), aligned(point_.data()), limit_.data()};
  }
  /// Returns the first address from p on that is aligned to 64 bytes, in a buffer of neighbour lists.
  template <class T>
  static T* aligned(T* p) {
    return p + (64 - reinterpret_cast<std::uintptr_t>(p) % 64) % 64 / sizeof(T);
  }

  /// Updates the neighbour lists by the points of a leaf, and worst_, the largest squared distance that still matters.
  void scan(const typename PointTree<D>::Node& node) {
    worst_ = scan_leaf(leaves_, lists_, node.box.lower.data(), node.box.upper.data(), node.begin, node.end);
  }

  /// Scans the leaves below node `top` that may have points within worst_ of the leaf `from` whose neighbours are searched.
  void visit(const typename PointTree<D>::Node& from, std::uint32_t top) {
    visit_leaves(
        tree_.nodes(), top, todo_, [&](const Bounds<D>& box) { return tree_.metric().distance2(from.box, box); },
        [&](double d2) { return d2 <= worst_; }, [](std::uint32_t) { return true; },
        [&](std::uint32_t leaf, double) { scan(tree_.nodes()[leaf]); });
  }

  const PointTree<D>& tree_;
  std::uint32_t keep_;                // length of a neighbour list, a multiple of 8
  LeafPoints leaves_;                 // view of the tree's points for scans
  LeafLists lists_{};                 // neighbour lists of the points of the leaf, in the buffers below
  std::vector<double> distance2_;     // compared distances of the neighbours
  std::vector<std::uint64_t> point_;  // neighbours, as numbers of points of the tree
  std::vector<double> limit_;         // by point: distance that a further neighbour must not exceed
  std::vector<Visit> todo_;           // stack of the traversal
  double worst_ = 0;                  // greatest limit of the points of the leaf
};

}  // namespace

// All-kNN over a tree of points: threads take leaves, and report progress on the calling thread alone.
template <std::size_t D>
void detail::AllNeighbours<D>::find(const PointTree<D>& tree, const NeighbourSearch& search,
                                    const std::function<void(const LeafResult&)>& store) {
  // Progress is reported by the calling thread alone, so that the callback need not be thread-safe.
  constexpr std::size_t kOften = 512;
  const auto& leaves = tree.leaves();
  const auto caller = std::this_thread::get_id();
  std::atomic<std::size_t> done{0};
  share_loop(search.threads, leaves.size(), [&](std::size_t begin, std::size_t end) {
    LeafSearch<D> leaf_search(tree, search);
    for (std::size_t i = begin; i < end; ++i) {
      store(leaf_search(leaves[i]));
      const std::size_t all = done.fetch_add(1, std::memory_order_relaxed);
      if (i % kOften == 0 && search.progress && std::this_thread::get_id() == caller)
        search.progress(static_cast<double>(all) / static_cast<double>(leaves.size()));
    }
  });
}

MERGANSER_FOR_AXES(MERGANSER_CLASS, struct detail::AllNeighbours)

}  // namespace merganser::nearest
