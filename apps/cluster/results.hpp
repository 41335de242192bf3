#pragma once
/// Numbers and tables in the report and the run record of merge steps.
#include <string>
#include <vector>

#include "apps/frame/gather.hpp"
#include "apps/frame/record.hpp"
#include "merganser/cluster/deposition_check.hpp"
#include "merganser/cluster/merge_policy.hpp"

namespace merganser::app {

/// Returns sums of volumes and attributes over the parcels of all ranks, computed without rounding until the end: the same bits for
/// any number of ranks. Keys: sum_volume, sum_volume_buoyancy, sum_volume_vorticity, sum_B11, sum_B22, sum_B12, sum_b_squared (of
/// the buoyancy), sum_abs_w2 (of the vorticity's length squared); only those whose attributes exist. Collective.
/// @param all  moments of the parcels of all ranks, which hold some of the sums
[[nodiscard]] Json sums_json(comm::Transport& transport, const Parcels& parcels, const Moments& all);

/// Makes the object `result` in the run record of merge steps. Local.
/// @param first, last, all  reports over all ranks: of the first step, of the last step, and their sum over all steps
/// @param sums              as from sums_json()
[[nodiscard]] Json result_json(const StepReport& first, const StepReport& last, const StepReport& all, const Json& sums,
                               const Digest& digest);

/// Sum of one conserved quantity over all parcels before and after merging; filled by conserved().
struct Conserved {
  std::string name;  ///< "volume", "volume z", "volume buoyancy"
  double before;     ///< sum before the first merge step
  double after;      ///< sum after the last merge step
  double scale;  ///< scale of the relative difference: the largest of both magnitudes and the quantity's natural unit
  /// Returns the difference between after and before, relative to the scale; 0 if there is none.
  [[nodiscard]] double relative_difference() const;
};
/// Returns the quantities that merging conserves: volume, its first moments along axes that are not periodic, and volume-weighted
/// attributes. Local. @param centroids  whether merged parcels lie at the centroids of their members; else no first moments
[[nodiscard]] std::vector<Conserved> conserved(const Moments& before, const Moments& after, const Schema& schema,
                                               const Box& box, bool centroids);
/// Makes the list `conservation` in the run record of merge steps. @param merged  number of parcels that were merged away
[[nodiscard]] Json conservation_json(const std::vector<Conserved>& quantities, const Moments& before,
                                     const Moments& after, std::int64_t merged, std::int64_t split);

/// Formats the numbers of parcels: before, small (with a policy: that look for a partner), merged away, after.
/// @param first, last, all  as of result_json()
[[nodiscard]] std::string counts_table(const StepReport& first, const StepReport& last, const StepReport& all,
                                       const MergePolicy& policy);
/// Makes the object `policy` in the run record of merge steps: text, rounds, answers, pairs refused, and weight, momentum and energy
/// before the first and after the last step. @param first, last, all  as of result_json()
[[nodiscard]] Json policy_json(const MergePolicy& policy, const StepReport& first, const StepReport& last,
                               const StepReport& all);
/// Formats the numbers of policy_json() as a table and a line.
[[nodiscard]] std::string policy_table(const MergePolicy& policy, const StepReport& first, const StepReport& last,
                                       const StepReport& all);
/// Returns the warning that no parcel of a file was small, so that nothing was merged.
/// @param smallest  least volume @param ratio  volume of a cell over that below which a parcel is small
/// @param source  text that tells where the ratio comes from
[[nodiscard]] std::string none_small_text(const std::string& input, const io::ParcelFileInfo& info, double smallest,
                                          double ratio, const std::string& source);
/// Returns the warning that no parcel has looked for a partner under a policy. @param parcels  of the input
[[nodiscard]] std::string none_looks_text(const MergePolicy& policy, std::int64_t parcels);
/// Returns the line of a report that says what --audit has found to be true under a policy.
[[nodiscard]] std::string audit_text(const MergePolicy& policy);
/// Makes the object `checks` in the run record of merge steps. @param error  of the audit, left out without one
[[nodiscard]] Json checks_json(bool audit, bool reference, const DepositionError& error);
/// Formats the line of an audit about the weight that parcels deposit on grid nodes.
[[nodiscard]] std::string deposition_text(const DepositionError& error);
/// Formats the histogram of cluster sizes, in parcels, over all merge steps.
[[nodiscard]] std::string clusters_table(const StepReport& all);
/// Formats minimum, median, mean and maximum time over ranks of each stage of a merge step. @param heading  of the first column
[[nodiscard]] std::string stages_table(const std::vector<std::string>& names, const std::vector<Summary>& seconds,
                                       const std::string& heading);
/// Formats the table of conserved quantities before and after merging. @param merged  number of parcels that were merged away
[[nodiscard]] std::string conservation_table(const std::vector<Conserved>& quantities, const Moments& before,
                                             const Moments& after, std::int64_t merged, std::int64_t split);
/// Formats the counters of communication and pruning of merge steps over all ranks, in two lines.
[[nodiscard]] std::string counters_text(const StepReport& all);
/// Makes the object `pruning` in the run record of merge steps: counts of links, rounds, words and synchronisations.
[[nodiscard]] Json pruning_json(const StepReport& all);

}  // namespace merganser::app
