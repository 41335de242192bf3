#pragma once
/// Measuring merge steps: cycles of making parcels (not timed) and merging them (timed).
#include <functional>
#include <string>
#include <vector>

#include "apps/cluster/merge_options.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/record.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser::app {

/// What to measure.
struct BenchSetup {
  Grid grid;
  double min_volume_ratio = 20;
  MethodOptions method;
  BlockOptions blocks;
  int steps = 10;
  bool memory = true;  ///< add one cycle, not timed, that measures the peak
  bool quiet = false;  ///< show no progress
  Need need;           ///< of a cycle
  bool force = false;  ///< go on where the forecast says that it does not fit
  /// Makes the parcels of a cycle, on the ranks that own them. Called by every rank; may be collective.
  std::function<Parcels(comm::Transport&, const Decomposition&, int cycle)> make;
};

/// One timed cycle, seconds by rank.
struct Cycle {
  /// Memory of one, and of one in a record, for each rank, for forecasts.
  static constexpr double kBytes = 128, kRecordBytes = 512;
  std::vector<StageSeconds> stages;   ///< the last, "step", is the time around the call, not the sum of the stages
  std::vector<double> copy;           ///< one copy of the rank's container to memory already touched
  [[nodiscard]] double step() const;  ///< slowest rank
  [[nodiscard]] double copied() const;
};

/// What was measured, complete on rank 0.
struct BenchSeries {
  std::vector<Cycle> cycles;
  StepReport total;  ///< all timed cycles together
  double peak_bytes_per_parcel = 0;
  std::string peak_method;
  double container_bytes_per_parcel = 0;
  int ranks = 1;
  std::string model;
  std::string choice;  ///< what "auto" measured; empty if a model was named
  std::string decomposition;

  [[nodiscard]] double seconds() const;  ///< median over cycles of the slowest rank
  [[nodiscard]] double copy_seconds() const;
  [[nodiscard]] double parcels() const;  ///< mean number before a step, all ranks
  [[nodiscard]] double ns_per_parcel() const { return parcels() > 0 ? seconds() * 1e9 / parcels() : 0; }
  [[nodiscard]] double container_copies() const { return copy_seconds() > 0 ? seconds() / copy_seconds() : 0; }
  [[nodiscard]] std::vector<Summary> stages() const;  ///< over ranks and cycles
};

/// Measures and appends to `series`. Collective.
void measure(comm::Transport& transport, const BenchSetup& setup, BenchSeries& series);

[[nodiscard]] Json to_json(const BenchSeries& series);
[[nodiscard]] BenchSeries series_of(const Json& json);
/// One line per cycle and rank; `lead` stands in the first columns.
[[nodiscard]] std::string csv_header(const std::string& lead);
[[nodiscard]] std::string csv_lines(const BenchSeries& series, const std::string& lead);

}  // namespace merganser::app
