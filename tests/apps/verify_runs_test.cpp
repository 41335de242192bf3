/// Tests of the runs of `verify`: a wrong expected digest is reported as a failure, and plans and tallies survive JSON.
#include "apps/verify/runs.hpp"

#include <gtest/gtest.h>

#include "apps/frame/command.hpp"
#include "apps/verify/cases.hpp"
#include "merganser/parcels/statistics.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;

VerifyPlan small_plan() {
  VerifyPlan plan;
  plan.samples = 3;
  plan.seed = 5;
  plan.ranks = {2};
  plan.searches = {Search::exact};
  plan.prunes = {Prune::single_pass};
  compute_expected(plan);
  return plan;
}

TEST(VerifyRuns, a_result_other_than_expected_is_counted_and_told_once) {
  VerifyPlan plan = small_plan();
  Tally good;
  ASSERT_EQ(run_all(plan, "threads", 2, good), 0);
  EXPECT_GT(good.runs, 0);
  EXPECT_EQ(good.failures, 0);
  EXPECT_EQ(good.first_failure, "");

  plan.expected[1][0][0] = plan.expected[1][0][0] == '0' ? '1' : '0';
  Tally bad;
  ASSERT_EQ(run_all(plan, "threads", 2, bad), 0);
  EXPECT_EQ(bad.runs, good.runs);
  EXPECT_GT(bad.failures, 0);
  EXPECT_LT(bad.failures, bad.runs);
  EXPECT_NE(bad.first_failure.find("sample 1: lattice with exact ties, 2 ranks, threads, blocks"), std::string::npos)
      << bad.first_failure;
}

TEST(VerifyRuns, every_seed_of_chaos_is_run_by_one_number_of_ranks) {
  VerifyPlan plan = small_plan();
  plan.chaos = 10;
  plan.ranks = {1, 2, 3};
  std::int64_t runs = 0;
  for (const int ranks : plan.ranks) {
    Tally tally;
    ASSERT_EQ(run_all(plan, "threads", ranks, tally), 0);
    EXPECT_EQ(tally.failures, 0) << tally.first_failure;
    runs += tally.chaos_runs;
  }
  EXPECT_EQ(runs, 10);
}

TEST(VerifyRuns, plans_and_tallies_survive_being_written) {
  const VerifyPlan plan = small_plan();
  EXPECT_EQ(to_json(parse_plan(to_json(plan))), to_json(plan));
  const Json tally = to_json(Tally{3, 1, 2, 1, "why", 0.5});
  EXPECT_EQ(to_json(parse_tally(tally)), tally);
}

TEST(VerifyRuns, the_same_seed_gives_the_same_cases_and_another_other_ones) {
  bool differs = false;
  for (int i = 0; i < 2 * kCaseKinds; ++i) {
    const Case a = make_case(1, i), b = make_case(1, i), c = make_case(2, i);
    EXPECT_EQ(digest(a.parcels), digest(b.parcels)) << a.name;
    EXPECT_EQ(a.grid.cells, b.grid.cells);
    differs = differs || !(digest(a.parcels) == digest(c.parcels));
  }
  EXPECT_TRUE(differs);
}

}  // namespace
