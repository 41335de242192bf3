#include "src/comm/detail/keeper.hpp"

#include <algorithm>

namespace merganser::comm::detail {

void Keeper::sweep(const AllGather& all_gather) {
  Bytes unused;
  for (const auto& kept : kept_) {
    if (kept.thing.use_count() == 1) append(unused, kept.number);
  }
  const auto all = all_gather(unused);
  const auto unused_everywhere = [&](std::uint64_t number) {
    return std::all_of(all.begin(), all.end(), [&](const Bytes& theirs) {
      for (std::size_t at = 0; at < theirs.size(); at += sizeof number) {
        if (read<std::uint64_t>(theirs, at) == number) return true;
      }
      return false;
    });
  };
  std::erase_if(kept_, [&](const Kept& kept) {
    const bool gone = unused_everywhere(kept.number);
    if (gone) kept.thing->free();
    return gone;
  });
}

void Keeper::close() {
  for (const auto& kept : kept_) kept.thing->free();
  kept_.clear();
}

}  // namespace merganser::comm::detail
