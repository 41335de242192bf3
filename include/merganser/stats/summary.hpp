#pragma once
/// Statistics of small samples: what timings are reported as.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Least, middle and greatest of a sample.
struct Summary {
  double min = 0;
  double median = 0;
  double mean = 0;
  double max = 0;
  std::size_t count = 0;
};

/// All zero for an empty sample. The median of an even number is the mean of the middle two.
[[nodiscard]] Summary summarise(std::vector<double> samples);
/// The median alone.
[[nodiscard]] double median(std::vector<double> samples);
/// The median of each sample that is not empty, as those of launches.
[[nodiscard]] std::vector<double> medians_of(const std::vector<std::vector<double>>& samples);
/// The q-quantile, 0 <= q <= 1, linear between the order statistics. @throws UsageError for an empty sample
[[nodiscard]] double quantile(std::vector<double> samples, double q);

/// A value that was estimated, mostly a median, and the confidence interval that holds it.
struct Interval {
  double low = 0;
  double value = 0;
  double high = 0;
  /// Width over value; 0 unless the value is positive.
  [[nodiscard]] double relative_width() const noexcept { return value > 0 ? (high - low) / value : 0; }
};

/// Bootstrap (percentile) interval of the median: 2,000 resamples drawn from a fixed seed, so the same samples give the
/// same interval. One sample gives an interval of no width. @throws UsageError for an empty sample
[[nodiscard]] Interval median_interval(const std::vector<double>& samples, double confidence = 0.95,
                                       std::uint64_t seed = 1);

}  // namespace merganser
