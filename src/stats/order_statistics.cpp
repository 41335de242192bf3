// Confidence intervals of quantiles by order statistics: exact binomial probabilities up to kExactUpTo samples, then normal ones.
#include "merganser/stats/order_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/stats/distributions.hpp"

namespace merganser {
namespace {

constexpr std::uint64_t kExactUpTo = 1000;  // samples up to which the binomial distribution is used, not the normal one

/// Returns the largest k with P(Bin(n, q) <= k - 1) <= tail, 0 if there is none: the k-th smallest sample (from 1) is above the
/// q-quantile if fewer than k samples are below it, which has that probability.
std::uint64_t lower_rank(std::uint64_t n, double q, double tail) {
  std::uint64_t k = 0;
  while (k < n && binomial_up_to(k, n, q) <= tail) ++k;
  return k;
}

/// Checks that a quantile or a confidence is between 0 and 1. @throws UsageError, beginning with `what`, if not
void check_share(const char* what, double x) {
  if (!(x > 0 && x < 1)) throw UsageError(std::string(what) + " is " + number_text(x) + "; allowed: between 0 and 1");
}

/// Returns the order statistic of a rank (from 0) of a histogram: sample i of n is its ((i + 1/2) / n)-quantile.
double order_statistic(const Histogram& h, std::uint64_t rank) {
  return h.quantile((static_cast<double>(rank) + 0.5) / static_cast<double>(h.count()));
}

/// Returns the distance of both ends of the median's interval from the extremes, in order statistics, interpolated between the last
/// depth that reaches the confidence and the first that does not, by the formula of [hettmansperger1986].
double median_depth(std::size_t n, double confidence) {
  const auto samples = static_cast<double>(n);
  if (n > kExactUpTo) return (samples - 1) / 2 - normal_quantile((1 + confidence) / 2) * std::sqrt(samples) / 2;
  const auto reached = [n](std::size_t k) { return 1 - 2 * binomial_up_to(k - 1, n, 0.5); };
  std::size_t k = 1;
  if (reached(k) < confidence) return 0;
  while (k + 1 <= n / 2 && reached(k + 1) >= confidence) ++k;
  if (k + 1 > n / 2) return static_cast<double>(k - 1);
  const auto depth = static_cast<double>(k);
  const double part = (reached(k) - confidence) / (reached(k) - reached(k + 1));
  return depth - 1 + (samples - depth) * part / (depth + (samples - 2 * depth) * part);
}

/// Estimates the lag-one autocorrelation of the ranks of a series, corrected by 1/n for its negative bias and clamped to [0, 0.9];
/// ties get their mean rank.
double rank_autocorrelation(std::span<const double> series, const std::vector<double>& sorted) {
  const auto n = static_cast<double>(series.size());
  std::vector<double> rank;
  double square = 0;
  for (const double x : series) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), x);
    rank.push_back(static_cast<double>((low - sorted.begin()) + (high - sorted.begin()) - 1) / 2 - (n - 1) / 2);
    square += rank.back() * rank.back();
  }
  if (square == 0) return 0;
  double product = 0;
  for (std::size_t i = 1; i < rank.size(); ++i) product += rank[i] * rank[i - 1];
  return std::clamp(product / square + 1 / n, 0.0, 0.9);
}

/// Returns a value between two order statistics of a sorted sample by linear interpolation; `at` is a rank from 0.
double interpolate(const std::vector<double>& sorted, double at) {
  const auto low = static_cast<std::size_t>(at);
  const double part = at - static_cast<double>(low);
  return part == 0 ? sorted[low] : sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

}  // namespace

bool allows_quantile(std::uint64_t samples, double q) {
  // The tolerance is for the rounding of 1 - q: q = 0.999 requires 10,000 samples, not one more.
  return static_cast<double>(samples) * (1 - q) >= 10 * (1 - 1e-9);
}

// Returns the ranks that bound a quantile: two tail problems, the upper one in descending order.
std::optional<OrderStatistics> quantile_bounds(std::uint64_t samples, double q, double confidence) {
  check_share("quantile", q);
  check_share("confidence", confidence);
  if (samples == 0) return std::nullopt;
  const double tail = (1 - confidence) / 2;
  if (samples <= kExactUpTo) {
    const std::uint64_t low = lower_rank(samples, q, tail);
    const std::uint64_t high = lower_rank(samples, 1 - q, tail);  // the same problem in descending order
    if (low == 0 || high == 0) return std::nullopt;
    return OrderStatistics{low - 1, samples - high};
  }
  const auto n = static_cast<double>(samples);
  const double half = -normal_quantile(tail) * std::sqrt(n * q * (1 - q));
  const double low = std::floor(n * q - half);
  const double high = std::ceil(n * q + half);
  if (low < 1 || high >= n) return std::nullopt;
  return OrderStatistics{static_cast<std::uint64_t>(low) - 1, static_cast<std::uint64_t>(high)};
}

Interval quantile_interval(const Histogram& samples, double q, double confidence) {
  const auto ranks = quantile_bounds(samples.count(), q, confidence);
  const double value = samples.quantile(q);
  if (!ranks) return {static_cast<double>(samples.min()), value, static_cast<double>(samples.max())};
  return {std::min(value, order_statistic(samples, ranks->low)), value,
          std::max(value, order_statistic(samples, ranks->high))};
}

Interval sample_median_interval(std::vector<double> samples, double confidence) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  const auto ends = quantile_bounds(n, 0.5, confidence).value_or(OrderStatistics{0, n - 1});
  return {samples[ends.low], (samples[(n - 1) / 2] + samples[n / 2]) / 2, samples[ends.high]};
}

Spread sample_spread(std::vector<double> samples) {
  if (samples.empty()) return {};
  const double least = *std::min_element(samples.begin(), samples.end());
  const auto count = static_cast<std::int64_t>(samples.size());
  return {least, sample_median_interval(std::move(samples)), count};
}

// Returns the interval of the median of blocks, widened by the autocorrelation of neighbouring blocks.
Interval block_median_interval(std::span<const double> blocks, double confidence) {
  check_share("confidence", confidence);
  if (blocks.empty()) throw UsageError("interval of the median of no block; allowed: of at least one");
  std::vector<double> sorted(blocks.begin(), blocks.end());
  std::sort(sorted.begin(), sorted.end());
  const double last = static_cast<double>(sorted.size()) - 1;
  const double r = rank_autocorrelation(blocks, sorted);
  const double half = (last / 2 - median_depth(sorted.size(), confidence)) * std::sqrt((1 + r) / (1 - r));
  const double low = std::max(0.0, last / 2 - half);
  return {interpolate(sorted, low), interpolate(sorted, last / 2), interpolate(sorted, last - low)};
}

}  // namespace merganser
