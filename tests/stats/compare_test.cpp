/// Regression gate on suites of known changes; tails of Student's distribution against tables.
#include "merganser/stats/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/stats/distributions.hpp"
#include "tests/stats/timed_world.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

TEST(Student, tails_are_those_of_the_tables) {
  EXPECT_NEAR(student_tail(12.706, 1), 0.025, 1e-6);
  EXPECT_NEAR(student_tail(2.228, 10), 0.025, 1e-5);
  EXPECT_NEAR(student_tail(3.365, 5), 0.01, 1e-5);
  EXPECT_NEAR(student_tail(1.959964, std::numeric_limits<double>::infinity()), 0.025, 1e-7);
  EXPECT_NEAR(student_tail(-2.228, 10), 0.975, 1e-5);
  EXPECT_DOUBLE_EQ(student_tail(0, 3), 0.5);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.2281, 1e-4);
  EXPECT_NEAR(student_quantile(0.995, 7), -3.4995, 1e-4);
  EXPECT_NEAR(student_quantile(0.5, 4), 0, 1e-6);
}

TEST(Compare, names_the_family_that_became_slower) {
  const auto c = compare_suites(changed({}, 5, 1.2, 3));
  EXPECT_TRUE(c.slower);
  EXPECT_FALSE(c.assumed);
  for (const auto& f : c.families)
    EXPECT_EQ(f.verdict, f.name == "kernel 3" ? Verdict::slower : Verdict::same) << f.name << ' ' << f.ratio;
  EXPECT_NEAR(c.families[3].ratio, 1.2, 0.05);
  EXPECT_LT(c.families[3].low, c.families[3].ratio);
  EXPECT_GT(c.families[3].high, c.families[3].ratio);
}

TEST(Compare, a_family_is_not_slower_because_all_others_became_faster) {
  const World w{.kernels = 4};
  std::vector<TimedPair> pairs = changed(w, 9, 1);
  for (auto& p : pairs)
    if (p.family != "kernel 0") scale(p, 0.8);
  const auto c = compare_suites(pairs);
  EXPECT_FALSE(c.slower);
  EXPECT_TRUE(c.faster);
}

TEST(Compare, one_timing_alone_is_found_if_it_changed_much) {
  std::vector<TimedPair> pairs = changed({}, 6, 1);
  scale(pairs[40], 1.8);
  const auto c = compare_suites(pairs);
  EXPECT_TRUE(c.slower);
  EXPECT_EQ(c.timings[40].verdict, Verdict::slower);
  pairs[40].decides = false;
  EXPECT_FALSE(compare_suites(pairs).slower);
}

TEST(Compare, a_change_below_the_threshold_does_not_count) {
  const World quiet{.launches = 10, .launch = 0.002, .kernel = 0.002, .cell = 0.005, .round = 0.005, .outliers = 0};
  const auto c = compare_suites(changed(quiet, 7, 1.04));
  EXPECT_FALSE(c.slower);
  EXPECT_EQ(c.suite.verdict, Verdict::small);
  EXPECT_TRUE(compare_suites(changed(quiet, 7, 1.04), {.threshold = 0.02}).slower);
}

TEST(Compare, single_times_show_large_changes_only) {
  const auto pair = [](double after) { return std::vector<TimedPair>{{"step", "step", {{1.0}}, {{after}}}}; };
  EXPECT_FALSE(compare_suites(pair(1.5)).slower);
  EXPECT_TRUE(compare_suites(pair(4)).slower);
  EXPECT_FALSE(compare_suites(pair(0.25)).slower);
  EXPECT_TRUE(compare_suites(pair(0.25)).faster);
  EXPECT_GT(compare_suites(pair(1)).suite.detectable, 0.3);
}

TEST(Compare, equal_sides_are_the_same) {
  const std::vector<TimedPair> pairs{{"a", "f", {{1, 1, 1}}, {{1, 1, 1}}}, {"b", "f", {{2}}, {{2}}}};
  const auto c = compare_suites(pairs);
  EXPECT_FALSE(c.slower);
  EXPECT_EQ(c.suite.ratio, 1);
  EXPECT_EQ(c.timings[0].p, 1);
}

TEST(Compare, sides_may_have_different_numbers_of_launches_and_rounds) {
  const std::vector<TimedPair> pairs{{"a", "f", {{1, 1.01}, {1.02}, {0.99, 1, 1}}, {{1.5}}},
                                     {"b", "g", {{2}, {}, {2.02}}, {{3, 3.1}, {3.05}}}};
  const auto c = compare_suites(pairs);
  EXPECT_TRUE(c.assumed);
  EXPECT_NEAR(c.timings[0].ratio, 1.5 / std::exp(std::log(1.005 * 1.02) / 3), 1e-9);
}

TEST(Compare, refuses_what_cannot_be_compared) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto one = [](double x) { return std::vector<TimedPair>{{"a", "f", {{x}}, {{1.0}}}}; };
  EXPECT_THROW((void)compare_suites({}), UsageError);
  EXPECT_THROW((void)compare_suites(one(nan)), UsageError);
  EXPECT_THROW((void)compare_suites(one(0)), UsageError);
  EXPECT_THROW((void)compare_suites(one(-1)), UsageError);
  EXPECT_THROW((void)compare_suites(std::vector<TimedPair>{{"a", "f", {}, {{1.0}}}}), UsageError);
  EXPECT_THROW((void)compare_suites(one(1), {.threshold = 0}), UsageError);
  EXPECT_THROW((void)compare_suites(one(1), {.false_alarms = 1}), UsageError);
  EXPECT_THROW((void)compare_suites(one(1), {.launch_floor = -1}), UsageError);
  EXPECT_THROW((void)compare_suites(one(1), {.single_floor = nan}), UsageError);
  EXPECT_THROW((void)student_tail(1, 0), UsageError);
  EXPECT_THROW((void)student_quantile(0, 3), UsageError);
}

}  // namespace
