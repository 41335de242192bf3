/// Tests of models over an MPI that delivers wrong bits: open() refuses them, "auto" leaves them out.
#include <gtest/gtest.h>

#include "tests/comm/launched.hpp"

namespace {

using namespace merganser::test;

class SelfTestTest : public testing::Test {
 protected:
  void SetUp() override {
    if (variable("MERGANSER_TEST_LAUNCHER").empty()) GTEST_SKIP() << "MERGANSER_TEST_LAUNCHER does not name a launcher";
  }
  static Outcome probe(int ranks, const std::string& words) {
    Outcome outcome = start(launched(ranks) + words, "OMPI_MCA_mpi_yield_when_idle=1");
    EXPECT_FALSE(says(outcome, "wrong:")) << outcome.output;
    return outcome;
  }
  static void expect_refusal(const Outcome& outcome, const std::string& model, int ranks) {
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    EXPECT_TRUE(says(outcome, "model '" + model + "' over ")) << outcome.output;
    EXPECT_TRUE(says(outcome, " fails its test on " + std::to_string(ranks) + " ranks: rank ")) << outcome.output;
    EXPECT_FALSE(says(outcome, "ran ") || says(outcome, "opened ")) << outcome.output;
  }
};

struct Fault {
  std::string name;
  std::string model;
};
const std::vector<Fault> kFaults{{"put", "rma"}, {"or", "rma"}, {"alltoallw", "neighborhood"}, {"isend", "p2p"}};

TEST_F(SelfTestTest, a_model_that_delivers_wrong_bits_is_refused_and_named) {
  for (const auto& [fault, model] : kFaults)
    for (const int ranks : {2, 3}) expect_refusal(probe(ranks, fault + " " + model), model, ranks);
}

TEST_F(SelfTestTest, open_refuses_it_too) {
  for (const auto& [fault, model] : kFaults)
    if (model != "p2p") expect_refusal(probe(3, fault + " " + model + " open"), model, 3);
}

TEST_F(SelfTestTest, auto_leaves_it_out_and_says_so) {
  const Outcome outcome = probe(3, "put auto");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(says(outcome, "rma failed (model 'rma' over ")) << outcome.output;
  EXPECT_TRUE(says(outcome, "rank 0: a word got from rank 1 is 0")) << outcome.output;
  EXPECT_FALSE(says(outcome, "ran rma")) << outcome.output;
}

TEST_F(SelfTestTest, sound_models_pass_on_any_number_of_ranks_and_one_rank_has_nothing_to_prove) {
  for (const auto& model : process_models())
    for (const int ranks : {1, 2, 4}) {
      const Outcome outcome = probe(ranks, "none " + model);
      EXPECT_EQ(outcome.code, 0) << outcome.output;
      EXPECT_TRUE(says(outcome, "ran " + model)) << outcome.output;
    }
  EXPECT_EQ(probe(1, "put rma").code, 0);
}

}  // namespace
