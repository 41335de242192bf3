#pragma once
/// Timing of merge steps: cycles that make parcels (not timed) and merge them (timed).
#include <functional>
#include <string>
#include <vector>

#include "apps/cluster/merge_options.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/record.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

/// Parameters of one series of timed merge steps.
struct BenchSetup {
  Grid grid;
  double min_volume_ratio = 20;  ///< volume of a cell over that below which a parcel is small
  MethodOptions method;          ///< search, pruning and access epochs of the merge steps
  BlockOptions blocks;           ///< decomposition of the grid into blocks
  int steps = 10;                ///< timed cycles
  bool memory = true;            ///< add one cycle, not timed, that measures the peak
  bool quiet = false;            ///< true: show no progress of the cycles
  Need need;                     ///< forecast of the memory of a cycle, without the search
  bool force = false;            ///< measure even if the forecast exceeds the free memory
  /// Makes the parcels of a cycle, on the ranks that own them. Called by every rank; may be collective.
  std::function<Parcels(comm::Transport&, const Decomposition&, int cycle)> make;
};

/// Times of one cycle of a benchmark, a merge step and a copy, in seconds, by rank.
struct Cycle {
  /// Bytes per rank of a cycle in memory, and of a cycle in a run record, for forecasts.
  static constexpr double kBytes = 128, kRecordBytes = 512;
  std::vector<StageSeconds> stages;     ///< the last, "step", is the time around the call, not the sum of the stages
  std::vector<double> copy;             ///< one copy of the rank's container to memory already touched
  [[nodiscard]] double step() const;    ///< time of the step on the slowest rank
  [[nodiscard]] double copied() const;  ///< time of the copy on the slowest rank; 0 if there is none
};

/// Results of one series of timed merge steps, complete on rank 0.
struct BenchSeries {
  std::vector<Cycle> cycles;              ///< timed cycles
  StepReport total;                       ///< sum of the reports of all ranks and timed cycles
  double peak_bytes_per_parcel = 0;       ///< peak of memory during a step; 0: not measured
  std::string peak_method;                ///< measurement of the peak: "VmHWM" or "resident after"
  double container_bytes_per_parcel = 0;  ///< bytes of a parcel in its container
  int ranks = 1;                          ///< number of ranks of the merge steps
  std::string model;                      ///< communication model of the merge steps
  std::string choice;                     ///< measurements by which "auto" chose the model; empty if a model was named
  std::string decomposition;              ///< blocks of the grid, as "2x1x1"

  [[nodiscard]] double seconds() const;       ///< step time of the slowest rank, median over cycles
  [[nodiscard]] double copy_seconds() const;  ///< copy time of the slowest rank, median over cycles
  [[nodiscard]] double parcels() const;       ///< mean number of parcels before a step, all ranks
  /// Returns the step time per parcel; 0 without parcels.
  [[nodiscard]] double ns_per_parcel() const { return parcels() > 0 ? seconds() * 1e9 / parcels() : 0; }
  /// Returns the step time in units of the time of one copy of the parcel container; 0 without copies.
  [[nodiscard]] double container_copies() const { return copy_seconds() > 0 ? seconds() / copy_seconds() : 0; }
  [[nodiscard]] std::vector<Summary> stages() const;  ///< times by stage of the step, over ranks and cycles
};

/// Measures setup.steps cycles of merge steps, after one that warms up, and appends them to `series`. Collective; errors are
/// CollectiveErrors.
void measure(comm::Transport& transport, const BenchSetup& setup, BenchSeries& series);

/// Makes the object of a series of merge steps in run records.
[[nodiscard]] Json to_json(const BenchSeries& series);
/// Parses a series of merge steps from a run record. @throws Json::exception if a field is missing
[[nodiscard]] BenchSeries parse_series(const Json& json);
/// Returns the header of the CSV table of merge step times. @param lead  names of the first columns, separated by commas
[[nodiscard]] std::string csv_header(const std::string& lead);
/// Returns the CSV lines of a series of merge steps, one for each cycle and rank. @param lead  values of the first columns,
/// separated by commas
[[nodiscard]] std::string csv_lines(const BenchSeries& series, const std::string& lead);

}  // namespace merganser::app
