/// Statistics of rounds and of configurations against a slow computation of the same from all times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/topology/measure.hpp"
#include "src/topology/measure_collect.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using topology::detail::Collector;
using topology::detail::RankTimes;
using topology::detail::RoundSummary;

/// Returns the q-quantile by sorting: linear between the two order statistics beside (n - 1) q.
double sorted_quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const double place = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

/// Times of a round, of which every `late_every`-th iteration begins late on some rank (0: none does).
std::vector<RankTimes> random_round(Random& random, int ranks, int iterations, int late_every) {
  std::vector<RankTimes> all(static_cast<std::size_t>(ranks));
  for (auto& one : all) {
    one.loop_s = random.uniform(0.001, 0.01);
    for (int i = 0; i < iterations; ++i) {
      // Few different values, so that ranks are equally slow at times.
      const double ns = 100 + 10 * std::floor(random.uniform(0, 8));
      one.iterations.push_back({1000.0 * i + std::floor(random.uniform(0, 50)), ns});
    }
  }
  for (int i = 0; late_every > 0 && i < iterations; i += late_every) {
    auto& late = all[random.below(static_cast<std::uint64_t>(ranks))].iterations[static_cast<std::size_t>(i)].ns;
    late = -1 - 7 * late;
  }
  return all;
}

/// The same statistics from a list of whole iterations.
struct Slow {
  std::vector<double> exchange, skew;
  std::vector<std::vector<double>> own;
  std::vector<std::int64_t> slowest;
  std::int64_t late = 0;
  double longest = 0;

  explicit Slow(std::size_t ranks) : own(ranks), slowest(ranks) {}
  void add(const std::vector<RankTimes>& round) {
    for (std::size_t i = 0; i < round[0].iterations.size(); ++i) {
      std::vector<double> ns, began;
      for (const auto& rank : round) {
        ns.push_back(rank.iterations[i].ns);
        began.push_back(rank.iterations[i].began);
        longest = std::max(longest, std::fabs(ns.back()));
      }
      if (*std::min_element(ns.begin(), ns.end()) < 0) {
        ++late;
        continue;
      }
      const auto most = std::max_element(ns.begin(), ns.end());  // the first of equals
      ++slowest[static_cast<std::size_t>(most - ns.begin())];
      exchange.push_back(*most);
      const auto [first, last] = std::minmax_element(began.begin(), began.end());
      skew.push_back(*last - *first);
      for (std::size_t r = 0; r < ns.size(); ++r) own[r].push_back(ns[r]);
    }
  }
  [[nodiscard]] static double sum(const std::vector<double>& values) {
    double all = 0;
    for (const double v : values) all += v;
    return all;
  }
};

void expect_summary(const RoundSummary& found, const Slow& wanted, const std::vector<RankTimes>& round) {
  EXPECT_EQ(found.late, wanted.late);
  EXPECT_EQ(found.longest_ns, wanted.longest);
  double loop = 0;
  for (const auto& rank : round) loop = std::max(loop, rank.loop_s);
  EXPECT_EQ(found.loop_s, loop);
  EXPECT_EQ(found.round.iterations, static_cast<std::int64_t>(wanted.exchange.size()));
  if (wanted.exchange.empty()) {
    EXPECT_EQ(found.p90_ns, 0);
    return;
  }
  EXPECT_DOUBLE_EQ(found.round.p50_ns, sorted_quantile(wanted.exchange, 0.5));
  EXPECT_DOUBLE_EQ(found.round.mean_ns, Slow::sum(wanted.exchange) / static_cast<double>(wanted.exchange.size()));
  EXPECT_DOUBLE_EQ(found.p90_ns, sorted_quantile(wanted.exchange, 0.9));
  EXPECT_DOUBLE_EQ(found.start_skew_ns, sorted_quantile(wanted.skew, 0.5));
  ASSERT_EQ(found.rank_p50_ns.size(), wanted.own.size());
  for (std::size_t r = 0; r < wanted.own.size(); ++r) {
    EXPECT_DOUBLE_EQ(found.rank_p50_ns[r], sorted_quantile(wanted.own[r], 0.5));
  }
}

TEST(CollectorOracle, one_round_is_summed_up_as_by_hand) {
  Random random(11, 0, 0);
  for (const int ranks : {1, 2, 5}) {
    for (const int iterations : {0, 1, 2, 3, 10, 57}) {
      for (const int late_every : {0, 1, 3}) {
        const auto round = random_round(random, ranks, iterations, late_every);
        Slow wanted(static_cast<std::size_t>(ranks));
        wanted.add(round);
        Collector collector({}, ranks);
        expect_summary(collector.add(round, true), wanted, round);
      }
    }
  }
}

TEST(CollectorOracle, rounds_add_up_and_those_that_are_not_kept_do_not) {
  Random random(12, 0, 0);
  constexpr int kRanks = 3;
  Collector collector({}, kRanks);
  Slow wanted(kRanks);
  std::vector<double> medians, skews;
  std::vector<std::vector<double>> rank_medians(kRanks);
  for (int r = 0; r < 30; ++r) {
    const bool keep = r % 3 != 0;
    const auto round = random_round(random, kRanks, 1 + r, r % 4 == 3 ? 2 : 0);
    const auto summary = collector.add(round, keep);
    if (!keep) continue;
    wanted.add(round);
    Slow own(kRanks);
    own.add(round);
    medians.push_back(sorted_quantile(own.exchange, 0.5));
    skews.push_back(sorted_quantile(own.skew, 0.5));
    for (std::size_t k = 0; k < kRanks; ++k) rank_medians[k].push_back(sorted_quantile(own.own[k], 0.5));
  }
  collector.add_wall_time(0.25);
  collector.add_wall_time(0.5);
  const CellResult result = collector.final_result();
  EXPECT_EQ(result.seconds, 0.75);
  EXPECT_EQ(result.late, wanted.late);
  EXPECT_EQ(result.slowest, wanted.slowest);
  EXPECT_EQ(result.exchange.count(), wanted.exchange.size());
  EXPECT_DOUBLE_EQ(result.exchange.sum(), Slow::sum(wanted.exchange));
  EXPECT_EQ(result.ranks.count(), kRanks * wanted.exchange.size());
  ASSERT_EQ(result.rounds.size(), medians.size());
  for (std::size_t r = 0; r < medians.size(); ++r) EXPECT_DOUBLE_EQ(result.rounds[r].p50_ns, medians[r]);
  EXPECT_DOUBLE_EQ(result.start_skew_ns, sorted_quantile(skews, 0.5));
  double all = 0;
  for (std::size_t k = 0; k < kRanks; ++k) {
    EXPECT_DOUBLE_EQ(result.rank_p50_ns[k], sorted_quantile(rank_medians[k], 0.5));
    EXPECT_DOUBLE_EQ(result.rank_mean_ns[k], Slow::sum(wanted.own[k]) / static_cast<double>(wanted.own[k].size()));
    all += Slow::sum(wanted.own[k]);
  }
  EXPECT_DOUBLE_EQ(result.ranks.sum(), all);
  ASSERT_EQ(result.launches.size(), 1U);
  EXPECT_EQ(result.launches[0].value, result.p50().value);
}

TEST(CollectorOracle, a_p99_needs_a_thousand_iterations) {
  for (const std::size_t n : {999U, 1000U}) {
    Collector collector({}, 1);
    RankTimes times;
    for (std::size_t i = 0; i < n; ++i) times.iterations.push_back({0, static_cast<double>(i)});
    const auto summary = collector.add({times}, true);
    ASSERT_EQ(summary.round.p99_ns.has_value(), n == 1000);
    if (n == 1000) {
      EXPECT_DOUBLE_EQ(*summary.round.p99_ns, 989.01);
    }
  }
}

/// A result of `n` iterations around 1,000 ns with the given medians of rounds and of launches.
CellResult result_with(const std::vector<double>& rounds, const std::vector<double>& launches) {
  CellResult out;
  for (int i = -50; i <= 50; ++i) out.exchange.add(static_cast<std::uint64_t>(1000 + i));
  for (const double p50 : rounds) {
    Round round;
    round.p50_ns = p50;
    out.rounds.push_back(round);
  }
  for (const double value : launches) out.launches.push_back({value, value, value});
  return out;
}

TEST(MedianOfCell, takes_its_interval_from_rounds_and_from_five_launches_on_from_these) {
  const std::vector<double> near{990, 995, 1000, 1005, 1010, 998, 1002, 1001};
  const std::vector<double> far{500, 600, 1000, 1500, 2000};
  EXPECT_EQ(CellResult{}.p50().value, 0);
  EXPECT_EQ(CellResult{}.p50().high, 0);
  const Interval by_rounds = result_with(near, {}).p50();
  EXPECT_NEAR(by_rounds.value, 1000, 3);
  EXPECT_GE(by_rounds.low, 990);
  EXPECT_LE(by_rounds.high, 1010);
  const Interval four = result_with(near, {far.begin(), far.end() - 1}).p50();
  EXPECT_EQ(four.low, by_rounds.low);
  EXPECT_EQ(four.high, by_rounds.high);
  const Interval five = result_with(near, far).p50();
  const Interval of_launches = block_median_interval(far);
  EXPECT_EQ(five.value, by_rounds.value);
  EXPECT_EQ(five.low, of_launches.low);
  EXPECT_EQ(five.high, of_launches.high);
}

TEST(MedianOfCell, of_few_rounds_has_an_interval_not_narrower_than_that_of_all_iterations) {
  const Interval iterations = quantile_interval(result_with({}, {}).exchange, 0.5);
  const Interval alone = result_with({}, {}).p50();
  EXPECT_EQ(alone.low, iterations.low);
  EXPECT_EQ(alone.high, iterations.high);
  const Interval four = result_with({1000, 1000, 1000, 1000}, {}).p50();
  EXPECT_EQ(four.low, iterations.low);
  EXPECT_EQ(four.high, iterations.high);
  const Interval five = result_with({1000, 1000, 1000, 1000, 1000}, {}).p50();
  EXPECT_GT(five.low, iterations.low);
  EXPECT_LT(five.high, iterations.high);
  // The estimate is never outside, wherever the rounds lie.
  const Interval above = result_with({3000, 3001, 3002, 3003, 3004, 3005}, {}).p50();
  EXPECT_EQ(above.low, above.value);
  EXPECT_GT(above.high, 3000);
  const Interval below = result_with({300, 301, 302, 303, 304, 305}, {}).p50();
  EXPECT_EQ(below.high, below.value);
  EXPECT_LT(below.low, 306);
}

TEST(PublishedColumnsOracle, follow_their_definition_for_any_number_of_ranks) {
  Random random(13, 0, 0);
  for (const int ranks : {1, 2, 7, 99, 100, 101, 250}) {
    std::vector<double> means;
    for (int r = 0; r < ranks; ++r) means.push_back(random.uniform(100, 5000));
    const std::int64_t arcs = 3 * ranks;
    const auto found = published_columns(means, arcs);
    std::vector<double> sorted = means;
    std::sort(sorted.begin(), sorted.end());
    const double mean = Slow::sum(means) / ranks;
    double square = 0;
    for (const double m : means) square += (m - mean) * (m - mean);
    const int place = (99 * ranks + 99) / 100;  // ceil(0.99 ranks), from 1
    EXPECT_NEAR(found.average_us, Slow::sum(means) / 1000 / static_cast<double>(arcs), 1e-9);
    EXPECT_NEAR(found.p99_us, sorted[static_cast<std::size_t>(place - 1)] / 2000, 1e-9) << ranks;
    EXPECT_NEAR(found.max_us, sorted.back() / 2000, 1e-9);
    EXPECT_NEAR(found.stddev_us, std::sqrt(square / ranks) / 1000, 1e-6);
  }
  EXPECT_EQ(published_columns({}, 5).max_us, 0);
  EXPECT_EQ(published_columns({1000}, 0).average_us, 0);
}

}  // namespace
