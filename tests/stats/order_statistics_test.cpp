/// Order statistics: sample sizes that allow a quantile, ranks against tables, and the coverage of confidence intervals by
/// simulation.
#include "merganser/stats/order_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

/// Draws a standard normal number by the transformation of Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

TEST(Sample, allows_a_quantile_with_ten_expected_beyond_it) {
  EXPECT_TRUE(allows_quantile(1000, 0.99));
  EXPECT_FALSE(allows_quantile(999, 0.99));
  EXPECT_TRUE(allows_quantile(10000, 0.999));
  EXPECT_FALSE(allows_quantile(9999, 0.999));
  EXPECT_TRUE(allows_quantile(100, 0.9));
  EXPECT_FALSE(allows_quantile(99, 0.9));
  EXPECT_FALSE(allows_quantile(0, 0.5));
}

TEST(QuantileRanks, are_those_of_the_tables) {
  // Counted from 1 in tables of the sign test: 6: 1, 6; 10: 2, 9; 20: 6, 15; 100: 40, 61.
  EXPECT_FALSE(quantile_bounds(5, 0.5).has_value());
  EXPECT_EQ(quantile_bounds(6, 0.5), (OrderStatistics{0, 5}));
  EXPECT_EQ(quantile_bounds(10, 0.5), (OrderStatistics{1, 8}));
  EXPECT_EQ(quantile_bounds(20, 0.5), (OrderStatistics{5, 14}));
  EXPECT_EQ(quantile_bounds(100, 0.5), (OrderStatistics{39, 60}));
  EXPECT_FALSE(quantile_bounds(0, 0.5).has_value());
}

TEST(QuantileRanks, agree_where_the_exact_ones_end) {
  const auto exact = quantile_bounds(1000, 0.5);
  const auto normal_ones = quantile_bounds(1001, 0.5);
  ASSERT_TRUE(exact && normal_ones);
  EXPECT_NEAR(static_cast<double>(exact->low), static_cast<double>(normal_ones->low), 1.5);
  EXPECT_NEAR(static_cast<double>(exact->high), static_cast<double>(normal_ones->high), 1.5);
}

TEST(QuantileRanks, refuse_what_is_no_share) {
  EXPECT_THROW((void)quantile_bounds(10, 1), UsageError);
  EXPECT_THROW((void)quantile_bounds(10, 0.5, 0), UsageError);
}

TEST(QuantileInterval, covers_the_quantile_of_independent_samples) {
  // Uniform over 0 .. 1 ms, so that the q-quantile is q ms.
  struct Case {
    double q;
    std::uint32_t n;
  };
  for (const auto& [q, n] : {Case{0.5, 101}, Case{0.5, 1500}, Case{0.9, 1000}, Case{0.99, 5000}}) {
    int covered = 0;
    for (std::uint32_t launch = 0; launch < 400; ++launch) {
      Random random(7, n, launch);
      Histogram h;
      for (std::uint32_t i = 0; i < n; ++i) h.add(random.below(1'000'000));
      const auto interval = quantile_interval(h, q);
      covered += interval.low <= q * 1e6 && q * 1e6 <= interval.high ? 1 : 0;
    }
    EXPECT_GE(covered, 400 * 0.92) << q << ' ' << n;
    EXPECT_LE(covered, 400 * 0.985) << q << ' ' << n;
  }
}

TEST(QuantileInterval, is_the_whole_sample_where_that_is_small) {
  Histogram h;
  h.add(100);
  h.add(300);
  const auto interval = quantile_interval(h, 0.99);
  EXPECT_EQ(interval.low, 100);
  EXPECT_EQ(interval.high, 300);
}

TEST(Spread, has_the_least_and_an_interval_of_order_statistics) {
  const Spread few = sample_spread({3, 1, 2});
  EXPECT_EQ(few.min, 1);
  EXPECT_EQ(few.count, 3);
  EXPECT_EQ(few.median.low, 1);
  EXPECT_EQ(few.median.value, 2);
  EXPECT_EQ(few.median.high, 3);
  std::vector<double> fifteen;
  for (int i = 15; i > 0; --i) fifteen.push_back(i);
  const Spread many = sample_spread(fifteen);  // ranks 4 and 12 of 15: P(Binomial(15, 1/2) <= 3) = 0.0176
  EXPECT_EQ(many.median.low, 4);
  EXPECT_EQ(many.median.value, 8);
  EXPECT_EQ(many.median.high, 12);
  EXPECT_EQ(many.min, 1);
  EXPECT_EQ(sample_spread({}).count, 0);
}

/// Draws blocks like the rounds of a benchmark: each block has a level, the levels form an autoregressive series with the given
/// lag-one correlation, and the samples of a block scatter around its level with a longer tail above.
std::vector<std::vector<double>> draw_blocks(std::uint32_t launch, int blocks, int samples, double correlation) {
  Random random(11, static_cast<std::uint64_t>(correlation * 100) + 1, launch);
  std::vector<std::vector<double>> out;
  double level = normal(random) / std::sqrt(1 - correlation * correlation);
  for (int b = 0; b < blocks; ++b) {
    level = correlation * level + normal(random);
    auto& block = out.emplace_back();
    for (int i = 0; i < samples; ++i) {
      const double side = random.uniform() < 0.5 ? -random.uniform() : 5 * random.uniform();
      block.push_back(1000 + 10 * level + 3 * side);
    }
  }
  return out;
}

double sample_median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// Returns the percentage of 1,000 series whose interval contains the true median.
double block_coverage(int blocks, double correlation) {
  constexpr int kLaunches = 1000;
  int covered = 0;
  for (std::uint32_t launch = 0; launch < kLaunches; ++launch) {
    std::vector<double> medians;
    for (auto& b : draw_blocks(launch, blocks, 21, correlation)) medians.push_back(sample_median(std::move(b)));
    const auto interval = block_median_interval(medians);
    covered += interval.low <= 1000.0 && 1000.0 <= interval.high ? 1 : 0;
  }
  return 100.0 * covered / kLaunches;
}

TEST(BlockMedianInterval, covers_90_to_98_percent_for_blocks_that_are_independent_or_drift) {
  for (const int blocks : {6, 8, 16, 40}) {
    const double c = block_coverage(blocks, 0);
    EXPECT_TRUE(c >= 90 && c <= 98) << blocks << " independent blocks: " << c;
  }
  for (const int blocks : {12, 16, 40}) {
    const double c = block_coverage(blocks, 0.3);
    EXPECT_TRUE(c >= 90 && c <= 98) << blocks << " blocks, correlation 0.3: " << c;
  }
  for (const int blocks : {24, 40}) {
    const double c = block_coverage(blocks, 0.6);
    EXPECT_TRUE(c >= 90 && c <= 98) << blocks << " blocks, correlation 0.6: " << c;
  }
}

TEST(BlockMedianInterval, is_not_taken_in_by_many_samples_that_are_alike) {
  // An interval that assumes the 16 x 200 samples to be independent misses the median most of the time.
  int naive = 0;
  for (std::uint32_t launch = 0; launch < 200; ++launch) {
    Histogram all;
    for (const auto& b : draw_blocks(launch, 16, 200, 0))
      for (const double x : b) all.add(static_cast<std::uint64_t>(std::llround(x * 100)));
    const auto interval = quantile_interval(all, 0.5);
    naive += interval.low <= 100'000 && 100'000 <= interval.high ? 1 : 0;
  }
  EXPECT_LT(naive, 80);
  EXPECT_GE(block_coverage(16, 0), 90);
}

TEST(BlockMedianInterval, holds_the_median_and_is_symmetric_in_order) {
  const std::vector<double> blocks{5, 1, 4, 2, 3, 9, 7, 6, 8};
  const auto interval = block_median_interval(blocks);
  EXPECT_EQ(interval.value, 5);
  EXPECT_LE(interval.low, 5);
  EXPECT_GE(interval.high, 5);
  EXPECT_DOUBLE_EQ(interval.low - 1, 9 - interval.high);
  EXPECT_LT(block_median_interval(blocks, 0.5).relative_width(), interval.relative_width());
}

TEST(BlockMedianInterval, is_that_of_the_extremes_for_a_few_blocks) {
  const std::vector<double> few{3, 1, 2};
  EXPECT_EQ(block_median_interval(few).low, 1);
  EXPECT_EQ(block_median_interval(few).high, 3);
  const std::vector<double> one{4};
  EXPECT_EQ(block_median_interval(one).relative_width(), 0);
  const std::vector<double> same(20, 4.0);
  EXPECT_EQ(block_median_interval(same).relative_width(), 0);
  EXPECT_THROW((void)block_median_interval({}), UsageError);
}

}  // namespace
