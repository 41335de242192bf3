/// Tests of transports over ranks that run already (open.hpp). Programs with an MPI of their own start in an environment with
/// only the variables that the launcher needs, as their users have set none.
#include "merganser/comm/open.hpp"

#include <gtest/gtest.h>

#include "tests/comm/launched.hpp"

namespace {

using namespace merganser::test;

class OpenTest : public testing::Test {
 protected:
  void SetUp() override {
    if (variable("MERGANSER_TEST_LAUNCHER").empty()) GTEST_SKIP() << "MERGANSER_TEST_LAUNCHER does not name a launcher";
  }

  static std::string models() {
    std::string all;
    for (const auto& model : process_models()) all += " " + model;
    return all;
  }

  /// The case must go well: nothing wrong, MPI ended by the program, exit code 0.
  static Outcome expect_well(int ranks, const std::string& words, const std::string& extra = "") {
    Outcome outcome = start(launched(ranks) + words, extra);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_FALSE(says(outcome, "wrong")) << outcome.output;
    EXPECT_TRUE(says(outcome, "open: MPI is not initialised; allowed: after MPI_Init")) << outcome.output;
    EXPECT_TRUE(says(outcome, "open: MPI is finalised; allowed: before MPI_Finalize")) << outcome.output;
    EXPECT_TRUE(says(outcome, "finalized with 0")) << outcome.output;
    return outcome;
  }
};

TEST_F(OpenTest, every_model_works_over_a_communicator_of_the_programs_and_lets_it_end_mpi) {
  for (const int ranks : {1, 2, 4}) {
    const Outcome outcome = expect_well(ranks, "whole" + models());
    for (const auto& model : process_models()) {
      EXPECT_TRUE(says(outcome, "used " + model + " on " + std::to_string(ranks))) << outcome.output;
    }
  }
}

TEST_F(OpenTest, every_thread_level_will_do) {
  for (const std::string level : {"single", "serialized", "multiple"}) {
    (void)expect_well(2, "whole" + models(), "PROBE_THREADS=" + level);
  }
}

TEST_F(OpenTest, works_without_a_launcher) {
  const Outcome outcome = start(alone() + "whole" + models());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "finalized with 0") && !says(outcome, "wrong")) << outcome.output;
}

TEST_F(OpenTest, half_of_the_ranks_work_while_the_others_do_something_else) {
  for (const int ranks : {2, 4}) {
    const Outcome outcome = expect_well(ranks, "half" + models());
    for (const auto& model : process_models()) {
      EXPECT_TRUE(says(outcome, "used " + model + " on " + std::to_string(ranks / 2))) << outcome.output;
    }
  }
}

TEST_F(OpenTest, transports_of_all_models_live_side_by_side) {
  const Outcome outcome = expect_well(3, "together" + models());
  EXPECT_TRUE(says(outcome, "used " + std::to_string(2 * process_models().size()) + " together")) << outcome.output;
}

TEST_F(OpenTest, communicators_may_overlap) {
  const Outcome outcome = expect_well(4, "overlapping" + models());
  for (const auto& model : process_models()) EXPECT_TRUE(says(outcome, "used " + model + " twice")) << outcome.output;
}

TEST_F(OpenTest, what_cannot_be_is_refused_on_every_rank_and_does_no_harm) {
  const Outcome outcome = expect_well(3, "refusals");
  EXPECT_TRUE(says(outcome, "refused")) << outcome.output;
}

TEST_F(OpenTest, an_error_of_one_rank_reaches_every_rank_and_the_transport_lives_on) {
  const Outcome outcome = expect_well(3, "wrong-alone" + models());
  for (const auto& model : process_models()) EXPECT_TRUE(says(outcome, "heard over " + model)) << outcome.output;
}

TEST_F(OpenTest, errors_that_unwind_a_transport_leave_a_program_that_can_end_mpi) {
  const Outcome outcome = expect_well(2, "unwind" + models());
  for (const auto& model : process_models()) EXPECT_TRUE(says(outcome, "left " + model)) << outcome.output;
}

TEST_F(OpenTest, a_rank_that_leaves_by_an_error_can_end_the_job) {
  for (const auto& model : process_models()) {
    const Outcome outcome = start(launched(3) + "fail-on-one-rank " + model, "", 30);
    EXPECT_EQ(outcome.code, 3) << outcome.output;
    EXPECT_TRUE(says(outcome, "this rank alone has had enough")) << outcome.output;
  }
}

TEST_F(OpenTest, hints_error_handler_and_topology_of_the_communicator_stay_with_the_program) {
  EXPECT_TRUE(says(expect_well(4, "settings" + models()), "kept"));
}

TEST_F(OpenTest, a_cartesian_communicator_tells_its_shape) { (void)expect_well(3, "cartesian"); }

TEST_F(OpenTest, auto_measures_over_the_communicator_and_tells_its_choice) {
  for (const int ranks : {1, 2, 4}) (void)expect_well(ranks, "measured");
}

TEST_F(OpenTest, run_and_session_work_in_a_program_that_has_started_mpi) {
  for (const int ranks : {1, 2}) {
    const Outcome outcome = expect_well(ranks, "inside" + models());
    for (const auto& model : process_models()) EXPECT_TRUE(says(outcome, "ran " + model)) << outcome.output;
  }
}

TEST_F(OpenTest, transports_and_objects_that_outlive_mpi_are_destroyed_in_peace) {
  const Outcome outcome = expect_well(2, "late" + models());
  EXPECT_TRUE(says(outcome, "kept " + std::to_string(process_models().size()))) << outcome.output;
}

TEST_F(OpenTest, a_session_starts_and_ends_the_libraries_by_itself) {
  const Outcome outcome = start(launched(2) + "session auto" + models());
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_FALSE(says(outcome, "wrong")) << outcome.output;
  for (const auto& model : process_models())
    EXPECT_TRUE(says(outcome, "session of " + model + " on 2")) << outcome.output;
  const Outcome one = start(alone() + "session auto");
  EXPECT_EQ(one.code, 0) << one.output;
  EXPECT_TRUE(says(one, "session of threads on 1")) << one.output;
}

}  // namespace
