#pragma once
/// What ranks know together: sums and lists over all ranks. Every function here is collective.
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/parcels/statistics.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

/// Every rank's value, by rank.
template <class T>
[[nodiscard]] std::vector<T> gather(comm::Transport& transport, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto all = transport.all_gather(std::as_bytes(std::span(&mine, 1)));
  std::vector<T> out(all.size());
  for (std::size_t r = 0; r < all.size(); ++r) std::memcpy(&out[r], all[r].data(), sizeof(T));
  return out;
}

/// The stages of a step, in order, by name; the last is the whole.
inline constexpr std::array<const char*, 7> kStages{"search", "exchange", "graph", "prune", "migrate", "merge", "step"};
using StageSeconds = std::array<double, kStages.size()>;
[[nodiscard]] StageSeconds stage_seconds(const StageTimes& t);

/// The ranks' reports added up, without lineage.
[[nodiscard]] StepReport total_report(comm::Transport& transport, const StepReport& mine);
[[nodiscard]] Moments total_moments(comm::Transport& transport, const Moments& mine);
[[nodiscard]] Digest total_digest(comm::Transport& transport, const Digest& mine);
[[nodiscard]] std::vector<ExactSum> total_sums(comm::Transport& transport, const std::vector<ExactSum>& mine);

/// All parcels on rank 0, rank after rank; empty on the others.
[[nodiscard]] Parcels collect(comm::Transport& transport, const Parcels& mine);

/// Minimum, median, mean and maximum over ranks, by stage.
[[nodiscard]] std::vector<Summary> summarise_stages(const std::vector<StageSeconds>& by_rank);

}  // namespace merganser::app
