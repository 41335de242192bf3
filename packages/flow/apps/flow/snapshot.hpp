#pragma once
/// States of a flow as parcel files, from which a run goes on.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/frame/answers.hpp"
#include "merganser/base/options.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// What a run is between two steps besides its parcels, as its snapshots hold it.
struct Progress {
  flow::RunState state;
  std::int64_t snapshot = 0;     ///< number of the last snapshot; they count from 1
  std::int64_t consecutive = 0;  ///< successive states written so far
  std::string case_name;         ///< what the run began as; empty: unknown
};

/// Counts as one list, and back: splits, merges, those into big ones, clusters by members.
[[nodiscard]] std::vector<std::int64_t> counts_list(const flow::StepCounts& counts);
[[nodiscard]] flow::StepCounts counts_of(std::span<const std::int64_t> list);

/// The name of snapshot `number` of a run: BASE_NNNNNNNNNN_WHAT. @param what  "parcels.nc", "fields.nc"
[[nodiscard]] std::string snapshot_name(const std::string& base, std::int64_t number, const std::string& what);
/// BASE of such a name; empty if it is none.
[[nodiscard]] std::string base_of_snapshot(const std::string& path);

/// Writes a snapshot: an EPIC parcel file with the options and the progress. It appears whole or not at all. Collective.
/// @param progress  with the counts of all ranks
/// @throws InputError on every rank
void write_snapshot(const std::string& path, const Parcels& parcels, const Decomposition& decomposition,
                    const Progress& progress, const flow::FlowOptions& options, comm::Transport& transport);

/// Sets options from a file, ours or EPIC's, but those that `given` names, and notes where all come from. Local.
/// @throws InputError naming the attribute, for a value that is not allowed
void take_options(const std::string& path, const io::ParcelFileInfo& info, const OptionTable& given,
                  flow::FlowOptions& options, Answers& answers);
/// The progress of a file of ours; of EPIC's the time, nothing begun. Local. @throws InputError for what cannot be
[[nodiscard]] Progress read_progress(const std::string& path, const io::ParcelFileInfo& info);

}  // namespace merganser::app
