#pragma once
/// Collection of the times of all ranks into the statistics of a configuration; on rank 0.
#include <vector>

#include "src/topology/measure_round.hpp"

namespace merganser::topology::detail {

/// Statistics of one round of a configuration, over all ranks.
struct RoundSummary {
  Round round;
  std::int64_t late = 0;            ///< iterations that began late
  double p90_ns = 0;                ///< 90 % quantile of the exchange; 0 where no iteration counts
  double longest_ns = 0;            ///< longest time of a rank, late iterations included
  double start_skew_ns = 0;         ///< median time between the first and the last rank's beginning
  std::vector<double> rank_p50_ns;  ///< by rank: median of its times
  double loop_s = 0;                ///< duration of all iterations on the slowest rank
};

/// Accumulator of the rounds of one configuration; on rank 0.
class Collector {
 public:
  Collector(CellResult result, int ranks);

  /// Adds the times of a round, by rank. @return the statistics of the round. @param keep  false: the round is in no
  /// result
  RoundSummary add(const std::vector<RankTimes>& by_rank, bool keep);
  /// Adds the wall time of a round, set-up and gathering included.
  void add_wall_time(double seconds) { result_.seconds += seconds; }
  /// Returns the result so far, without the statistics over all rounds.
  [[nodiscard]] const CellResult& result() const noexcept { return result_; }
  /// Returns the result with the statistics over all rounds.
  [[nodiscard]] CellResult final_result() const;

 private:
  CellResult result_;
  std::vector<double> rank_sum_ns_;
  std::vector<std::vector<double>> rank_p50_;  // by rank, then round
  std::vector<double> skews_;
};

}  // namespace merganser::topology::detail
