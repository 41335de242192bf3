#include "merganser/base/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

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

/// A suite like the default one of the benchmark, disturbed on every level, as such measurements are.
struct World {
  int kernels = 8, cells = 36, launches = 10, rounds = 4;
  double launch = 0.02;    ///< relative deviation of what a launch does to everything,
  double kernel = 0.015;   ///< to one kernel,
  double cell = 0.04;      ///< to one cell,
  double round = 0.04;     ///< and what a round does to a cell
  double outliers = 0.05;  ///< share of rounds that take up to three times as long
};

/// Times of one side. `slow` is the factor of kernel `which`, or of all if that is negative.
void add_side(const World& w, std::uint64_t seed, bool after, double slow, int which, std::vector<TimedPair>& pairs) {
  const std::uint64_t side = seed * 2 + (after ? 1 : 0);
  const auto normal = [](Random& r) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += r.uniform();
    return sum;
  };
  for (int l = 0; l < w.launches; ++l) {
    Random r(side, static_cast<std::uint64_t>(l), 0);
    const double common = w.launch * normal(r);
    for (int k = 0; k < w.kernels; ++k) {
      const double shared = common + w.kernel * normal(r);
      for (int c = 0; c < w.cells; ++c) {
        TimedPair& p = pairs[static_cast<std::size_t>(k * w.cells + c)];
        // Some cells have two states, near what the clock resolves.
        const double states = c % 12 == 0 ? 0.15 * (r.uniform() < 0.5 ? 1 : 0) : 0;
        const double mine = shared + w.cell * normal(r) + states;
        auto& rounds = (after ? p.after : p.before).emplace_back();
        for (int i = 0; i < w.rounds; ++i) {
          double x = 1000.0 * (1 + k) * (1 + c) * std::exp(mine + w.round * normal(r));
          if (r.uniform() < w.outliers) x *= r.uniform(1, 3);
          rounds.push_back(which < 0 || which == k ? x * slow : x);
        }
      }
    }
  }
}

std::vector<TimedPair> suite(const World& w, std::uint64_t seed, double slow, int which = -1) {
  std::vector<TimedPair> pairs;
  for (int k = 0; k < w.kernels; ++k)
    for (int c = 0; c < w.cells; ++c)
      pairs.push_back({"kernel " + std::to_string(k) + " cell " + std::to_string(c), "kernel " + std::to_string(k)});
  add_side(w, seed, false, 1, which, pairs);
  add_side(w, seed, true, slow, which, pairs);
  return pairs;
}

int found(const World& w, int trials, double slow, int which, std::uint64_t seed) {
  int n = 0;
  for (int t = 0; t < trials; ++t)
    n += compare_suites(suite(w, seed + static_cast<std::uint64_t>(t), slow, which)).slower ? 1 : 0;
  return n;
}

class CompareTrials : public testing::TestWithParam<std::pair<const char*, World>> {};

INSTANTIATE_TEST_SUITE_P(
    Records, CompareTrials,
    testing::Values(std::pair{"ten_launches", World{}}, std::pair{"five_launches", World{.launches = 5}},
                    std::pair{"one_quiet_launch", World{.launches = 1, .rounds = 8, .launch = 0.01, .kernel = 0.008}},
                    std::pair{"few_cells", World{.kernels = 5, .cells = 6}}),
    [](const auto& info) { return std::string(info.param.first); });

TEST_P(CompareTrials, a_slowdown_of_a_tenth_of_everything_is_found) {
  EXPECT_GE(found(GetParam().second, 40, 1.1, -1, 1000), 38);
}
TEST_P(CompareTrials, a_slowdown_of_a_tenth_of_one_kernel_is_found) {
  EXPECT_GE(found(GetParam().second, 40, 1.1, 2, 2000), 38);
}
TEST_P(CompareTrials, no_change_raises_at_most_one_alarm_in_a_hundred) {
  EXPECT_LE(found(GetParam().second, 100, 1, -1, 4000), 1);
}

TEST(Compare, names_the_family_that_became_slower) {
  const auto c = compare_suites(suite({}, 5, 1.2, 3));
  EXPECT_TRUE(c.slower);
  EXPECT_FALSE(c.one_launch);
  for (const auto& f : c.families)
    EXPECT_EQ(f.verdict, f.name == "kernel 3" ? Verdict::slower : Verdict::same) << f.name << ' ' << f.ratio;
  EXPECT_NEAR(c.families[3].ratio, 1.2, 0.05);
  EXPECT_LT(c.families[3].low, c.families[3].ratio);
  EXPECT_GT(c.families[3].high, c.families[3].ratio);
}

TEST(Compare, a_family_is_not_slower_because_all_others_became_faster) {
  const World w{.kernels = 4};
  std::vector<TimedPair> pairs = suite(w, 9, 1);
  for (auto& p : pairs)
    if (p.family != "kernel 0")
      for (auto& launch : p.after)
        for (auto& x : launch) x *= 0.8;
  const auto c = compare_suites(pairs);
  EXPECT_FALSE(c.slower);
  EXPECT_TRUE(c.faster);
}

TEST(Compare, one_timing_alone_is_found_if_it_changed_much) {
  std::vector<TimedPair> pairs = suite({}, 6, 1);
  for (auto& launch : pairs[40].after)
    for (auto& x : launch) x *= 1.8;
  const auto c = compare_suites(pairs);
  EXPECT_TRUE(c.slower);
  EXPECT_EQ(c.timings[40].verdict, Verdict::slower);
  pairs[40].decides = false;
  EXPECT_FALSE(compare_suites(pairs).slower);
}

TEST(Compare, a_change_below_the_threshold_does_not_count) {
  const World quiet{.launches = 10, .launch = 0.002, .kernel = 0.002, .cell = 0.005, .round = 0.005, .outliers = 0};
  const auto c = compare_suites(suite(quiet, 7, 1.04));
  EXPECT_FALSE(c.slower);
  EXPECT_EQ(c.suite.verdict, Verdict::small);
  EXPECT_TRUE(compare_suites(suite(quiet, 7, 1.04), {.threshold = 0.02}).slower);
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
  EXPECT_FALSE(c.one_launch);
  EXPECT_TRUE(c.slower);
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
  EXPECT_THROW((void)student_tail(1, 0), UsageError);
  EXPECT_THROW((void)student_quantile(0, 3), UsageError);
}

}  // namespace
