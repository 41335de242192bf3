// Neighbour lists by mutual reachability distances, from the lists of nearest points that gave the core distances.
#include "merganser/base/parallel.hpp"
#include "merganser/msf/euclidean.hpp"
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
    // Without branches on the outcomes, which are unpredictable, as is the order of ids.
    const double core = state_.core[v];
    least_ = others_ = 0;
    const auto insert = [&](std::uint32_t u, double weight) {
      const std::uint64_t id = state_.tree.id(u);
      const bool taken = (weight < last.weight) | ((weight <= last.weight) & (id <= last.id));
      const bool is_least = weight <= core;
      id_[least_] = id;
      least_point_[least_] = u;
      least_ += static_cast<std::uint32_t>(taken & is_least);
      weight_[others_] = weight;
      other_id_[others_] = id;
      other_point_[others_] = u;
      others_ += static_cast<std::uint32_t>(taken & !is_least);
    };
    const std::uint32_t within = std::min(within_, known);
    for (std::uint32_t i = 0; i < within; ++i) insert(near[i], std::max(core, state_.core[near[i]]));
    for (std::uint32_t i = within; i < known; ++i) {
      const std::uint32_t u = near[i];
      const double distance = u == last.point ? last.weight : state_.tree.distance2(v, u);
      insert(u, std::max(std::max(core, state_.core[u]), distance));
    }
    finish(v, known == keep_ ? last.weight : kInfinity, to);
  }

 private:
  /// Last of the nearest points of a point.
  struct Last {
    double weight;
    std::uint64_t id;
    std::uint32_t point;
  };
  /// Sorts points by is_before(i, j), whether point i comes before point j, a strict order. @param sorted  receives the points
  static void sort(const std::array<std::uint32_t, NearPoints::kMax>& points, std::uint32_t count,
                   const auto& is_before, std::uint32_t* sorted) {
    // A rank is a count of the points before.
    std::array<std::uint32_t, NearPoints::kMax> rank;
    for (std::uint32_t i = 0; i < count; ++i) {
      rank[i] = i;
      for (std::uint32_t j = 0; j < i; ++j) {
        const auto before = static_cast<std::uint32_t>(is_before(i, j));
        rank[i] -= before;
        rank[j] += before;
      }
    }
    for (std::uint32_t i = 0; i < count; ++i) sorted[rank[i]] = points[i];
  }
  /// Writes the sorted list of point v and its first entry, or the bound of all weights where there is none, to the state.
  void finish(std::uint32_t v, double bound, std::uint32_t* to) {
    std::array<std::uint32_t, NearPoints::kMax> sorted;
    sort(
        least_point_, least_, [&](std::uint32_t i, std::uint32_t j) { return id_[i] < id_[j]; }, sorted.data());
    sort(
        other_point_, others_,
        [&](std::uint32_t i, std::uint32_t j) {
          return (weight_[i] < weight_[j]) | ((weight_[i] <= weight_[j]) & (other_id_[i] < other_id_[j]));
        },
        sorted.data() + least_);
    const std::uint32_t count = std::min(least_ + others_, state_.keep);
    std::copy_n(sorted.begin(), count, to);
    // Repetitions of the last entry fill a list that ends before all points are in it: the bound behind it stays that of the entry.
    std::fill(to + count, to + state_.keep, bound < kInfinity && count > 0 ? to[count - 1] : kNone);
    state_.nearest[v] = count > 0 ? to[0] : v;
    state_.bound[v] = least_ > 0    ? state_.core[v]
                      : others_ > 0 ? *std::min_element(weight_.begin(), weight_.begin() + others_)
                                    : bound;
    if (count == 0) state_.used[v] = static_cast<std::uint8_t>(state_.keep);
  }

  BoruvkaState<D>& state_;
  std::uint32_t keep_;                              ///< nearest points of each point
  std::uint32_t within_;                            ///< the distance to so many of them is not above the core distance
  std::uint32_t least_ = 0;                         ///< points of the present list whose edges weigh the core distance
  std::uint32_t others_ = 0;                        ///< points of the present list whose edges weigh more
  std::array<std::uint64_t, NearPoints::kMax> id_;  ///< ids of the former
  std::array<std::uint32_t, NearPoints::kMax> least_point_;  ///< the former
  std::array<double, NearPoints::kMax> weight_;              ///< weights of the latter
  std::array<std::uint64_t, NearPoints::kMax> other_id_;     ///< ids of the latter
  std::array<std::uint32_t, NearPoints::kMax> other_point_;  ///< the latter
};

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
