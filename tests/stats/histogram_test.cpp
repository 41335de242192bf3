/// Histogram: buckets, quantiles, merging, parts.
#include "merganser/stats/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using merganser::Histogram;

/// Returns n random durations in nanoseconds over nine decades, most of them short.
std::vector<std::uint64_t> durations(std::size_t n, std::uint64_t seed) {
  merganser::Random random(seed, 0, 0);
  std::vector<std::uint64_t> out(n);
  for (auto& x : out) x = static_cast<std::uint64_t>(std::exp(random.uniform(0, 9 * std::log(10.0))));
  return out;
}

Histogram make_histogram(const std::vector<std::uint64_t>& samples) {
  Histogram h;
  for (const auto x : samples) h.add(x);
  return h;
}

TEST(Histogram, puts_every_value_into_the_bucket_that_begins_at_or_below_it) {
  EXPECT_EQ(Histogram::bucket(0), 0U);
  std::size_t before = 0;
  for (std::uint64_t v = 1; v < std::uint64_t{1} << 39; v += v / 300 + 1) {
    const std::size_t b = Histogram::bucket(v);
    ASSERT_LT(b, Histogram::kBuckets);
    ASSERT_GE(b, before);
    before = b;
    ASSERT_LE(Histogram::lowest(b), v);
    if (b + 1 < Histogram::kBuckets) {
      ASSERT_GT(Histogram::lowest(b + 1), v);
      ASSERT_LE(Histogram::lowest(b + 1) - Histogram::lowest(b), v / 256 + 1) << v;
    }
  }
  EXPECT_EQ(before, Histogram::kBuckets - 1);
  EXPECT_EQ(Histogram::bucket(UINT64_MAX), Histogram::kBuckets - 1);
}

TEST(Histogram, takes_at_most_64_KiB_and_reaches_beyond_60_s) {
  EXPECT_LE(Histogram::kBuckets * sizeof(std::uint64_t), 64U * 1024);
  EXPECT_LT(Histogram::bucket(60'000'000'000), Histogram::kBuckets - 1);
}

TEST(Histogram, gives_quantiles_to_three_digits) {
  auto samples = durations(20001, 1);
  const Histogram h = make_histogram(samples);
  std::sort(samples.begin(), samples.end());
  for (const double q : {0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto exact = static_cast<double>(samples[static_cast<std::size_t>(q * 20000)]);
    EXPECT_NEAR(h.quantile(q), exact, exact * 0.005 + 1) << q;
  }
  EXPECT_EQ(h.min(), samples.front());
  EXPECT_EQ(h.max(), samples.back());
  EXPECT_EQ(h.quantile(1), static_cast<double>(samples.back()));
}

TEST(Histogram, gives_exact_quantiles_below_256_ns) {
  Histogram h;
  for (std::uint64_t v = 40; v <= 60; ++v) h.add(v);
  EXPECT_EQ(h.quantile(0.5), 50);
  EXPECT_EQ(h.quantile(0), 40);
  EXPECT_EQ(h.mean(), 50);
}

TEST(Histogram, is_the_same_whether_samples_are_added_or_histograms) {
  const auto samples = durations(3000, 2);
  Histogram merged;
  for (std::size_t part = 0; part < 3; ++part)
    merged += make_histogram({samples.begin() + static_cast<std::ptrdiff_t>(part) * 1000,
                              samples.begin() + static_cast<std::ptrdiff_t>(part + 1) * 1000});
  merged += Histogram();
  EXPECT_EQ(merged, make_histogram(samples));
  EXPECT_EQ(merged.count(), 3000U);
}

TEST(Histogram, comes_back_from_its_parts) {
  const Histogram h = make_histogram(durations(500, 3));
  const Histogram::Parts parts{h.first(), {h.counts().begin(), h.counts().end()}, h.min(), h.max(), h.sum()};
  EXPECT_NE(parts.counts.front(), 0U);
  EXPECT_NE(parts.counts.back(), 0U);
  EXPECT_EQ(Histogram::from_parts(parts), h);
  EXPECT_TRUE(Histogram::from_parts({}).empty());
}

TEST(Histogram, refuses_parts_that_contradict_themselves) {
  EXPECT_THROW((void)Histogram::from_parts({Histogram::kBuckets, {1}, 1, 1, 1}), merganser::InputError);
  EXPECT_THROW((void)Histogram::from_parts({SIZE_MAX, {1, 1}, 1, 1, 1}), merganser::InputError);
  EXPECT_THROW((void)Histogram::from_parts({7, {1}, 9, 9, 9}), merganser::InputError);
}

TEST(Histogram, counts_what_lies_above_every_bucket) {
  Histogram h;
  h.add(std::uint64_t{1} << 50);
  EXPECT_EQ(h.max(), std::uint64_t{1} << 50);
  EXPECT_EQ(h.quantile(0.5), static_cast<double>(std::uint64_t{1} << 50));
}

TEST(Histogram, tells_what_the_slowest_take) {
  Histogram h;
  for (int i = 0; i < 99; ++i) h.add(100);
  h.add(100'000);
  EXPECT_NEAR(h.sum_above(0.99), 100'000, 400);
  EXPECT_EQ(h.sum_above(1), 0);
  EXPECT_EQ(Histogram().sum_above(0.5), 0);
}

TEST(Histogram, has_no_quantile_where_it_is_empty) {
  EXPECT_THROW((void)Histogram().quantile(0.5), merganser::UsageError);
  EXPECT_EQ(Histogram().min(), 0U);
  EXPECT_EQ(Histogram().mean(), 0);
}

}  // namespace
