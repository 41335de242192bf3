#pragma once
/// Tail probabilities and quantiles of the normal, Student's, binomial and Poisson distributions, to about 1e-12 of the
/// probability.
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser {

/// Returns the p-quantile of the standard normal distribution: the x with P(N < x) = p, for 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// Returns the upper tail P(T > t) of Student's distribution with `freedom` degrees of freedom; of the normal one if that is
/// infinite.
/// @throws UsageError unless freedom > 0
[[nodiscard]] double student_tail(double t, double freedom);
/// Returns the t whose upper tail student_tail(t, freedom) is `tail`. @throws UsageError unless 0 < tail < 1 and freedom > 0
[[nodiscard]] double student_quantile(double tail, double freedom);

/// Returns P(X <= k) of the binomial distribution of `trials` >= 1 trials with success probability p, 0 < p < 1; k <= trials.
[[nodiscard]] double binomial_up_to(std::uint64_t k, std::uint64_t trials, double p);

/// Returns P(X <= k) of the Poisson distribution with `mean` > 0.
[[nodiscard]] double poisson_up_to(std::uint64_t k, double mean);
/// Returns P(X >= k) of the Poisson distribution with `mean` > 0.
[[nodiscard]] double poisson_from(std::uint64_t k, double mean);

}  // namespace merganser
