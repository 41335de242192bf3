#pragma once
/// Results of a flow run: sums over ranks and states, and the members of its run record.
#include <string>
#include <vector>

#include "apps/frame/json.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/flow/statistics.hpp"
#include "merganser/geometry/box.hpp"

namespace merganser::app {

/// Returns the numbers of splits and merges summed over all ranks. Collective.
[[nodiscard]] flow::StepCounts total_counts(const flow::StepCounts& mine, comm::Transport& transport);
/// Returns the numbers of splits and merges summed over the states of a run.
[[nodiscard]] flow::StepCounts sum_counts(const std::vector<flow::Statistics>& rows);
/// Converts the flow statistics of a state to the members of the run record, with the relative error of the volume.
[[nodiscard]] Json statistics_json(const flow::Statistics& s, double box_volume);
/// Converts numbers of splits and merges to the members of the run record.
[[nodiscard]] Json counts_json(const flow::StepCounts& c);
/// Converts the flow statistics of a run to the member `series` of the run record: columns step, time, parcels, small, splits,
/// merges (both since the row before), kinetic_energy and enstrophy, with at most kMaxSeriesRows rows; `stride` states of the run
/// are one row, the last state is always in.
[[nodiscard]] Json series_json(const std::vector<flow::Statistics>& rows);
/// Largest number of rows of the member `series` of a flow's run record.
inline constexpr std::size_t kMaxSeriesRows = 400;
/// Returns the volume of the box of a grid.
[[nodiscard]] double compute_box_volume(const Grid& grid);
/// Describes a state of the flow in a line: step, simulated time, numbers of parcels and of small ones.
[[nodiscard]] std::string describe_state(const flow::Statistics& s);

}  // namespace merganser::app
