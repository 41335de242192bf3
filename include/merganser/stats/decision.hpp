#pragma once
/// Choice of the fastest of several candidates (implementations, communication models) from timings, with its confidence.
///
/// The result is a function of the samples alone, by sums, products and comparisons: ranks with the same samples choose the same
/// candidate, without communication.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/stats/summary.hpp"

namespace merganser {

/// Candidate of decide(), an implementation or a communication model, with its measured times.
struct Candidate {
  std::string name;  ///< for error messages and reports
  /// Times by launch (or pass), positive, in the order in which they were measured. Where candidates were measured in turns, sample
  /// i of each is from the same turn, and a disturbance of a turn is taken to affect all candidates.
  std::vector<std::vector<double>> launches;
  /// Relative standard error, >= 0, that the scatter of the samples does not contain: of a prediction, or common to all launches.
  double uncertainty = 0;
};

/// Result of decide() for one candidate: its time, and the probability that it is the fastest.
struct Standing {
  std::size_t candidate = 0;  ///< index of the candidate
  Interval time;              ///< median over launches of the median of each, and its 95 % interval
  double probability = 0;     ///< share of resamples in which it is the fastest, in [0, 1]
  bool near_tie = false;      ///< within the tie of the fastest, or not significantly slower; false for the fastest
  bool told_apart = true;     ///< significantly slower than the fastest; true for the fastest
  /// Relative saving of the fastest over this candidate, 1 - fastest / this, and its 95 % interval, which may reach below 0.
  Interval saving;
};

/// Ranking of all candidates by their times, and the chosen one; decide() returns it.
struct Decision {
  std::vector<Standing> order;  ///< by time, fastest first; equal times in the order given
  /// Index of the chosen candidate: the first, in the order given, within the tie of the fastest. So a choice between equally fast
  /// candidates does not change from run to run.
  std::size_t chosen = 0;

  /// Returns the result for a candidate by its index in the arguments of decide(). @throws UsageError if there is no such candidate
  [[nodiscard]] const Standing& standing(std::size_t candidate) const;
};

/// Parameters of decide(), the bootstrap choice of the fastest candidate.
struct DecisionOptions {
  double tie = 0.05;         ///< relative differences up to this do not matter, >= 0
  double confidence = 0.95;  ///< share of resamples in which a candidate must be slower to be significantly slower
  int resamples = 1000;      ///< resamples of the bootstrap, >= 1
  std::uint64_t seed = 1;    ///< seed of the resamples
};

/// Ranks candidates by their times, and chooses one, by a bootstrap over launches and, within them, over samples. Local; equal
/// arguments give equal results on every rank.
/// @throws UsageError without candidates, for one without samples, for a time that is not positive and finite, and for fewer than 1
/// resamples
/// Cost: O(resamples * number of samples of all candidates), and their sorting.
[[nodiscard]] Decision decide(std::span<const Candidate> candidates, const DecisionOptions& options = {});

}  // namespace merganser
