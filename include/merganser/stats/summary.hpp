#pragma once
/// Summary statistics of small samples of timings: median, quantiles, bootstrap interval.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Minimum, median, mean and maximum of a sample of timings, in its unit; summarise() fills it.
struct Summary {
  double min = 0;         ///< least value
  double median = 0;      ///< mean of the middle two if the number of values is even
  double mean = 0;        ///< arithmetic mean
  double max = 0;         ///< greatest value
  std::size_t count = 0;  ///< number of values
};

/// Computes minimum, median, mean and maximum of a sample of timings; all zero for an empty one. The median of an even number of
/// samples is the mean of the middle two.
[[nodiscard]] Summary summarise(std::vector<double> samples);
/// Computes the median of a sample; 0 for an empty one. The median of an even number of samples is the mean of the middle two.
[[nodiscard]] double median(std::vector<double> samples);
/// Computes the median of each of several samples, such as those of launches; empty samples are skipped.
[[nodiscard]] std::vector<double> sample_medians(const std::vector<std::vector<double>>& samples);
/// Computes the q-quantile of a sample, for 0 <= q <= 1, by linear interpolation between order statistics.
/// @throws UsageError for an empty sample
[[nodiscard]] double quantile(std::vector<double> samples, double q);

/// Estimated value, mostly a median, with its confidence interval.
struct Interval {
  double low = 0;    ///< lower end of the interval
  double value = 0;  ///< the estimate
  double high = 0;   ///< upper end of the interval
  /// Returns the width of the interval divided by the value; 0 unless the value is positive.
  [[nodiscard]] double relative_width() const noexcept { return value > 0 ? (high - low) / value : 0; }
};

/// Computes the median of a sample with its bootstrap (percentile) interval from 2,000 resamples. The seed is fixed, so the same
/// samples give the same interval. A sample of one value gives an interval of zero width. @throws UsageError for an empty sample
[[nodiscard]] Interval median_interval(const std::vector<double>& samples, double confidence = 0.95,
                                       std::uint64_t seed = 1);

}  // namespace merganser
