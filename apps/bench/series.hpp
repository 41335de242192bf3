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
  double min_volume_ratio = 20;
  MethodOptions method;
  BlockOptions blocks;
  int steps = 10;
  bool memory = true;  ///< add one cycle, not timed, that measures the peak
  bool quiet = false;  ///< show no progress
  Need need;           ///< forecast of the memory of a cycle
  bool force = false;  ///< measure even if the forecast exceeds the free memory
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
  std::vector<Cycle> cycles;
  StepReport total;  ///< sum of the reports of all ranks and timed cycles
  double peak_bytes_per_parcel = 0;
  std::string peak_method;
  double container_bytes_per_parcel = 0;
  int ranks = 1;
  std::string model;
  std::string choice;  ///< measurements by which "auto" chose the model; empty if a model was named
  std::string decomposition;

  [[nodiscard]] double seconds() const;       ///< median over cycles of the slowest rank
  [[nodiscard]] double copy_seconds() const;  ///< median over cycles of the copy on the slowest rank
  [[nodiscard]] double parcels() const;       ///< mean number before a step, all ranks
  [[nodiscard]] double ns_per_parcel() const { return parcels() > 0 ? seconds() * 1e9 / parcels() : 0; }
  [[nodiscard]] double container_copies() const { return copy_seconds() > 0 ? seconds() / copy_seconds() : 0; }
  [[nodiscard]] std::vector<Summary> stages() const;  ///< over ranks and cycles
};

/// Measures setup.steps cycles, after one that warms up, and appends them to `series`. Collective; errors are CollectiveErrors.
void measure(comm::Transport& transport, const BenchSetup& setup, BenchSeries& series);

/// Returns a series as it stands in run records.
[[nodiscard]] Json to_json(const BenchSeries& series);
/// Parses a series from a run record. @throws Json::exception if a field is missing
[[nodiscard]] BenchSeries parse_series(const Json& json);
/// Returns the header of the CSV file. @param lead  names of the first columns, separated by commas
[[nodiscard]] std::string csv_header(const std::string& lead);
/// Returns one line for each cycle and rank. @param lead  values of the first columns, separated by commas
[[nodiscard]] std::string csv_lines(const BenchSeries& series, const std::string& lead);

}  // namespace merganser::app
