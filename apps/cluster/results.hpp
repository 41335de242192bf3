#pragma once
/// The numbers and tables that a merge run reports.
#include <string>
#include <vector>

#include "apps/frame/gather.hpp"
#include "apps/frame/record.hpp"

namespace merganser::app {

/// Sums over the parcels of all ranks, each without rounding until read: the same bits for any number of ranks.
/// Keys: sum_volume, sum_volume_buoyancy, sum_volume_vorticity, sum_B11, sum_B22, sum_B12, sum_b_squared (of the
/// buoyancy), sum_abs_w2 (of the vorticity's length squared); only those whose attributes exist. Collective.
[[nodiscard]] Json sums_json(comm::Transport& transport, const Parcels& parcels);

/// The `result` object of a run of one or more steps: `first` and `last` are the reports of the first and last step
/// over all ranks, `all` the sum of all.
[[nodiscard]] Json result_json(const StepReport& first, const StepReport& last, const StepReport& all, const Json& sums,
                               const Digest& digest);

/// One conserved quantity before and after.
struct Conserved {
  std::string name;
  double before;
  double after;
  double scale;  ///< what the difference is measured against: the larger magnitude, or the sum of magnitudes
  [[nodiscard]] double relative() const;
};
[[nodiscard]] std::vector<Conserved> conserved(const Moments& before, const Moments& after, const Schema& schema,
                                               const Box& box);
[[nodiscard]] Json conservation_json(const std::vector<Conserved>& quantities, const Moments& before,
                                     const Moments& after, std::int64_t merged);

[[nodiscard]] std::string counts_table(const StepReport& first, const StepReport& last, const StepReport& all);
[[nodiscard]] std::string clusters_table(const StepReport& all);
[[nodiscard]] std::string stages_table(const std::vector<std::string>& names, const std::vector<Summary>& seconds,
                                       const std::string& heading);
[[nodiscard]] std::string conservation_table(const std::vector<Conserved>& quantities, const Moments& before,
                                             const Moments& after, std::int64_t merged);
[[nodiscard]] std::string counters_text(const StepReport& all);
[[nodiscard]] Json pruning_json(const StepReport& all);

}  // namespace merganser::app
