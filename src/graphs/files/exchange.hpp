#pragma once
/// Records sent to the ranks that own them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::graphs::detail {

inline constexpr std::uint64_t kRoundBytes = std::uint64_t{1} << 25;  ///< that a rank sends at once

/// Sends every record to rank `owner(record)`; @return what came, rank by rank within a round. Collective. Rounds bound
/// the memory beside the records themselves.
template <class T, class Owner>
std::vector<T> deal(std::vector<T> records, comm::Transport& transport, const Owner& owner) {
  static_assert(std::is_trivially_copyable_v<T>);
  constexpr std::size_t round_records = kRoundBytes / sizeof(T);
  if (transport.size() == 1) return records;
  const auto mine = static_cast<std::int64_t>((records.size() + round_records - 1) / round_records);
  const std::int64_t rounds = transport.all_reduce(mine, comm::Op::max);
  std::vector<T> arrived;
  arrived.reserve(records.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::size_t begin = std::min(records.size(), static_cast<std::size_t>(round) * round_records);
    const std::size_t end = std::min(records.size(), begin + round_records);
    std::vector<std::size_t> counts(static_cast<std::size_t>(transport.size()), 0);
    std::vector<int> owners(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
      owners[i - begin] = owner(records[i]);
      ++counts[static_cast<std::size_t>(owners[i - begin])];
    }
    std::vector<std::vector<std::byte>> out(counts.size());
    for (std::size_t rank = 0; rank < counts.size(); ++rank) out[rank].reserve(counts[rank] * sizeof(T));
    for (std::size_t i = begin; i < end; ++i) {
      auto& box = out[static_cast<std::size_t>(owners[i - begin])];
      const auto* const bytes = reinterpret_cast<const std::byte*>(&records[i]);
      box.insert(box.end(), bytes, bytes + sizeof(T));
    }
    for (const auto& box : transport.all_to_all(out)) {
      const std::size_t had = arrived.size();
      arrived.resize(had + box.size() / sizeof(T));
      if (!box.empty()) std::memcpy(arrived.data() + had, box.data(), box.size());
    }
  }
  return arrived;
}

}  // namespace merganser::graphs::detail
