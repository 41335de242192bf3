#pragma once
/// Schedule of the benchmark's rounds on rank 0.
#include <vector>

#include "merganser/base/random.hpp"
#include "src/topology/measure_collect.hpp"

namespace merganser::topology::detail {

/// Sweeps over all configurations that have not converged: one round of each, in random order. The first sweep only measures
/// the cost of an iteration and of the rest of a round.
class Schedule {
 public:
  /// Limits of the measurement.
  struct Limits {
    double seconds = 0;  ///< duration of the measurement
    double width = 0;    ///< relative width of the interval of a converged median
    std::uint64_t seed = 1;
    std::uint32_t most_iterations = 0;  ///< largest number of iterations of a round
  };
  Schedule(const Cells& cells, Limits limits);

  /// Returns the next sweep; empty: the measurement is complete.
  [[nodiscard]] std::vector<Task> next_sweep(const Cells& cells, double elapsed_s);
  /// Records the duration and the results of a round. @param wall_s  duration of all of it, set-up included
  void record_round(const Task& task, double wall_s, const RoundSummary& summary, const CellResult& so_far);

  /// Returns true once every configuration has had a round: then the rest of a sweep may be dropped when the time is over.
  [[nodiscard]] bool has_measured_all() const noexcept { return sweeps_ > 2; }

  /// Returns the number of converged configurations.
  [[nodiscard]] std::size_t num_converged() const;
  /// Returns the expected duration of the whole measurement, in seconds from its beginning.
  [[nodiscard]] double expected_end(double elapsed_s) const;

 private:
  struct Cost {
    double iteration_s = 0;
    double round_s = 0;  ///< duration of a round without its iterations
    double spent_s = 0;
    double window_ns = 0;
    double last_s = 0;  ///< duration of the latest round
    std::uint32_t last_iterations = 0;
    bool known = false;
    bool converged = false;
  };
  [[nodiscard]] std::vector<std::size_t> unconverged_cells(const Cells& cells) const;
  [[nodiscard]] Task plan_round(std::size_t cell, double slice_s) const;
  [[nodiscard]] double expected_cost(const Task& task) const;
  [[nodiscard]] std::vector<Task> shuffle_tasks(const Cells& cells, std::vector<Task> tasks);
  void widen_window(Cost& cost, const Task& task, const RoundSummary& summary) const;

  Limits limits_;
  double fair_share_s_;
  std::vector<Cost> costs_;
  Random random_;
  int sweeps_ = 0;
};

}  // namespace merganser::topology::detail
