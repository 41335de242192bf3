#pragma once
/// What ranks know together: sums and lists over all ranks. Every function here is collective.
#include <array>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/parcels/statistics.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

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
