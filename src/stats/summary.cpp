// Summary statistics of samples of timings, and the bootstrap interval of the median.
#include "merganser/stats/summary.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace merganser {
namespace {

constexpr int kResamples = 2000;  // of the bootstrap interval of a median

/// Returns the next number of the generator SplitMix64, for the resamples of the bootstrap interval.
std::uint64_t next_random(std::uint64_t& state) { return mix64(state += 0x9e3779b97f4a7c15ULL); }

/// Returns the q-quantile of a sorted sample, 0 <= q <= 1, by linear interpolation between order statistics.
double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double part = at - static_cast<double>(low);
  return part == 0 ? sorted[low] : sorted[low] + part * (sorted[high] - sorted[low]);
}

}  // namespace

Summary summarise(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  return {samples.front(), sorted_quantile(samples, 0.5), sum / static_cast<double>(samples.size()), samples.back(),
          samples.size()};
}

double median(std::vector<double> samples) { return summarise(std::move(samples)).median; }

std::vector<double> sample_medians(const std::vector<std::vector<double>>& samples) {
  std::vector<double> out;
  for (const auto& s : samples)
    if (!s.empty()) out.push_back(median(s));
  return out;
}

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) throw UsageError("quantile of an empty sample; allowed: of at least one value");
  std::sort(samples.begin(), samples.end());
  return sorted_quantile(samples, std::clamp(q, 0.0, 1.0));
}

// Computes the bootstrap interval of a median: quantiles of the medians of resamples with replacement.
Interval median_interval(const std::vector<double>& samples, double confidence, std::uint64_t seed) {
  if (samples.empty()) throw UsageError("confidence interval of an empty sample; allowed: of at least one value");
  std::vector<double> medians;
  medians.reserve(kResamples);
  std::vector<double> resample(samples.size());
  for (int r = 0; r < kResamples; ++r) {
    for (auto& x : resample) x = samples[next_random(seed) % samples.size()];
    medians.push_back(median(resample));
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - confidence) / 2;
  return {sorted_quantile(medians, tail), median(samples), sorted_quantile(medians, 1 - tail)};
}

}  // namespace merganser
