// Allocation in the part of symmetric memory that some of the processes use: each rank has a free list of its own, and all find an
// offset that is free on every member by reductions.
#include "src/comm/detail/common_place.hpp"

#include <algorithm>
#include <array>

namespace merganser::comm::detail {

// First fit in the free pieces of this rank's symmetric memory between the allocations, which are in ascending order.
std::uint64_t Ranges::lowest(std::uint64_t bytes, std::uint64_t from) const {
  bytes = std::max<std::uint64_t>(1, bytes);
  std::uint64_t at = (from + kLine - 1) / kLine * kLine;
  for (const auto& [begin, end] : taken_) {
    if (end <= at) continue;
    if (begin >= at && begin - at >= bytes) break;
    at = end;
  }
  return at <= bytes_ && bytes_ - at >= bytes ? at : kNowhere;
}

// Largest gap between the allocations of this rank's symmetric memory, which are in ascending order.
std::size_t Ranges::largest() const {
  std::uint64_t most = 0;
  std::uint64_t at = 0;
  for (const auto& [begin, end] : taken_) {
    most = std::max(most, begin - at);
    at = end;
  }
  return std::max(most, bytes_ - at);
}

void Ranges::reserve(std::uint64_t at, std::uint64_t bytes) {
  taken_[at] = at + std::max<std::uint64_t>(1, (bytes + kLine - 1) / kLine) * kLine;
}

void Ranges::release(std::uint64_t at) { taken_.erase(at); }

// Allocation of symmetric memory: agreement on one offset that is free on every member, by maxima only.
std::uint64_t find_common_offset(const Ranges* ranges, std::uint64_t bytes, const Highest& highest) {
  // Every rank searches from the largest candidate on, which no common offset can lie below. Candidates never decrease, and
  // one below the maximum must increase in the next round, so the search ends.
  for (std::uint64_t from = 0;;) {
    const std::uint64_t mine = ranges == nullptr ? 0 : ranges->lowest(bytes, from);
    // One maximum gives both extremes: that of kNowhere - x is kNowhere - min(x). Zeros of non-members change neither.
    std::array<std::uint64_t, 2> words{mine, ranges == nullptr ? 0 : Ranges::kNowhere - mine};
    highest(words);
    const std::uint64_t farthest = words[0];
    const std::uint64_t nearest = Ranges::kNowhere - words[1];
    if (farthest == nearest || farthest == Ranges::kNowhere) return farthest;
    from = farthest;
  }
}

// Largest block of symmetric memory that could be free on every member: the minimum over members, by a maximum of complements, to
// which non-members contribute 0.
std::uint64_t find_common_capacity(const Ranges* ranges, const Highest& highest) {
  std::uint64_t word = ranges == nullptr ? 0 : Ranges::kNowhere - ranges->largest();
  highest({&word, 1});
  return Ranges::kNowhere - word;
}

}  // namespace merganser::comm::detail
