/// Tests of whole jobs: faults of the installed libraries, wrong launchers, ranks that fail or are killed. The jobs start in an
/// environment with only the variables that the launcher needs.
#include <gtest/gtest.h>

#include "merganser/comm/runtime.hpp"
#include "tests/comm/launched.hpp"

namespace {

using namespace merganser::test;

class LaunchTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (variable("MERGANSER_TEST_LAUNCHER").empty()) GTEST_SKIP() << "MERGANSER_TEST_LAUNCHER does not name a launcher";
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LaunchTest);
INSTANTIATE_TEST_SUITE_P(Models, LaunchTest, testing::ValuesIn(process_models()),
                         [](const auto& info) { return info.param; });

TEST_P(LaunchTest, works_and_ends_well_without_any_setting_from_outside) {
  for (const int ranks : {1, 3}) {
    const Outcome outcome = start(launched(ranks) + "use " + GetParam());
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "visited " + GetParam() + " on " + std::to_string(ranks))) << outcome.output;
  }
}

TEST_P(LaunchTest, works_without_a_launcher_on_one_rank) {
  const Outcome outcome = start(alone() + "use " + GetParam());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "visited " + GetParam() + " on 1")) << outcome.output;
}

TEST_P(LaunchTest, shares_a_process_with_every_other_model_in_any_order) {
  std::string models = GetParam();
  for (const auto& other : process_models()) models += " " + other;
  const Outcome outcome = start(launched(2) + "use " + models + " " + GetParam());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const auto& other : process_models()) EXPECT_TRUE(says(outcome, "visited " + other + " on 2")) << outcome.output;
}

TEST_P(LaunchTest, singletons_under_another_launcher_are_refused_with_an_explanation) {
  const Outcome outcome = start(alone() + "use " + GetParam(), "PALS_RANKID=1 PALS_SIZE=3");
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.code, kTimedOut) << outcome.output;
  EXPECT_TRUE(says(outcome, "rank 1 of 3")) << outcome.output;
  EXPECT_TRUE(says(outcome, "the launcher belongs to another library")) << outcome.output;
}

TEST_P(LaunchTest, a_killed_rank_takes_the_others_down_with_a_message) {
  const Outcome outcome = start(launched(3) + "be-killed " + GetParam(), "", 10);
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.code, kTimedOut) << outcome.output;
  EXPECT_TRUE(says(outcome, "ill")) << outcome.output;  // "Killed" or "killed", by the launcher
}

TEST_P(LaunchTest, a_rank_that_fails_alone_takes_the_others_down_and_says_why) {
  const Outcome outcome = start(launched(3) + "fail-alone " + GetParam(), "", 10);
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.code, kTimedOut) << outcome.output;
  EXPECT_TRUE(says(outcome, "probe: this rank alone has had enough")) << outcome.output;
}

TEST_P(LaunchTest, of_ranks_that_fail_at_the_same_time_one_tells_and_its_exit_code_is_that_of_the_job) {
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = start(launched(3) + "fail-all " + GetParam(), "", 30);
    std::size_t told = 0;
    for (auto at = outcome.output.find("probe: "); at != std::string::npos;
         at = outcome.output.find("probe: ", at + 1)) {
      ++told;
    }
    EXPECT_EQ(told, 1U) << outcome.output;
    EXPECT_TRUE(outcome.code == 3 || outcome.code == 4) << outcome.code << ": " << outcome.output;
    EXPECT_EQ(outcome.code == 3, says(outcome, "has read nonsense")) << outcome.code << ": " << outcome.output;
  }
}

TEST_P(LaunchTest, objects_that_outlive_the_libraries_are_destroyed_in_peace) {
  const Outcome outcome = start(launched(2) + "keep " + GetParam() + " " + GetParam());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "kept objects of " + GetParam())) << outcome.output;
}

class LaunchedOnceTest : public LaunchTest {};
INSTANTIATE_TEST_SUITE_P(All, LaunchedOnceTest, testing::Values("auto"), [](const auto& info) { return info.param; });

TEST_P(LaunchedOnceTest, auto_measures_every_model_and_all_ranks_run_the_one_it_picked) {
  const Outcome outcome = start(launched(3) + "be-picked auto");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  for (const auto& model : process_models()) EXPECT_TRUE(says(outcome, model + " ")) << outcome.output;
  EXPECT_TRUE(says(outcome, " us")) << outcome.output;
}

TEST_P(LaunchedOnceTest, auto_runs_the_model_that_a_decision_handed_in_names) {
  const Outcome outcome = start(launched(2) + "be-last auto");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "also within 5 % of the fastest, or not told apart from it: " + process_models().front()))
      << outcome.output;
}

TEST_P(LaunchedOnceTest, a_decision_that_names_no_model_is_refused) {
  for (const std::string body : {"be-refused", "be-refused-too"}) {
    const Outcome outcome = start(launched(2) + body + " auto");
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    EXPECT_TRUE(says(outcome, "allowed: 0 to " + std::to_string(process_models().size() - 1))) << outcome.output;
  }
}

TEST_P(LaunchedOnceTest, a_variable_pins_auto) {
  for (const auto& model : process_models()) {
    const Outcome outcome = start(launched(2) + "use auto", "MERGANSER_COMM=" + model);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_TRUE(says(outcome, "visited " + model + " on 2")) << outcome.output;
  }
}

TEST_P(LaunchedOnceTest, threads_under_a_launcher_and_unknown_models_are_refused) {
  const Outcome threads = start(launched(2) + "use threads");
  EXPECT_NE(threads.code, 0);
  EXPECT_TRUE(says(threads, "model 'threads' runs in one process")) << threads.output;
  const Outcome unknown = start(launched(2) + "use pigeons");
  EXPECT_NE(unknown.code, 0);
  EXPECT_TRUE(says(unknown, "unknown communication model 'pigeons'; known: auto threads")) << unknown.output;
}

TEST_P(LaunchedOnceTest, a_heap_that_is_too_small_is_named_with_its_variable) {
  if (merganser::comm::shmem_library() == "none") GTEST_SKIP() << "this build has no OpenSHMEM";
  const Outcome outcome = start(launched(2) + "want-much shmem", "SHMEM_SYMMETRIC_HEAP_SIZE=16M");
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.code, kTimedOut) << outcome.output;
  EXPECT_TRUE(says(outcome,
                   "the symmetric heap has no room for 68719476736 bytes more; set "
                   "SHMEM_SYMMETRIC_HEAP_SIZE higher (it is 16M)"))
      << outcome.output;
}

}  // namespace
