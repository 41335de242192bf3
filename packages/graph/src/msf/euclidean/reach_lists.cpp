// Neighbour lists by mutual reachability distances, from the lists of nearest points that gave the core distances.
#include <algorithm>
#include <bit>

#include "merganser/base/parallel.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/row_sort.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {
namespace {

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
    Last last{kInfinity, ~std::uint64_t{0}, kNone};
    if (known == keep_) {
      const std::uint32_t u = near[keep_ - 1];
      last = {state_.tree.distance2(v, u), state_.tree.id(u), u};
    }
    // Keys that order the entries, without branches on the outcomes, which are unpredictable: those whose edges weigh the core distance
    // first, by id, then the others by the first bits of the weight; with the number of the entry.
    const double core = state_.core[v];
    std::array<std::uint64_t, kMaxRow> row{};  // sort_row() may read beyond the last entry
    std::uint32_t count = 0;
    std::uint32_t least = 0;
    const auto add = [&](std::uint32_t i, double weight) {
      const std::uint64_t id = state_.tree.id(near[i]);
      const bool taken = (weight < last.weight) | ((weight <= last.weight) & (id <= last.id));
      const bool is_least = weight <= core;
      const std::uint64_t other = (std::bit_cast<std::uint64_t>(weight) >> 1U & ~kEntry) | kOther;
      const std::uint64_t by_id = std::uint64_t{0} - static_cast<std::uint64_t>(is_least);  // all bits, if it is
      row[count] = (other ^ ((other ^ id * (kEntry + 1)) & by_id)) | i;
      weight_[i] = weight;
      count += static_cast<std::uint32_t>(taken);
      least += static_cast<std::uint32_t>(taken & is_least);
    };
    const std::uint32_t within = std::min(within_, known);
    for (std::uint32_t i = 0; i < within; ++i) add(i, std::max(core, state_.core[near[i]]));
    for (std::uint32_t i = within; i < known; ++i) {
      const double distance = near[i] == last.point ? last.weight : state_.tree.distance2(v, near[i]);
      add(i, std::max(std::max(core, state_.core[near[i]]), distance));
    }
    std::array<std::uint64_t, kMaxRow> sorted;
    sort_row(row.data(), count, sorted.data());
    order_ties(near, least, count, sorted);
    // Repetitions of the last entry fill a list that ends before all points are in it: the bound behind it stays that of the entry.
    const std::uint32_t listed = std::min(count, state_.keep);
    for (std::uint32_t i = 0; i < listed; ++i) to[i] = near[sorted[i] & kEntry];
    std::fill(to + listed, to + state_.keep, known == keep_ && count > 0 ? to[listed - 1] : kNone);
    const double bound = known == keep_ ? last.weight : kInfinity;
    state_.nearest[v] = count > 0 ? to[0] : v;
    state_.bound[v] = count > 0 ? weight_[sorted[0] & kEntry] : bound;
    if (count == 0) state_.used[v] = static_cast<std::uint8_t>(state_.keep);
  }

 private:
  static constexpr std::uint64_t kEntry = kMaxRow - 1;  ///< bits of a key with the number of an entry
  static constexpr std::uint64_t kOther = std::uint64_t{1}
                                          << 62;  ///< bit of a key: the edge weighs more than the core distance

  /// Last of the nearest points of a point.
  struct Last {
    double weight;
    std::uint64_t id;
    std::uint32_t point;
  };
  /// Orders those from number `least` to `count` - 1 of a sorted list whose keys have the same bits of the weight, by (weight, id).
  void order_ties(const std::uint32_t* near, std::uint32_t least, std::uint32_t count,
                  std::array<std::uint64_t, kMaxRow>& sorted) const {
    bool tied = false;
    for (std::uint32_t i = least + 1; i < count; ++i) tied |= (sorted[i] | kEntry) == (sorted[i - 1] | kEntry);
    if (!tied) return;
    std::sort(sorted.begin() + least, sorted.begin() + count, [&](std::uint64_t x, std::uint64_t y) {
      const double weight_x = weight_[x & kEntry];
      const double weight_y = weight_[y & kEntry];
      if (weight_x != weight_y) return weight_x < weight_y;
      return state_.tree.id(near[x & kEntry]) < state_.tree.id(near[y & kEntry]);
    });
  }

  BoruvkaState<D>& state_;
  std::uint32_t keep_;                  ///< nearest points of each point
  std::uint32_t within_;                ///< the distance to so many of them is not above the core distance
  std::array<double, kMaxRow> weight_;  ///< by entry: weight of its edge
};

static_assert(NearPoints::kMax < kMaxRow);

}  // namespace

// First stage of the rounds on one rank by mutual reachability distances: lists from those of the core distances.
template <std::size_t D>
void find_reach_lists(BoruvkaState<D>& state, NearPoints& near, int neighbours, std::uint32_t samples, bool alone) {
  const auto n = state.tree.size();
  state.scan = leaf_points(state.tree, nullptr);
  // Lists cost nothing more where they keep all that is known.
  state.keep = neighbours < EuclideanOptions().neighbours ? std::min(static_cast<std::uint32_t>(neighbours), near.keep)
                                                          : near.keep;
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
  for (std::size_t v = 1; v < n && state.keep < near.keep; ++v)
    std::copy_n(state.list.data() + v * near.keep, state.keep, state.list.data() + v * state.keep);
  state.list.resize(static_cast<std::size_t>(n) * state.keep);
  near = {};
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, find_reach_lists)

}  // namespace merganser::msf::euclidean
