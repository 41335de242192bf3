// Neighbour lists by mutual reachability distances, from the lists of nearest points that gave the core distances.
#include "merganser/base/parallel.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {
namespace {

/// Entry of a neighbour list by mutual reachability distances.
struct ReachEntry {
  double weight;
  std::uint64_t id;
  std::uint32_t point;
  friend bool operator<(const ReachEntry& a, const ReachEntry& b) {
    return a.weight != b.weight ? a.weight < b.weight : a.id < b.id;
  }
};

/// Conversion of the lists of nearest points of one rank, point by point, to lists by mutual reachability distances.
template <std::size_t D>
class ReachLists {
 public:
  ReachLists(BoruvkaState<D>& state, const NearPoints& near, std::uint32_t within)
      : state_(state), keep_(near.keep), within_(within) {}

  /// Writes the list of point v, whose nearest points are `near`, to the first `state.keep` entries from `to` on.
  void convert(std::uint32_t v, const std::uint32_t* near, std::uint32_t* to) {
    // A point that is not in the list is not before its last entry by (distance, id), and its weight is not below its distance. So
    // what is not after the last entry's distance and id is in the list, and the order of that is final.
    std::uint32_t known = 0;
    while (known < keep_ && near[known] != kNone) ++known;
    ReachEntry last{kInfinity, ~std::uint64_t{0}, kNone};
    if (known == keep_) {
      const std::uint32_t u = near[keep_ - 1];
      last = {state_.tree.distance2(v, u), state_.tree.id(u), u};
    }
    size_ = 0;
    for (std::uint32_t i = 0; i < known; ++i) {
      const std::uint32_t u = near[i];
      double weight = std::max(state_.core[v], state_.core[u]);
      if (weight > last.weight) continue;
      if (i >= within_) weight = std::max(weight, u == last.point ? last.weight : state_.tree.distance2(v, u));
      const ReachEntry entry{weight, state_.tree.id(u), u};
      if (!(last < entry)) insert(entry);
    }
    finish(v, known == keep_ ? last.weight : kInfinity, to);
  }

 private:
  /// Inserts an entry into the sorted list of one point, of which the first `state.keep` entries are needed.
  void insert(const ReachEntry& entry) {
    if (size_ == state_.keep && !(entry < list_[size_ - 1])) return;
    std::uint32_t at = size_ == state_.keep ? size_ - 1 : size_++;
    for (; at > 0 && entry < list_[at - 1]; --at) list_[at] = list_[at - 1];
    list_[at] = entry;
  }
  /// Writes the sorted list of point v and its first entry, or the bound of all weights where there is none, to the state.
  void finish(std::uint32_t v, double bound, std::uint32_t* to) {
    const std::uint32_t count = size_;
    for (std::uint32_t i = 0; i < count; ++i) to[i] = list_[i].point;
    // Repetitions of the last entry fill a list that ends before all points are in it: the bound behind it stays that of the entry.
    const std::uint32_t filling = bound < kInfinity && count > 0 ? list_[count - 1].point : kNone;
    for (std::uint32_t i = count; i < state_.keep; ++i) to[i] = filling;
    state_.nearest[v] = count > 0 ? list_[0].point : v;
    state_.bound[v] = count > 0 ? list_[0].weight : bound;
    if (count == 0) state_.used[v] = static_cast<std::uint8_t>(state_.keep);
  }

  BoruvkaState<D>& state_;
  std::uint32_t keep_;    ///< nearest points of each point
  std::uint32_t within_;  ///< the distance to so many of them is not above the core distance
  std::uint32_t size_ = 0;
  std::array<ReachEntry, NearPoints::kMax> list_;  ///< entries of the present point, sorted
};

}  // namespace

// First stage of the rounds on one rank by mutual reachability distances: lists from those of the core distances.
template <std::size_t D>
void find_reach_lists(BoruvkaState<D>& state, NearPoints& near, int neighbours, std::uint32_t samples, bool alone) {
  const auto n = state.tree.size();
  state.scan = leaf_points(state.tree, nullptr);
  state.keep = std::min(static_cast<std::uint32_t>(neighbours), near.keep);
  state.used.assign(n, 0);
  state.bound.resize(n);
  state.nearest.resize(n);
  state.component.resize(n);
  state.components = n;
  // In place: a list is not longer than the one that it is made of. Gaps between lists are closed when all are done.
  state.list = std::move(near.point);
  share_loop(state.threads, n, [&](std::size_t begin, std::size_t end) {
    std::array<std::uint32_t, NearPoints::kMax> row;
    ReachLists<D> lists(state, near, alone ? samples - 1 : 0);
    for (std::size_t v = begin; v < end; ++v) {
      std::uint32_t* const at = state.list.data() + v * near.keep;
      std::copy_n(at, near.keep, row.begin());
      lists.convert(static_cast<std::uint32_t>(v), row.data(), at);
      state.component[v] = static_cast<std::uint32_t>(v);
    }
  });
  for (std::size_t v = 1; v < n; ++v)
    std::copy_n(state.list.data() + v * near.keep, state.keep, state.list.data() + v * state.keep);
  state.list.resize(static_cast<std::size_t>(n) * state.keep);
  near = {};
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, find_reach_lists)

}  // namespace merganser::msf::euclidean
