#pragma once
/// Schedule of the rounds of the benchmark of exchanges, measure(), on rank 0.
#include <vector>

#include "merganser/base/random.hpp"
#include "src/topology/measure_collect.hpp"

namespace merganser::topology::detail {

/// Schedule of rounds in sweeps over all configurations whose median has not converged: one round of each, in random order. The
/// first sweep only measures the cost of an iteration and of the rest of a round.
class Schedule {
 public:
  /// Limits of the benchmark: its duration, and the precision at which a configuration has converged.
  struct Limits {
    double seconds = 0;                 ///< duration of the measurement, s
    double width = 0;                   ///< relative width of the interval of a converged median
    std::uint64_t seed = 1;             ///< seed of the random order of rounds
    std::uint32_t most_iterations = 0;  ///< largest number of iterations of a round
  };
  /// Starts before the first sweep over `cells`.
  Schedule(const Cells& cells, Limits limits);

  /// Returns the tasks of the next sweep over configurations; empty: the measurement is complete.
  [[nodiscard]] std::vector<Task> next_sweep(const Cells& cells, double elapsed_s);
  /// Records the duration and the results of a completed round. @param wall_s  duration of the round, s, set-up included
  /// @param so_far  results of the configuration, this round included
  void record_round(const Task& task, double wall_s, const RoundSummary& summary, const CellResult& so_far);

  /// Returns true once every configuration has had a round: then the rest of a sweep may be dropped when the time is over.
  [[nodiscard]] bool has_measured_all() const noexcept { return sweeps_ > 2; }

  /// Returns the number of configurations whose median has the required precision.
  [[nodiscard]] std::size_t num_converged() const;
  /// Returns the expected duration of the whole measurement, in seconds from its beginning.
  [[nodiscard]] double expected_end(double elapsed_s) const;

 private:
  /// Durations of one configuration's rounds, from which later rounds are planned; updated by record_round().
  struct Cost {
    double iteration_s = 0;             ///< smoothed duration of an iteration, s
    double round_s = 0;                 ///< smoothed duration of a round without its iterations, s
    double spent_s = 0;                 ///< wall time of all rounds, s
    double window_ns = 0;               ///< time between the beginnings of two iterations (Sync::roundtime)
    double last_s = 0;                  ///< duration of the latest round, s
    std::uint32_t last_iterations = 0;  ///< number of timed iterations of the latest round
    bool known = false;                 ///< true: a round has been recorded
    bool converged = false;             ///< true: the median has the required precision
  };
  [[nodiscard]] std::vector<std::size_t> unconverged_cells(const Cells& cells) const;
  [[nodiscard]] Task plan_round(std::size_t cell, double slice_s) const;
  [[nodiscard]] double expected_cost(const Task& task) const;
  [[nodiscard]] std::vector<Task> shuffle_tasks(const Cells& cells, std::vector<Task> tasks);
  void widen_window(Cost& cost, const Task& task, const RoundSummary& summary) const;

  Limits limits_;
  double fair_share_s_;      ///< duration of the measurement divided by the number of configurations, s
  std::vector<Cost> costs_;  ///< by configuration
  Random random_;
  int sweeps_ = 0;  ///< number of sweeps that were returned
};

}  // namespace merganser::topology::detail
