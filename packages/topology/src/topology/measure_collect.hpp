#pragma once
/// Collection of the timed iterations of all ranks into the statistics of a configuration of the benchmark; on rank 0.
#include <vector>

#include "src/topology/measure_round.hpp"

namespace merganser::topology::detail {

/// Statistics of one round of a configuration of the benchmark, over all ranks; filled by Collector::add().
struct RoundSummary {
  Round round;                      ///< the round as results have it: iterations, median, mean, 99 % quantile
  std::int64_t late = 0;            ///< iterations that began late on some rank and count on none
  double p90_ns = 0;                ///< 90 % quantile of the exchange time; 0 where no iteration counts
  double longest_ns = 0;            ///< longest time of a rank, late iterations included
  double start_skew_ns = 0;         ///< median time between the first and the last rank's beginning
  std::vector<double> rank_p50_ns;  ///< by rank: median of its times of an iteration, ns
  double loop_s = 0;                ///< duration of all iterations on the slowest rank, s
};

/// Accumulator of the timed rounds of one configuration of the benchmark; on rank 0.
class Collector {
 public:
  /// Starts without a round. @param result  identity of the configuration: graph, kernel, size, bytes and messages
  Collector(CellResult result, int ranks);

  /// Adds the times of a round, by rank. @return the statistics of the round
  /// @param keep  false: the round only measured its own duration, and is in no result
  RoundSummary add(const std::vector<RankTimes>& by_rank, bool keep);
  /// Adds the wall time of a round of the configuration, set-up and gathering included.
  void add_wall_time(double seconds) { result_.seconds += seconds; }
  /// Returns the configuration's result so far, without the statistics over all rounds.
  [[nodiscard]] const CellResult& result() const noexcept { return result_; }
  /// Returns the configuration's result with the statistics over all rounds.
  [[nodiscard]] CellResult final_result() const;

 private:
  CellResult result_;
  std::vector<double> rank_sum_ns_;            // by rank: sum of its times of all kept iterations
  std::vector<std::vector<double>> rank_p50_;  // by rank, then round
  std::vector<double> skews_;  // by round: median time between the first and the last rank's beginning, ns
};

}  // namespace merganser::topology::detail
