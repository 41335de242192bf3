/// Error rates of the regression gate by simulation with fixed seeds: false alarms, and detection of the slowdowns that it reports
/// as detectable.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "merganser/stats/summary.hpp"
#include "tests/stats/timed_world.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct Trial {
  const char* name;
  World world;
};

std::ostream& operator<<(std::ostream& out, const Trial& t) { return out << t.name; }

World uncorrelated(int launches) {
  World w = shared_machine(launches);
  w.launch = 0;
  w.kernel = 0.07;
  return w;
}
World wide(int launches) {
  World w = shared_machine(launches);
  w.kernels = 12;
  w.cells = 12;
  return w;
}

class CompareTrials : public testing::TestWithParam<Trial> {};

INSTANTIATE_TEST_SUITE_P(
    Worlds, CompareTrials,
    testing::Values(Trial{"one_launch", shared_machine(1)}, Trial{"one_launch_heavy_tails", shared_machine(1, 0.1)},
                    Trial{"two_launches", shared_machine(2)}, Trial{"five_launches", shared_machine(5)},
                    Trial{"five_launches_heavy_tails", shared_machine(5, 0.1)},
                    Trial{"five_launches_uncorrelated", uncorrelated(5)}, Trial{"ten_launches", shared_machine(10)},
                    Trial{"ten_launches_heavy_tails", shared_machine(10, 0.1)},
                    Trial{"ten_launches_uncorrelated", uncorrelated(10)}, Trial{"one_launch_wide", wide(1)},
                    Trial{"five_launches_wide", wide(5)}),
    [](const auto& info) { return std::string(info.param.name); });

int count(int trials, const std::function<bool(std::uint64_t)>& found) {
  int n = 0;
  for (int t = 0; t < trials; ++t) n += found(static_cast<std::uint64_t>(t)) ? 1 : 0;
  return n;
}

TEST_P(CompareTrials, false_alarms_are_at_most_as_many_as_is_said) {
  const World& w = GetParam().world;
  const int trials = w.kernels > 8 ? 150 : 1000;
  const CompareOptions o{.false_alarms = 0.05};
  const int alarms = count(trials, [&](auto t) { return compare_suites(unchanged(w, 1000 + t), o).slower; });
  RecordProperty("alarms", alarms);
  EXPECT_LE(alarms, 0.05 * trials);
}

/// Part of a suite that a trial makes slower: all timings, a family or one timing.
struct Part {
  std::function<bool(std::size_t)> contains;  // whether a timing, by its index, belongs to the part
  std::function<const Change&(const SuiteComparison&)> select_change;  // the change of the part in a comparison
};

/// Returns the number of trials in which a slowdown of the part by the reported smallest detectable one is found.
/// @param detectable  set to the median of the reported smallest detectable slowdowns
int count_detected(const World& w, int trials, const Part& part, double& detectable) {
  std::vector<double> reported;
  const int n = count(trials, [&](auto t) {
    std::vector<TimedPair> pairs = unchanged(w, 50000 + t);
    reported.push_back(part.select_change(compare_suites(pairs)).detectable);
    const double slower = 1 + reported.back();
    for (std::size_t i = 0; i < pairs.size(); ++i)
      if (part.contains(i)) scale(pairs[i], slower);
    const SuiteComparison c = compare_suites(pairs);
    return c.slower && part.select_change(c).verdict == Verdict::slower;
  });
  detectable = median(std::move(reported));
  return n;
}

TEST_P(CompareTrials, the_smallest_detectable_slowdown_is_found_in_nineteen_of_twenty) {
  const World& w = GetParam().world;
  const int trials = w.kernels > 8 ? 100 : 500;
  const auto cells = static_cast<std::size_t>(w.cells);
  const Part all{[](std::size_t) { return true; }, [](const auto& c) -> const Change& { return c.suite; }};
  const Part kernel{[=](std::size_t i) { return i / cells == 1; },
                    [](const auto& c) -> const Change& { return c.families[1]; }};
  const Part cell{[](std::size_t i) { return i == 2; }, [](const auto& c) -> const Change& { return c.timings[2]; }};
  const std::pair<const char*, const Part*> parts[] = {{"all", &all}, {"kernel", &kernel}, {"cell", &cell}};
  for (const auto& [name, part] : parts) {
    double detectable = 0;
    const int found = count_detected(w, trials, *part, detectable);
    RecordProperty(name, found);
    RecordProperty(std::string(name) + "_detectable_percent", static_cast<int>(100 * detectable + 0.5));
    EXPECT_GE(found, 0.92 * trials) << name;  // 19 of 20, less a margin for chance and launches with heavy tails
  }
}

void expect_equal(const Change& a, const Change& b) {
  EXPECT_EQ(a.verdict, b.verdict) << a.name;
  EXPECT_EQ(a.ratio, b.ratio) << a.name;
  EXPECT_EQ(a.low, b.low) << a.name;
  EXPECT_EQ(a.p, b.p) << a.name;
  EXPECT_EQ(a.detectable, b.detectable) << a.name;
}

TEST_P(CompareTrials, a_kernel_is_judged_alike_whatever_others_became) {
  const World& w = GetParam().world;
  for (std::uint64_t t = 0; t < 40; ++t) {
    std::vector<TimedPair> pairs = changed(w, 90000 + t, 1 + 0.02 * static_cast<double>(t), 0);
    const SuiteComparison before = compare_suites(pairs);
    Random random(7, t, 0);
    for (auto& p : pairs)
      if (p.family != "kernel 0") scale(p, random.uniform(0.001, t % 2 == 0 ? 1 : 30));
    const SuiteComparison after = compare_suites(pairs);
    expect_equal(before.families[0], after.families[0]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(w.cells); ++i)
      expect_equal(before.timings[i], after.timings[i]);
  }
}

TEST_P(CompareTrials, nothing_that_becomes_faster_raises_an_alarm) {
  const World& w = GetParam().world;
  int passed = 0;
  for (std::uint64_t t = 0; t < 60; ++t) {
    std::vector<TimedPair> pairs = changed(w, 70000 + t, 1.06);
    if (compare_suites(pairs).slower) continue;
    ++passed;
    Random random(9, t, 0);
    for (auto& p : pairs)
      if (random.uniform() < 0.4) scale(p, random.uniform(0.01, 1));
    EXPECT_FALSE(compare_suites(pairs).slower) << t;
  }
  EXPECT_GT(passed, 0);
}

TEST_P(CompareTrials, one_kernel_forty_percent_faster_does_not_make_six_percent_of_the_others_an_alarm) {
  const World& w = GetParam().world;
  for (std::uint64_t t = 0; t < 40; ++t) {
    std::vector<TimedPair> pairs = changed(w, 30000 + t, 1.06);
    const bool alarm = compare_suites(pairs).slower;
    for (auto& p : pairs)
      if (p.family == "kernel 1") scale(p, 0.6 / 1.06);
    const SuiteComparison c = compare_suites(pairs);
    EXPECT_TRUE(alarm || !c.slower) << t;
    EXPECT_NE(c.families[1].verdict, Verdict::slower);
  }
}

TEST_P(CompareTrials, sides_that_change_places_change_the_verdict_only) {
  const World& w = GetParam().world;
  for (std::uint64_t t = 0; t < 20; ++t) {
    std::vector<TimedPair> pairs = changed(w, 20000 + t, 1.3, 1);
    const SuiteComparison there = compare_suites(pairs);
    for (auto& p : pairs) std::swap(p.before, p.after);
    const SuiteComparison back = compare_suites(pairs);
    EXPECT_EQ(there.slower, back.faster);
    EXPECT_EQ(there.faster, back.slower);
    EXPECT_NEAR(there.families[1].ratio * back.families[1].ratio, 1, 1e-12);
    EXPECT_NEAR(there.families[1].p, back.families[1].p, 1e-9);
  }
}

/// Returns the number of trials in which the gate finds the default suite of the benchmark slower, with kernel `which` (-1: all)
/// slower by the factor `slow`.
int found(const World& w, int trials, double slow, int which, std::uint64_t seed, double floor = 0.07) {
  return count(trials, [&](auto t) {
    return compare_suites(changed(w, seed + t, slow, which), {.launch_floor = floor}).slower;
  });
}

TEST(CompareDefaultSuite, five_launches_find_a_tenth_of_everything_and_ten_of_one_kernel) {
  EXPECT_GE(found({.launches = 5}, 40, 1.1, -1, 1000), 38);
  EXPECT_GE(found({.launches = 10}, 40, 1.1, 2, 2000), 38);
  EXPECT_GE(found({.kernels = 5, .cells = 6}, 40, 1.1, 2, 2000), 38);
}

TEST(CompareDefaultSuite, no_change_raises_at_most_one_alarm_in_a_hundred) {
  EXPECT_LE(found({.launches = 5}, 100, 1, -1, 4000), 1);
  EXPECT_LE(found({.kernels = 5, .cells = 6, .launches = 5}, 100, 1, -1, 4000), 1);
}

TEST(CompareDefaultSuite, one_launch_finds_a_tenth_only_where_launches_are_known_to_be_alike) {
  const World quiet{.launches = 1, .rounds = 8, .launch = 0.01, .kernel = 0.008};
  EXPECT_GE(found(quiet, 40, 1.2, -1, 5000, 0.015), 38);
  EXPECT_LE(found(quiet, 40, 1.2, -1, 5000), 2);
  EXPECT_LE(found(quiet, 100, 1, -1, 6000, 0.015), 1);
}

/// Multiplies the times of the second side by random factors, common, by kernel and by timing: a change of the machine between the
/// launches of the two sides, which the scatter within neither of them contains.
void shift_after_side(const World& w, std::uint64_t seed, std::vector<TimedPair>& pairs) {
  Random random(77, seed, 0);
  const double block = 0.05 * std::sqrt(2.0);
  const double common = block * detail::normal(random);
  double shared = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i % static_cast<std::size_t>(w.cells) == 0) shared = common + 0.7 * block * detail::normal(random);
    scale(pairs[i], std::exp(shared + 0.7 * block * detail::normal(random)));
  }
}

TEST(CompareOneSideAfterTheOther, raises_too_many_alarms_unless_blocks_are_assumed_to_differ) {
  for (const int launches : {5, 10}) {
    const World w = shared_machine(launches);
    const auto alarms = [&](double between_sides) {
      return count(300, [&](auto t) {
        auto pairs = unchanged(w, 1000 + t);
        shift_after_side(w, t, pairs);
        return compare_suites(pairs, {.between_sides = between_sides}).slower;
      });
    };
    EXPECT_GT(alarms(0), 9);  // 1 % are allowed
    EXPECT_LE(alarms(0.05 * std::sqrt(2.0)), 3);
  }
}

}  // namespace
