#include "src/comm/detail/common_place.hpp"

#include <algorithm>
#include <array>

namespace merganser::comm::detail {

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

std::size_t Ranges::largest() const {
  std::uint64_t most = 0;
  std::uint64_t at = 0;
  for (const auto& [begin, end] : taken_) {
    most = std::max(most, begin - at);
    at = end;
  }
  return std::max(most, bytes_ - at);
}

void Ranges::take(std::uint64_t at, std::uint64_t bytes) {
  taken_[at] = at + std::max<std::uint64_t>(1, (bytes + kLine - 1) / kLine) * kLine;
}

void Ranges::give(std::uint64_t at) { taken_.erase(at); }

std::uint64_t common_place(const Ranges* ranges, std::uint64_t bytes, const Highest& highest) {
  // Nobody goes back, and who stays behind the one that is farthest must go on: so the search ends.
  for (std::uint64_t from = 0;;) {
    const std::uint64_t mine = ranges == nullptr ? 0 : ranges->lowest(bytes, from);
    std::array<std::uint64_t, 2> words{mine, ranges == nullptr ? 0 : Ranges::kNowhere - mine};
    highest(words);
    const std::uint64_t farthest = words[0];
    const std::uint64_t nearest = Ranges::kNowhere - words[1];
    if (farthest == nearest || farthest == Ranges::kNowhere) return farthest;
    from = farthest;
  }
}

std::uint64_t common_room(const Ranges* ranges, const Highest& highest) {
  std::uint64_t word = ranges == nullptr ? 0 : Ranges::kNowhere - ranges->largest();
  highest({&word, 1});
  return Ranges::kNowhere - word;
}

}  // namespace merganser::comm::detail
