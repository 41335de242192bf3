#pragma once
/// How far two samples go up and down together.
#include <span>

#include "merganser/base/language.hpp"

namespace merganser {

/// Pearson's correlation of two samples, value by value: the sum of the products of what values differ from their means,
/// over the root of the product of the two sums of squares. In [-1, 1] but for rounding: 1 where one sample is a rising
/// line of the other, -1 a falling one. 0 where one of them does not vary, so for fewer than two values, too.
///
/// Sums are made in the order of the values, so the same samples give the same bits. Cost: two passes, no memory.
/// @param x  any finite values
/// @param y  as many
/// @throws UsageError if they are not as many
[[nodiscard]] double pearson(std::span<const double> x, std::span<const double> y);

}  // namespace merganser
