// k nearest neighbours of all points of a rank's tree (all-kNN), leaf by leaf, on several threads.
#include "merganser/nearest/point_neighbours.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "merganser/base/parallel.hpp"
#include "src/nearest/filter_lists.hpp"
#include "src/nearest/key_lists.hpp"

namespace merganser::nearest {
namespace {

/// Search for the nearest neighbours of the points of one leaf of a point tree at a time, with buffers that are reused. One per
/// thread.
template <std::size_t D>
class LeafSearch {
 public:
  LeafSearch(const PointTree<D>& tree, const NeighbourSearch& search, const FilterPoints* copy)
      : tree_(tree),
        keep_((search.keep + 7) / 8 * 8),
        wanted_(search.keep),
        leaves_(leaf_points(tree, search.core)),
        copy_(copy),
        keys_(finds_by_keys(tree, search)),
        count_(search.visits) {}
  LeafSearch(const LeafSearch&) = delete;
  LeafSearch& operator=(const LeafSearch&) = delete;
  ~LeafSearch() {
    if (count_ != nullptr) *count_ += visits_;
  }

  /// Returns whether a search for nearest neighbours goes by lists of keys: up to three axes, short lists and plain distances.
  static bool finds_by_keys(const PointTree<D>& tree, const NeighbourSearch& search) {
    return D <= 3 && search.core == nullptr && search.keep <= kMaxKeySlots && tree.metric().plain() &&
           !tree.metric().sphere;
  }

  /// Finds the nearest neighbours of the points of a leaf: scans the leaf itself, then the sibling subtrees on the way to the root,
  /// so that near boxes come first and shrink the search radius early. The result is valid until the next call.
  [[nodiscard]] LeafResult operator()(std::uint32_t leaf) {
    reserve(tree_.nodes()[leaf]);
    if (!search_by_keys(leaf) && !search_filtered(leaf)) {
      clear();
      worst_ = kInfinity;
      visit_all(leaf, [this](const Node& near) {
        worst_ = scan_leaf(leaves_, lists_, near.box.lower.data(), near.box.upper.data(), near.begin, near.end);
      });
    }
    return {lists_.first, lists_.count, keep_, lists_.distance2, lists_.point};
  }

 private:
  using Node = typename PointTree<D>::Node;

  /// Makes room for a neighbour list of each point of a leaf.
  void reserve(const typename PointTree<D>::Node& node) {
    const std::uint32_t count = node.end - node.begin;
    const std::size_t room = static_cast<std::size_t>(count) * keep_ + 8;
    if (distance2_.size() < room) {
      distance2_.resize(room);
      point_.resize(room);
      limit_.resize(count + std::size_t{16});
    }
    lists_ = {node.begin, count, keep_, aligned(distance2_.data()), aligned(point_.data()), limit_.data()};
  }
  /// Empties the neighbour lists.
  void clear() {
    const std::size_t entries = static_cast<std::size_t>(lists_.count) * keep_;
    std::fill_n(lists_.distance2, entries, kInfinity);
    std::fill_n(lists_.point, entries, 0);
    std::fill_n(lists_.limit, lists_.count, kInfinity);
    std::fill_n(lists_.limit + lists_.count, 16, -1);
  }
  /// Returns the first address from p on that is aligned to 64 bytes, in a buffer of neighbour lists.
  template <class T>
  static T* aligned(T* p) {
    return p + (64 - reinterpret_cast<std::uintptr_t>(p) % 64) % 64 / sizeof(T);
  }

  /// Calls scan(node) for the leaf whose neighbours are searched, then for the leaves that may have points within worst_ of it,
  /// subtree after subtree on the way to the root.
  void visit_all(std::uint32_t leaf, const auto& scan) {
    const auto& nodes = tree_.nodes();
    const Bounds<D>& from = nodes[leaf].box;
    scan(nodes[leaf]);
    ++visits_;
    for (std::uint32_t child = leaf; child != 0; child = nodes[child].parent) {
      const std::uint32_t parent = nodes[child].parent;
      visit_leaves(
          nodes, nodes[parent].right == child ? parent + 1 : nodes[parent].right, todo_,
          [&](const Bounds<D>& box) { return tree_.metric().distance2(from, box); },
          [&](double d2) { return d2 <= worst_; }, [](std::uint32_t) { return true; },
          [&](std::uint32_t near, double) {
            scan(nodes[near]);
            ++visits_;
          });
    }
  }

  /// Finds the nearest neighbours of the points of a leaf with the single-precision filter. @return false where it is not used, or
  /// leaves the neighbours of a point open; then nothing has been found
  [[nodiscard]] bool search_filtered(std::uint32_t leaf) {
    // Where ties or wide ranges of scales defeat the filter, ever more leaves go without it.
    if (copy_ == nullptr) return false;
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    begin_filter(leaves_, *copy_, copy_->leaf_of(leaf), wanted_, filter_);
    worst_ = kInfinity;
    visit_all(leaf, [this](const Node& near) {
      const auto other = copy_->leaf_of(static_cast<std::uint32_t>(&near - tree_.nodes().data()));
      filter_leaf(*copy_, other, near.box.lower.data(), near.box.upper.data(), filter_);
      // Without the filter no leaf is visited for the slack alone: nothing else is visited with it. Nor where candidates overflow.
      worst_ =
          filter_.full || filter_.blind() ? -1 : static_cast<double>(filter_.worst) / copy_->scale() / copy_->scale();
    });
    const bool found = worst_ >= 0 && select_exactly();
    misses_ = found ? misses_ / 2 : std::min(2 * misses_ + 1, 63U);
    if (!found) skip_ = misses_;
    return found;
  }

  /// Finds the nearest neighbours of the points of a leaf with lists of keys. @return false where that is not used, distances have no
  /// scale for keys, too many candidates are near, or rounding leaves the neighbours of a point open; then nothing has been found
  [[nodiscard]] bool search_by_keys(std::uint32_t leaf) {
    if (!keys_) return false;
    if (skip_ > 0) {
      --skip_;
      return false;
    }
    const bool found = select_by_keys(leaf);
    misses_ = found ? misses_ / 2 : std::min(2 * misses_ + 1, 63U);
    if (!found) skip_ = misses_;
    return found;
  }

  /// Does what search_by_keys() does.
  [[nodiscard]] bool select_by_keys(std::uint32_t leaf) {
    const Node& node = tree_.nodes()[leaf];
    // The leaf itself may be one place.
    const Bounds<D>& around = tree_.nodes()[node.parent].box;
    if (!begin_keys(leaves_, node.box.lower.data(), node.box.upper.data(), around.extent(around.widest()),
                    tree_.bounds().extent(2) == 0, wanted_, node.begin, node.end, key_lists_))
      return false;
    worst_ = kInfinity;
    visit_all(leaf, [this](const Node& near) {
      scan_keys(leaves_, near.box.lower.data(), near.box.upper.data(), near.begin, near.end, key_lists_);
      worst_ = key_lists_.worst;
    });
    if (!key_lists_.has_room()) return false;
    for (std::uint32_t q = 0; q < lists_.count; ++q)
      if (!select_by_keys_for(q)) return false;
    return true;
  }

  /// Writes the list of nearest neighbours of query q from its keys, in the order of exact distances. @return false if it may lack one
  [[nodiscard]] bool select_by_keys_for(std::uint32_t q) {
    double* const distances = lists_.distance2 + static_cast<std::size_t>(q) * keep_;
    std::uint64_t* const points = lists_.point + static_cast<std::size_t>(q) * keep_;
    const Place<D> at = tree_.at(lists_.first + q);
    const std::uint32_t* key = key_lists_.list(q);
    const std::uint32_t all = std::min(wanted_, tree_.size() - 1);
    for (std::uint32_t i = 0; i < all; ++i, key += key_lists_.lanes) {
      if (*key == kNoKey) return false;
      const std::uint32_t point = key_lists_.point(q, *key);
      Place<D> s = tree_.at(point);
      for (std::size_t a = 0; a < D; ++a) s[a] = at[a] - s[a];
      double d2 = s[0] * s[0];  // as Metric::distance2() has it in a space without periods
      for (std::size_t a = 1; a < D; ++a) d2 += s[a] * s[a];
      const auto before = [&](std::uint32_t other) {
        return d2 != distances[other] ? d2 < distances[other]
                                      : tree_.id(point) < tree_.id(static_cast<std::uint32_t>(points[other]));
      };
      std::uint32_t to = i;
      for (; to > 0 && before(to - 1); --to) {
        distances[to] = distances[to - 1];
        points[to] = points[to - 1];
      }
      distances[to] = d2;
      points[to] = point;
    }
    std::fill(distances + all, distances + wanted_, kInfinity);
    std::fill(points + all, points + wanted_, 0);
    return all == 0 || key_lists_.holds(q, all, distances[all - 1]);
  }

  /// Selects the nearest neighbours from the candidates of the filter by exact distances, (distance, id). @return false if a list may
  /// lack one
  [[nodiscard]] bool select_exactly() {
    // All candidates are counted before the first list is written: the search without the filter begins with empty ones.
    if (filter_.full) return false;
    for (std::uint32_t q = 0; q < filter_.count; ++q)
      if (const std::uint32_t size = filter_.remove_far(q); size < wanted_ || size > kMaxCandidates) return false;
    for (std::uint32_t q = 0; q < filter_.count; ++q) select_for(q);
    return true;
  }

  /// Writes the list of nearest neighbours of query q from its candidates.
  void select_for(std::uint32_t q) {
    std::array<Neighbour, kMaxFilterKeep + kMaxCandidates> found;
    const Place<D> at = tree_.at(filter_.first + q);
    const std::uint32_t size = filter_.size[q];
    // In the order of filtered distances first, which is that of exact ones up to near ties: a rank is a count of smaller distances,
    // without branches on the outcomes. Candidates beyond the least distances come last.
    std::uint32_t last = wanted_;
    for (std::uint32_t i = 0; i < wanted_; ++i) found[i].point = kNoPoint;
    for (std::uint32_t i = 0; i < size; ++i) {
      const auto [filtered, u] = filter_.candidates[q][i];
      std::uint32_t rank = 0;
      for (const float least : filter_.best[q]) rank += static_cast<std::uint32_t>(least < filtered);
      const bool taken = rank >= wanted_ || found[rank].point != kNoPoint;
      found[taken ? last++ : rank] = {tree_.metric().distance2(at, tree_.at(u)), tree_.id(u), u};
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < last; ++i) {
      if (found[i].point == kNoPoint) continue;
      const Neighbour next = found[i];
      std::uint32_t to = count++;
      for (; to > 0 && next < found[to - 1]; --to) found[to] = found[to - 1];
      found[to] = next;
    }
    double* const distances = lists_.distance2 + static_cast<std::size_t>(q) * keep_;
    std::uint64_t* const points = lists_.point + static_cast<std::size_t>(q) * keep_;
    for (std::uint32_t i = 0; i < wanted_; ++i) {
      distances[i] = found[i].distance2;
      points[i] = found[i].point;
    }
  }

  /// Candidate for a place in a list, in the order of neighbours.
  struct Neighbour {
    double distance2;
    std::uint64_t id;
    std::uint32_t point;
    friend bool operator<(const Neighbour& a, const Neighbour& b) {
      return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : a.id < b.id;
    }
  };
  static constexpr std::uint32_t kNoPoint = 0xffffffffU;

  // More candidates than this are rare, and compared without the filter in less time than it takes to rank them.
  static constexpr std::uint32_t kMaxCandidates = 2 * kMaxFilterKeep;

  const PointTree<D>& tree_;
  std::uint32_t keep_;                // length of a neighbour list, a multiple of 8
  std::uint32_t wanted_;              // nearest neighbours that are looked for
  LeafPoints leaves_;                 // view of the tree's points for scans
  const FilterPoints* copy_;          // points in single precision; null: the filter cannot be used
  std::uint32_t skip_ = 0;            // leaves that are searched next without keys or the filter
  std::uint32_t misses_ = 0;          // leaves to skip after their last failure; halved by a success
  FilterLists filter_{};              // candidates of the points of the leaf
  bool keys_;                         // lists of keys are used
  KeyLists key_lists_;                // keys of the points of the leaf
  LeafLists lists_{};                 // neighbour lists of the points of the leaf, in the buffers below
  std::vector<double> distance2_;     // compared distances of the neighbours
  std::vector<std::uint64_t> point_;  // neighbours, as numbers of points of the tree
  std::vector<double> limit_;         // by point: distance that a further neighbour must not exceed
  std::vector<Visit> todo_;           // stack of the traversal
  double worst_ = 0;                  // greatest limit of the points of the leaf; negative: no further leaf is visited
  std::int64_t visits_ = 0;           // leaves that were compared with the leaves of queries
  std::atomic<std::int64_t>* count_;  // where visits_ is added at the end; null: nowhere
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
  // In few dimensions lists of keys find short lists sooner.
  const bool filters = search.core == nullptr && search.keep <= kMaxFilterKeep && D > 3;
  const FilterPoints copy = filters ? FilterPoints(tree) : FilterPoints();
  std::atomic<std::size_t> done{0};
  share_loop(search.threads, leaves.size(), [&](std::size_t begin, std::size_t end) {
    LeafSearch<D> leaf_search(tree, search, copy.empty() ? nullptr : &copy);
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
