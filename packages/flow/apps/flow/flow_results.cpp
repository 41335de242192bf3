// Results of a flow run: sums over ranks and states, and the members of its run record.
#include "apps/flow/flow_results.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "apps/flow/files.hpp"
#include "apps/flow/snapshot.hpp"
#include "apps/frame/table.hpp"

namespace merganser::app {

flow::StepCounts total_counts(const flow::StepCounts& mine, comm::Transport& transport) {
  std::vector<std::int64_t> all = counts_to_list(mine);
  transport.all_reduce(std::span<std::int64_t>(all), comm::Op::sum);
  return list_to_counts(all);
}

flow::StepCounts sum_counts(const std::vector<flow::Statistics>& rows) {
  flow::StepCounts sum;
  for (const flow::Statistics& row : rows) sum += row.counts;
  return sum;
}

Json statistics_json(const flow::Statistics& s, double box_volume) {
  return {{"step", s.step},
          {"time", s.time},
          {"parcels", s.parcels},
          {"small", s.small},
          {"kinetic_energy", s.kinetic_energy},
          {"enstrophy", s.enstrophy},
          {"volume", s.volume},
          {"volume_error", std::fabs(s.volume - box_volume) / box_volume},
          {"least_buoyancy", s.least_buoyancy},
          {"greatest_buoyancy", s.greatest_buoyancy}};
}

Json counts_json(const flow::StepCounts& c) {
  Json clusters = Json::object();
  for (std::size_t i = 0; i < c.clusters.size(); ++i)
    clusters[i + 1 == c.clusters.size() ? "8+" : std::to_string(i + 2)] = c.clusters[i];
  return {{"splits", c.splits}, {"merges", c.merges}, {"merged_into_big", c.merged_into_big}, {"clusters", clusters}};
}

Json series_json(const std::vector<flow::Statistics>& rows) {
  const std::size_t stride = std::max<std::size_t>(1, (rows.size() + kMaxSeriesRows - 2) / (kMaxSeriesRows - 1));
  Json out = {{"stride", stride}};
  flow::StepCounts counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    counts += rows[i].counts;
    if (i % stride != 0 && i + 1 != rows.size()) continue;
    out["step"].push_back(rows[i].step);
    out["time"].push_back(rows[i].time);
    out["parcels"].push_back(rows[i].parcels);
    out["small"].push_back(rows[i].small);
    out["splits"].push_back(counts.splits);
    out["merges"].push_back(counts.merges);
    out["kinetic_energy"].push_back(rows[i].kinetic_energy);
    out["enstrophy"].push_back(rows[i].enstrophy);
    counts = {};
  }
  return out;
}

double compute_box_volume(const Grid& grid) { return grid.box.extent[0] * grid.box.extent[1] * grid.box.extent[2]; }

std::string describe_state(const flow::Statistics& s) {
  return fmt::format("step {}, t = {}: {} parcels, {} small", s.step, general_text(s.time, 5), count_text(s.parcels),
                     percent_text(s.small_share()));
}

}  // namespace merganser::app
