#pragma once
/// Reductions and gathers of reports, moments, digests and parcels over all ranks. Every function with a Transport is collective.
/// Moments are sums without rounding (ExactSum), hence independent of the number of ranks and their order.
#include <array>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/parcels/statistics.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

/// Names of the stages of a merge step, in order; the last is the whole step.
inline constexpr std::array<const char*, 7> kStages{"search", "exchange", "graph", "prune", "migrate", "merge", "step"};
using StageSeconds =
    std::array<double, kStages.size()>;  ///< seconds of each stage of a merge step, in the order of kStages
/// Returns the times of a merge step in the order of kStages, in seconds; the last is the sum of the stages. Local.
[[nodiscard]] StageSeconds stage_seconds(const StageTimes& t);

/// Returns, on every rank, the sum of the ranks' reports of a merge step, without lineage. Collective.
[[nodiscard]] StepReport total_report(comm::Transport& transport, const StepReport& mine);
/// Returns, on every rank, the exact sums of the moments of the ranks' parcels, with the same bits for any number of ranks.
/// Collective.
[[nodiscard]] Moments total_moments(comm::Transport& transport, const Moments& mine);
/// Returns, on every rank, the digest of the union of the ranks' parcels. Collective.
[[nodiscard]] Digest total_digest(comm::Transport& transport, const Digest& mine);
/// Returns, on every rank, the exact sums over ranks of each element; every rank passes the same number of them. Collective.
[[nodiscard]] std::vector<ExactSum> total_sums(comm::Transport& transport, const std::vector<ExactSum>& mine);

/// Gathers all parcels on rank 0, in the order of ranks; returns none on the others. Collective.
[[nodiscard]] Parcels collect(comm::Transport& transport, const Parcels& mine);

/// Returns minimum, median, mean and maximum over ranks of the seconds of each stage of a merge step, in the order of kStages.
/// Local.
[[nodiscard]] std::vector<Summary> summarise_stages(const std::vector<StageSeconds>& by_rank);

}  // namespace merganser::app
