/// Summaries, quantiles and bootstrap intervals of small samples.
#include "merganser/stats/summary.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

TEST(Summary, of_some_numbers_does_not_depend_on_their_order) {
  const Summary s = summarise({4, 1, 3, 2});
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.median, 2.5);
  EXPECT_EQ(s.mean, 2.5);
  EXPECT_EQ(s.max, 4);
  EXPECT_EQ(s.count, 4U);
  EXPECT_EQ(summarise({9, 1, 5}).median, 5);
}

TEST(Summary, of_nothing_is_zero) {
  const Summary s = summarise({});
  EXPECT_EQ(s.count, 0U);
  EXPECT_EQ(s.min, 0);
  EXPECT_EQ(s.median, 0);
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.max, 0);
  EXPECT_EQ(median({}), 0);
}

TEST(Quantile, is_linear_between_the_order_statistics) {
  const std::vector<double> x{30, 10, 20, 40, 50};
  EXPECT_EQ(quantile(x, 0), 10);
  EXPECT_EQ(quantile(x, 0.5), 30);
  EXPECT_EQ(quantile(x, 1), 50);
  EXPECT_DOUBLE_EQ(quantile(x, 0.625), 35);
  EXPECT_EQ(quantile({7}, 0.9), 7);
  EXPECT_THROW(static_cast<void>(quantile({}, 0.5)), UsageError);
}

TEST(MedianInterval, holds_the_median_and_repeats_itself) {
  const std::vector<double> x{1.0, 1.1, 0.9, 1.3, 1.05, 2.0, 0.95};
  const Interval a = median_interval(x);
  EXPECT_EQ(a.value, median(x));
  EXPECT_LE(a.low, a.value);
  EXPECT_GE(a.high, a.value);
  EXPECT_LT(a.low, a.high);
  const Interval b = median_interval(x);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  const Interval narrow = median_interval(x, 0.5);
  EXPECT_LE(narrow.high - narrow.low, a.high - a.low);
}

TEST(MedianInterval, of_one_sample_has_no_width_and_of_none_is_an_error) {
  const Interval one = median_interval({3});
  EXPECT_EQ(one.low, 3);
  EXPECT_EQ(one.high, 3);
  EXPECT_THROW(static_cast<void>(median_interval({})), UsageError);
}

}  // namespace
