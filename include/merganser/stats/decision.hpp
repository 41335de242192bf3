#pragma once
/// Which of several ways to do the same work is the fastest, and how sure that is.
///
/// Everything here is a function of the samples alone, made of sums, products and comparisons: ranks that decide on the
/// same numbers decide the same.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/stats/summary.hpp"

namespace merganser {

/// One way, and how long it took.
struct Candidate {
  std::string name;
  /// Times by launch (or pass), in order of time. Where candidates were measured in turns, sample i of each is from the
  /// same turn, and what disturbed a turn is taken to have disturbed all.
  std::vector<std::vector<double>> launches;
  /// Relative standard error beyond what the samples show: of a prediction, or of what every launch has in common.
  double uncertainty = 0;
};

/// Where one candidate stands.
struct Standing {
  std::size_t candidate = 0;  ///< index of the candidate
  Interval time;              ///< median over launches of the median of each, and its 95 % interval
  double probability = 0;     ///< that it is the fastest
  bool near_tie = false;      ///< within the tie of the fastest, or not told apart from it
  bool told_apart = true;     ///< slower than the fastest with the asked confidence; true for the fastest
  /// 1 - fastest / this, with its 95 % interval; negative where this one is faster.
  Interval saving;
};

/// All candidates in order, and the one to take.
struct Decision {
  std::vector<Standing> order;  ///< by time, fastest first; equal times in the order given
  /// Index of the candidate to take: the first, in the order given, within the tie of the fastest. So a choice between
  /// equals does not change from run to run.
  std::size_t chosen = 0;

  /// The standing of a candidate by its index. @throws UsageError for an index that is none
  [[nodiscard]] const Standing& of(std::size_t candidate) const;
};

/// When two candidates count as different.
struct DecisionOptions {
  double tie = 0.05;         ///< differences up to this share do not matter, >= 0
  double confidence = 0.95;  ///< with which two are told apart
  int resamples = 1000;
  std::uint64_t seed = 1;
};

/// Decides by a bootstrap over launches and, within them, over samples. Local.
/// @throws UsageError without candidates, for one without samples, and for a time that is not positive and finite
/// Cost: resamples x all samples.
[[nodiscard]] Decision decide(std::span<const Candidate> candidates, const DecisionOptions& options = {});

}  // namespace merganser
