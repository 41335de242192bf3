#pragma once
/// Correlation of two samples.
#include <span>

#include "merganser/base/language.hpp"

namespace merganser {

/// Computes Pearson's correlation coefficient of two samples: the sum of the products of the deviations from the means, divided by
/// the square root of the product of the two sums of squared deviations. Local.
///
/// The result is in [-1, 1] up to rounding: 1 if one sample is an increasing linear function of the other, -1 if a decreasing one,
/// 0 if one of them is constant, which includes samples of fewer than two values. Sums are taken in the order of the values, so the
/// same samples give the same bits.
/// @param x  finite values
/// @param y  as many finite values; y[i] belongs to x[i]
/// @throws UsageError if the numbers of values differ
/// Cost: two passes, no memory.
[[nodiscard]] double pearson(std::span<const double> x, std::span<const double> y);

}  // namespace merganser
