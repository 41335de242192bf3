#pragma once
/// From the times of all ranks to the statistics of a cell.
#include <vector>

#include "src/topology/measure_round.hpp"

namespace merganser::topology::detail {

/// What one round says of its cell.
struct RoundSummary {
  Round round;
  std::int64_t late = 0;
  double p90_ns = 0;      ///< of the exchange; 0 where no iteration counts
  double longest_ns = 0;  ///< late ones too
  double start_skew_ns = 0;
  std::vector<double> rank_p50_ns;
  double loop_s = 0;  ///< of the slowest rank
};

/// Collects the rounds of one cell; on rank 0.
class Collector {
 public:
  Collector(CellResult result, int ranks);

  /// @param keep  false: the round is looked at, but not kept
  RoundSummary add(const std::vector<RankTimes>& by_rank, bool keep);
  /// Wall time that rounds of the cell took, with what is around them.
  void spent(double seconds) { result_.seconds += seconds; }
  [[nodiscard]] const CellResult& result() const noexcept { return result_; }
  /// The result with everything filled in that comes from all rounds together.
  [[nodiscard]] CellResult finished() const;

 private:
  CellResult result_;
  std::vector<double> rank_sum_ns_;
  std::vector<std::vector<double>> rank_p50_;  // by rank, then round
  std::vector<double> skews_;
};

}  // namespace merganser::topology::detail
