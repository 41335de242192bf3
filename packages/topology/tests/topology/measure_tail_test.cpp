/// Victim and aggressor: the inflation of synthetic times, the groups that are refused, and a measurement on threads.
#include "merganser/topology/measure_tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

/// Rounds of `iterations` times each, `factor` times 1,000 to 1,100 ns; one in `slow_every` takes ten times as long.
std::vector<Histogram> rounds_of(int rounds, int iterations, double factor, int slow_every, std::uint64_t seed) {
  Random random(seed, 0, 0);
  std::vector<Histogram> all(static_cast<std::size_t>(rounds));
  for (auto& h : all) {
    for (int i = 0; i < iterations; ++i) {
      const double ns = factor * random.uniform(1000, 1100) * (slow_every > 0 && i % slow_every == 0 ? 10 : 1);
      h.add(static_cast<std::uint64_t>(ns));
    }
  }
  return all;
}

TailResult result_of(std::vector<Histogram> idle, std::vector<Histogram> loaded) {
  TailResult result;
  result.idle = std::move(idle);
  result.loaded = std::move(loaded);
  return result;
}

TEST(Inflation, is_the_factor_by_which_all_times_grow) {
  for (const double factor : {1.0, 2.0, 7.5}) {
    const TailResult result = result_of(rounds_of(10, 200, 1, 0, 1), rounds_of(10, 200, factor, 0, 2));
    for (const double q : {0.5, 0.9, 0.99}) {
      const auto found = result.inflation(q);
      ASSERT_TRUE(found.has_value());
      EXPECT_EQ(found->q, q);
      EXPECT_NEAR(found->ratio.value, factor, 0.02 * factor);
      EXPECT_EQ(found->ratio.value, found->loaded_ns / found->idle_ns);
      EXPECT_NEAR(found->idle_ns, 1000 + 100 * q, 10);
      EXPECT_LE(found->ratio.low, found->ratio.value);
      EXPECT_GE(found->ratio.high, found->ratio.value);
      EXPECT_GT(found->ratio.low, 0.95 * factor);
      EXPECT_LT(found->ratio.high, 1.05 * factor);
    }
  }
}

TEST(Inflation, of_the_tail_alone_leaves_the_median) {
  // One in 50 is ten times as long when loaded.
  const TailResult result = result_of(rounds_of(10, 500, 1, 0, 1), rounds_of(10, 500, 1, 50, 2));
  EXPECT_NEAR(result.inflation(0.5)->ratio.value, 1, 0.02);
  EXPECT_NEAR(result.inflation(0.99)->ratio.value, 9.5, 1);
}

TEST(Inflation, needs_ten_samples_beyond_the_quantile_in_both_groups) {
  const auto few = rounds_of(1, 999, 1, 0, 1), enough = rounds_of(1, 1000, 1, 0, 2);
  EXPECT_FALSE(result_of(few, enough).inflation(0.99).has_value());
  EXPECT_FALSE(result_of(enough, few).inflation(0.99).has_value());
  EXPECT_TRUE(result_of(enough, enough).inflation(0.99).has_value());
  EXPECT_TRUE(result_of(few, few).inflation(0.98).has_value());
  EXPECT_FALSE(result_of({}, enough).inflation(0.5).has_value());
  EXPECT_FALSE(result_of(enough, {}).inflation(0.5).has_value());
  EXPECT_FALSE(TailResult{}.inflation(0.5).has_value());
}

// Rounds that differ, not iterations, make the interval wide: the same iterations in one kind of round have a narrow one.
TEST(Inflation, has_an_interval_from_rounds) {
  auto unlike = rounds_of(5, 200, 1, 0, 3);
  for (auto& h : rounds_of(5, 200, 3, 0, 4)) unlike.push_back(h);
  std::vector<Histogram> alike(10);
  for (std::size_t r = 0; r < 10; ++r) {
    for (const auto& [factor, seed] : {std::pair{1.0, 5U}, std::pair{3.0, 6U}}) {
      alike[r] += rounds_of(1, 100, factor, 0, seed + r)[0];
    }
  }
  const auto idle = rounds_of(10, 200, 1, 0, 7);
  const auto wide = result_of(idle, unlike).inflation(0.4), narrow = result_of(idle, alike).inflation(0.4);
  EXPECT_GT(wide->ratio.high, 2.5) << "rounds of the slow kind may come up more often";
  EXPECT_LT(wide->ratio.low, 1.1);
  EXPECT_LT(narrow->ratio.high, 1.2);
  const auto again = result_of(idle, unlike).inflation(0.4);
  EXPECT_EQ(again->ratio.low, wide->ratio.low) << "the resamples are of the seed";
  EXPECT_EQ(again->ratio.high, wide->ratio.high);
}

NamedGraph made_graph(const std::string& kind, int ranks) { return {kind, graphs::make_process_graph(kind, ranks, 1)}; }

TailOptions tail_options() {
  TailOptions o;
  o.victims = {{{0, 2}, made_graph("chain", 2), "threads.copy-flag", {8, false}}};
  o.aggressor = {{1, 3}, made_graph("chain", 2), "threads.copy-flag", {4096, false}};
  o.seconds = 0.1;
  o.watchdog_s = 0;
  return o;
}

std::string tail_refusal(const std::function<void(TailOptions&)>& change) {
  TailOptions o = tail_options();
  change(o);
  return test::refusal<UsageError>(
      [&] { comm::run({.backend = "threads", .ranks = 4}, [&](comm::Transport& t) { (void)measure_tail(t, o); }); });
}

TEST(MeasureTail, groups_that_contradict_each_other_are_refused) {
  using Options = TailOptions;
  EXPECT_EQ(tail_refusal([](Options& o) { o.victims.clear(); }), "tail: no victim; allowed: at least one");
  EXPECT_EQ(tail_refusal([](Options& o) {
              o.aggressor.ranks = {2, 3};
            }),
            "tail: rank 2 is victim and aggressor; allowed: one of them");
  EXPECT_EQ(tail_refusal([](Options& o) {
              o.aggressor.ranks = {1, 4};
            }),
            "tail: a rank that is not there; allowed: 0 to 3");
  EXPECT_EQ(tail_refusal([](Options& o) {
              o.victims[0].ranks = {-1, 0};
            }),
            "tail: a rank that is not there; allowed: 0 to 3");
  EXPECT_EQ(tail_refusal([](Options& o) { o.aggressor.ranks = {1}; }),
            "tail: 1 ranks are aggressors; allowed: 2 and more");
  EXPECT_EQ(tail_refusal([](Options& o) { o.victims[0].ranks = {0}; }),
            "tail: 1 ranks are victims; allowed: 2 and more");
  EXPECT_EQ(tail_refusal([](Options& o) { o.victims[0].graph = made_graph("chain", 3); }),
            "tail: graph chain has 3 ranks; allowed: 2, as its group has");
  EXPECT_EQ(tail_refusal([](Options& o) {
              o.victims.push_back(o.victims[0]);
              o.victims[1].ranks = {2, 0};
            }),
            "tail: victims on different ranks; allowed: all on the same");
  EXPECT_NE(tail_refusal([](Options& o) { o.victims[0].kernel = "threads.copi"; }).find("unknown exchange kernel"),
            std::string::npos);
}

TEST(MeasureTail, every_victim_is_measured_idle_and_loaded) {
  TailOptions o = tail_options();
  o.victims.push_back(o.victims[0]);
  o.victims[1].size = {1000, false};
  o.victims[1].kernel = "threads.copy-barrier";
  int told = 0;
  double last = 0;
  const auto begin = std::chrono::steady_clock::now();
  o.on_progress = [&](const Progress& p) {
    ++told;
    EXPECT_LE(p.seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    EXPECT_GE(p.seconds, last);
    last = p.seconds;
    EXPECT_EQ(p.total_seconds, 0.1);
    EXPECT_EQ(p.cells, 2U);
  };
  TailMeasurement m;
  comm::run({.backend = "threads", .ranks = 4}, [&](comm::Transport& t) {
    TailMeasurement mine = measure_tail(t, o);
    if (t.rank() == 0) m = std::move(mine);
  });
  ASSERT_EQ(m.results.size(), 2U);
  int rounds = 0;
  for (const auto& result : m.results) {
    EXPECT_EQ(result.unusable, "");
    EXPECT_FALSE(result.idle.empty());
    rounds += static_cast<int>(result.idle.size());
    for (const auto& h : result.idle) EXPECT_GE(h.count(), 10U);
    std::uint64_t loaded = 0;
    for (const auto& h : result.loaded) loaded += h.count();
    EXPECT_GT(loaded + static_cast<std::uint64_t>(result.uncovered), 0U);
  }
  EXPECT_GE(told, rounds + 4) << "the first sweep of four rounds is in no result";
  EXPECT_GT(m.aggressor.exchanges_per_s, 0);
  EXPECT_NEAR(m.aggressor.bytes_per_s / m.aggressor.exchanges_per_s, 2 * 4096, 1e-6);
  EXPECT_LT(m.aggressor.exchanges_per_s, 1e8) << "an exchange between threads takes more than 10 ns";
  EXPECT_GT(m.aggressor.exchanges_per_s * m.seconds, 10) << "a round has ten at least";
  const auto follows_the_duration = [](const Histogram& h) { return h.count() != 20; };
  for (const auto& result : m.results) {
    EXPECT_TRUE(std::any_of(result.idle.begin(), result.idle.end(), follows_the_duration))
        << "20 are for the first round";
  }
  EXPECT_GE(m.seconds, 0.1);
}

TEST(MeasureTail, a_victim_whose_kernel_cannot_run_here_is_left_out_with_the_reason) {
  TailOptions o = tail_options();
  std::string other;
  for (const auto& info : kernels::kernels()) {
    if (info.model != "threads") other = info.name;
  }
  if (other.empty()) GTEST_SKIP() << "this build has kernels of threads alone";
  o.victims.push_back(o.victims[0]);
  o.victims[0].kernel = other;
  comm::run({.backend = "threads", .ranks = 4}, [&](comm::Transport& t) {
    const TailMeasurement m = measure_tail(t, o);
    if (t.rank() != 0) return;
    ASSERT_EQ(m.results.size(), 2U);
    EXPECT_NE(m.results[0].unusable.find("this kernel needs processes"), std::string::npos) << m.results[0].unusable;
    EXPECT_TRUE(m.results[0].idle.empty());
    EXPECT_TRUE(m.results[0].loaded.empty());
    EXPECT_FALSE(m.results[1].idle.empty());
  });
}

}  // namespace
