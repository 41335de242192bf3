#pragma once
/// Snapshots of the flow command: states of a run as parcel files of EPIC, from which a run continues with the same bits.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/frame/answers.hpp"
#include "merganser/base/options.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// State of a flow run between two time steps besides its parcels, as its snapshots store it; filled by read_progress().
struct Progress {
  flow::RunState state;          ///< step, time and held mean vorticity of the model
  std::int64_t snapshot = 0;     ///< number of the last snapshot; they count from 1
  std::int64_t consecutive = 0;  ///< number of consecutive states written so far
  std::string case_name;         ///< initial condition that the run began with; empty: unknown
};

/// Converts the splits and merges of a time step to a list for files and reductions: splits, merges, merges into parcels that are
/// not small, stars by number of members.
[[nodiscard]] std::vector<std::int64_t> counts_to_list(const flow::StepCounts& counts);
/// Converts a list of 10 numbers that counts_to_list() has made to the splits and merges of a time step.
[[nodiscard]] flow::StepCounts list_to_counts(std::span<const std::int64_t> list);

/// Returns the name of one of the files of flow snapshot `number`: BASE_NNNNNNNNNN_WHAT. @param what  "parcels.nc", "fields.nc"
[[nodiscard]] std::string snapshot_name(const std::string& base, std::int64_t number, const std::string& what);
/// Returns BASE of the name of a flow snapshot's parcel file, BASE_NNNNNNNNNN_parcels.nc; empty for another name.
[[nodiscard]] std::string snapshot_base(const std::string& path);

/// Writes a snapshot of a flow: an EPIC parcel file with the options and the state of the run. It appears whole or not at all.
/// Collective.
/// @param progress  with the counts of all ranks
/// @throws InputError on every rank if the file cannot be written
void write_snapshot(const std::string& path, const Parcels& parcels, const Decomposition& decomposition,
                    const Progress& progress, const flow::FlowOptions& options, comm::Transport& transport);

/// Sets flow options from a parcel file of the flow command or of EPIC, except for those that `given` has from the command line,
/// and records the origin of all in `answers`. Local.
/// @throws InputError naming the attribute, for a value that is not allowed
void read_options(const std::string& path, const io::ParcelFileInfo& info, const OptionTable& given,
                  flow::FlowOptions& options, Answers& answers);
/// Reads the state of a flow run from a snapshot of the flow command; of a parcel file of EPIC only the time. Local.
/// @throws InputError for a time that is not finite, or an attribute that is missing or not allowed
[[nodiscard]] Progress read_progress(const std::string& path, const io::ParcelFileInfo& info);

}  // namespace merganser::app
