#pragma once
/// Tails and quantiles of distributions, to about 1e-12 of the probability.
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser {

/// The x with P(N < x) = p for the standard normal distribution, 0 < p < 1.
[[nodiscard]] double normal_quantile(double p);

/// Student's distribution: P(T > t) with `freedom` > 0 degrees of freedom; for infinity the normal one.
/// @throws UsageError for other degrees of freedom
[[nodiscard]] double student_tail(double t, double freedom);
/// The t with student_tail(t) = tail. @throws UsageError unless 0 < tail < 1
[[nodiscard]] double student_quantile(double tail, double freedom);

/// P(X <= k) for `trials` >= 1 trials that succeed with probability `p`, 0 < p < 1; k <= trials.
[[nodiscard]] double binomial_up_to(std::uint64_t k, std::uint64_t trials, double p);

/// P(X <= k) of the Poisson distribution with `mean` > 0.
[[nodiscard]] double poisson_up_to(std::uint64_t k, double mean);
/// P(X >= k) of it.
[[nodiscard]] double poisson_from(std::uint64_t k, double mean);

}  // namespace merganser
