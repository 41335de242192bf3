#pragma once
/// What is measured when, and for how long: rank 0 decides.
#include <vector>

#include "merganser/base/random.hpp"
#include "src/topology/measure_collect.hpp"

namespace merganser::topology::detail {

/// Sweeps over all cells that have not converged: one round of each, in an order drawn anew. The first sweep only learns
/// what an iteration and the rest of a round cost.
class Schedule {
 public:
  struct Limits {
    double seconds = 0;  ///< from the beginning
    double width = 0;    ///< of a converged median
    std::uint64_t seed = 1;
    std::uint32_t most_iterations = 0;  ///< of one round
  };
  Schedule(const Cells& cells, Limits limits);

  /// The next sweep; empty: all has been done.
  [[nodiscard]] std::vector<Task> next(const Cells& cells, double elapsed_s);
  /// How a round went. @param wall_s  of all of it, set-up included
  void took(const Task& task, double wall_s, const RoundSummary& summary, const CellResult& so_far);

  /// True once every cell has had a round: what is left of a sweep may be dropped when the time is over.
  [[nodiscard]] bool may_end() const noexcept { return sweeps_ > 2; }

  [[nodiscard]] std::size_t converged() const;
  [[nodiscard]] double expected_end(double elapsed_s) const;

 private:
  struct Cost {
    double iteration_s = 0;
    double round_s = 0;  ///< of a round, without its iterations
    double spent_s = 0;
    double window_ns = 0;
    double last_s = 0;  ///< the latest round
    std::uint32_t last_iterations = 0;
    bool known = false;
    bool converged = false;
  };
  [[nodiscard]] std::vector<std::size_t> active(const Cells& cells) const;
  [[nodiscard]] Task plan(std::size_t cell, double slice_s) const;
  [[nodiscard]] double price(const Task& task) const;
  [[nodiscard]] std::vector<Task> in_order(const Cells& cells, std::vector<Task> tasks);
  void widen_window(Cost& cost, const Task& task, const RoundSummary& summary) const;

  Limits limits_;
  double fair_share_s_;
  std::vector<Cost> costs_;
  Random random_;
  int sweeps_ = 0;
};

}  // namespace merganser::topology::detail
