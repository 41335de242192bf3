/// Choice of the fastest candidate: clear winners, ties, noise, disturbances of a turn, coverage of intervals.
#include "merganser/stats/decision.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

Candidate one(const std::string& name, std::vector<double> samples) { return {name, {std::move(samples)}, 0}; }

/// Makes a candidate with three launches of nine samples, uniform around `centre` with a relative scatter.
Candidate noisy(const std::string& name, double centre, double scatter, std::uint64_t stream) {
  Candidate c{name, {}, 0};
  for (std::uint32_t launch = 0; launch < 3; ++launch) {
    Random random(7, stream, launch);
    auto& samples = c.launches.emplace_back();
    for (int i = 0; i < 9; ++i) samples.push_back(centre * (1 + random.uniform(-scatter, scatter)));
  }
  return c;
}

TEST(Decision, a_clear_winner_is_named_with_its_saving) {
  const std::vector<Candidate> c{one("slow", {10, 10, 10}), one("fast", {5, 5, 5}), one("middle", {8, 8, 8})};
  const Decision d = decide(c);
  EXPECT_EQ(d.order[0].candidate, 1U);
  EXPECT_EQ(d.chosen, 1U);
  EXPECT_EQ(d.order[0].probability, 1);
  EXPECT_EQ(d.standing(0).saving.value, 0.5);
  EXPECT_EQ(d.standing(0).saving.low, 0.5);
  EXPECT_EQ(d.standing(2).saving.value, 1 - 5.0 / 8);
  for (const auto& s : d.order) EXPECT_FALSE(s.near_tie);
}

TEST(Decision, among_ties_the_first_in_the_order_given_is_taken) {
  const std::vector<Candidate> c{one("a", {104}), one("b", {100}), one("c", {102})};
  const Decision d = decide(c);
  EXPECT_EQ(d.order[0].candidate, 1U);
  EXPECT_EQ(d.chosen, 0U);
  EXPECT_TRUE(d.standing(0).near_tie);
  EXPECT_TRUE(d.standing(2).near_tie);
  EXPECT_EQ(decide(c, {.tie = 0.01}).chosen, 1U);
}

TEST(Decision, the_choice_between_equals_does_not_depend_on_the_noise) {
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const std::vector<Candidate> c{noisy("a", 1, 0.03, 3 * trial), noisy("b", 1, 0.03, 3 * trial + 1),
                                   noisy("c", 1.5, 0.03, 3 * trial + 2)};
    EXPECT_EQ(decide(c).chosen, 0U) << trial;
  }
}

TEST(Decision, what_noise_hides_is_not_told_apart) {
  const std::vector<Candidate> c{one("a", {60, 100, 140, 90, 110}), one("b", {120, 95, 150, 70, 108})};
  const Decision d = decide(c);
  EXPECT_TRUE(d.standing(0).near_tie || d.standing(1).near_tie);
  EXPECT_FALSE(d.standing(0).told_apart && d.standing(1).told_apart);
  Candidate unsure = one("a", {100});
  unsure.uncertainty = 0.3;
  Candidate other = one("b", {110});
  other.uncertainty = 0.3;
  const Decision guess = decide(std::vector<Candidate>{unsure, other});
  EXPECT_TRUE(guess.standing(1).near_tie);
  EXPECT_FALSE(guess.standing(1).told_apart);
  EXPECT_GT(guess.standing(0).probability, 0.5);
  EXPECT_LT(guess.standing(0).probability, 0.75);
  EXPECT_EQ(guess.chosen, 0U);
}

TEST(Decision, what_disturbs_a_turn_disturbs_all_and_tells_nothing) {
  // Both candidates of a turn share its disturbance, which is far larger than their difference of 10 %.
  Candidate a{"a", {{}}, 0}, b{"b", {{}}, 0};
  Random random(3, 0, 0);
  for (int i = 0; i < 15; ++i) {
    const double disturbance = random.uniform(1, 3);
    a.launches[0].push_back(disturbance);
    b.launches[0].push_back(1.1 * disturbance);
  }
  const Decision d = decide(std::vector<Candidate>{a, b});
  EXPECT_EQ(d.standing(0).probability, 1);
  EXPECT_TRUE(d.standing(1).told_apart);
}

TEST(Decision, probabilities_add_up_and_equal_samples_give_equal_decisions) {
  const std::vector<Candidate> c{noisy("a", 1, 0.2, 1), noisy("b", 1.02, 0.2, 2), noisy("c", 1.05, 0.2, 3)};
  const Decision first = decide(c), second = decide(c);
  double sum = 0;
  for (std::size_t i = 0; i < c.size(); ++i) {
    sum += first.order[i].probability;
    EXPECT_EQ(first.order[i].probability, second.order[i].probability);
    EXPECT_EQ(first.order[i].time.low, second.order[i].time.low);
  }
  EXPECT_DOUBLE_EQ(sum, 1);
}

TEST(Decision, intervals_hold_the_true_median_as_often_as_they_say) {
  int inside = 0;
  constexpr int kTrials = 200;
  for (std::uint64_t trial = 0; trial < kTrials; ++trial) {
    Candidate c{"a", {{}}, 0};
    Random random(11, trial, 0);
    for (int i = 0; i < 25; ++i) c.launches[0].push_back(100 * (1 + random.uniform(-0.2, 0.2)));
    const Standing s = decide(std::vector<Candidate>{c}, {.resamples = 300}).order[0];
    inside += s.time.low <= 100 && 100 <= s.time.high ? 1 : 0;
  }
  EXPECT_GE(inside, 0.88 * kTrials);
}

TEST(Decision, refuses_what_is_no_time) {
  EXPECT_THROW((void)decide({}), UsageError);
  EXPECT_THROW((void)decide(std::vector<Candidate>{one("a", {})}), UsageError);
  EXPECT_THROW((void)decide(std::vector<Candidate>{one("a", {1, 0})}), UsageError);
  EXPECT_THROW((void)decide(std::vector<Candidate>{one("a", {1, -1})}), UsageError);
  EXPECT_THROW((void)decide(std::vector<Candidate>{one("a", {std::numeric_limits<double>::quiet_NaN()})}), UsageError);
  EXPECT_THROW((void)decide(std::vector<Candidate>{one("a", {std::numeric_limits<double>::infinity()})}), UsageError);
}

}  // namespace
