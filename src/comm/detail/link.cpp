// Index from ranks to the arcs of a process graph, in memory proportional to the arcs of a rank.
#include "src/comm/detail/link.hpp"

#include <algorithm>

namespace merganser::comm::detail {

// Index from ranks to arcs: a table by rank where that is not much longer than the list of arcs, else a sorted list.
ArcIndex::ArcIndex(std::span<const int> ranks) {
  constexpr std::size_t kAlways = 64;
  constexpr std::size_t kTimes = 8;  // a table by rank on every rank would be quadratic memory in all
  const int highest = ranks.empty() ? -1 : *std::max_element(ranks.begin(), ranks.end());
  if (highest < 0 || static_cast<std::size_t>(highest) < kAlways + kTimes * ranks.size()) {
    dense_.assign(static_cast<std::size_t>(highest + 1), kNone);
    for (std::size_t arc = 0; arc < ranks.size(); ++arc) dense_[static_cast<std::size_t>(ranks[arc])] = arc;
    return;
  }
  for (std::size_t arc = 0; arc < ranks.size(); ++arc) sorted_.push_back({ranks[arc], arc});
  std::sort(sorted_.begin(), sorted_.end(), [](const Entry& a, const Entry& b) { return a.rank < b.rank; });
}

// Look-up of the arc to a rank, made for every remote operation.
std::size_t ArcIndex::operator()(int rank) const noexcept {
  if (rank < 0) return kNone;
  if (sorted_.empty()) {
    const auto at = static_cast<std::size_t>(rank);
    return at < dense_.size() ? dense_[at] : kNone;
  }
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), rank,
                                      [](const Entry& entry, int wanted) { return entry.rank < wanted; });
  return found != sorted_.end() && found->rank == rank ? found->arc : kNone;
}

}  // namespace merganser::comm::detail
