/// How good advice is on what it was not made from: scores and coverage of records that are written down here.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/topology/advise.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

/// A kernel whose time on an exchange is (a + b d) ns on the busiest rank's d arcs, by the formula of predictions.
struct Linear {
  const char* kernel;
  const char* model;
  const char* completion;
  double a, b;
};

std::vector<KnownCell> linear_record(const std::vector<Linear>& kernels, int graphs, int sizes) {
  std::vector<KnownCell> out;
  for (int g = 0; g < graphs; ++g) {
    for (int s = 0; s < sizes; ++s) {
      const double degree = 2 + 0.5 * g, bytes = 8 * std::pow(2, s);
      Load l{8, 16};
      l.degree = degree;
      l.arcs = 8 * degree;
      l.rank_bytes = degree * bytes;
      l.bytes = l.arcs * bytes;
      for (const auto& k : kernels) {
        out.push_back({"graph " + std::to_string(g), k.kernel, k.model, k.completion, l, {{k.a + k.b * degree}}});
      }
    }
  }
  return out;
}

const std::vector<Linear> kThree{{"p2p.isend-irecv", "p2p", "notified", 100, 400},
                                 {"rma.put-notify", "rma", "notified", 100, 200},
                                 {"shmem.put-signal", "shmem", "notified", 100, 100}};

TEST(EvaluateAdvice, advice_is_right_on_a_machine_that_follows_the_formula) {
  const Evaluation e = evaluate_advice(linear_record(kThree, 6, 4));
  EXPECT_FALSE(e.sizes_left_out);
  ASSERT_EQ(e.classes.size(), 1U);
  EXPECT_EQ(e.classes[0].completion, "notified");
  EXPECT_EQ(e.all.completion, "all");
  EXPECT_EQ(e.all.cells, 24);
  EXPECT_EQ(e.all.right, 24);
  EXPECT_EQ(e.all.p2p_right, 0);
  EXPECT_EQ(e.all.rma_right, 0);
  EXPECT_EQ(e.all.mean_loss, 0);
  EXPECT_EQ(e.graphs.launches, 3 * 24);
  EXPECT_EQ(e.graphs.inside, 3 * 24);
  EXPECT_EQ(e.graphs.refused, 0);
  EXPECT_LT(e.graphs.median_error, 0.03);
  EXPECT_LE(e.graphs.median_error, e.graphs.p90_error);
  EXPECT_GT(e.graphs.median_factor, 1);
  EXPECT_EQ(e.sizes.launches + e.sizes.refused, 3 * 24);
}

// Within 5 % of the fastest is as good; beyond is not.
TEST(EvaluateAdvice, what_is_within_five_percent_of_the_winner_is_right) {
  for (const auto& [factor, right] : {std::pair{1.04, 24}, std::pair{1.06, 0}}) {
    auto kernels = kThree;
    kernels[0].a = factor * kThree[2].a;
    kernels[0].b = factor * kThree[2].b;
    const Evaluation e = evaluate_advice(linear_record(kernels, 6, 4));
    EXPECT_EQ(e.all.cells, 24);
    EXPECT_EQ(e.all.p2p_right, right) << factor;
    EXPECT_EQ(e.all.rma_right, 0);
    EXPECT_EQ(e.all.right, 24);
  }
}

// On one of seven graphs p2p is fast, which the others cannot know: there the advice loses what it costs.
TEST(EvaluateAdvice, wrong_advice_is_counted_with_its_loss) {
  auto cells = linear_record(kThree, 7, 4);
  double loss = 0;
  for (auto& c : cells) {
    if (c.graph != "graph 3" || c.kernel != "p2p.isend-irecv") continue;
    const double fast = 0.5 * (100 + 100 * c.load.degree);
    c.launches = {{fast}};
    loss += (100 + 100 * c.load.degree) / fast - 1;
  }
  const Evaluation e = evaluate_advice(cells);
  EXPECT_EQ(e.all.cells, 28);
  EXPECT_EQ(e.all.right, 24);
  EXPECT_EQ(e.all.p2p_right, 4);
  EXPECT_NEAR(e.all.mean_loss, loss / 28, 1e-9);
}

// Ten times slower on one graph, of all kernels: its times are predicted from the others, so they are missed by nine tenths.
TEST(EvaluateAdvice, what_is_predicted_was_not_seen) {
  auto cells = linear_record(kThree, 6, 4);
  for (auto& c : cells) {
    if (c.graph == "graph 3") c.launches = {{10 * c.time()}};
  }
  const Evaluation e = evaluate_advice(cells);
  EXPECT_EQ(e.graphs.launches, 3 * 24);
  EXPECT_NEAR(e.graphs.p90_error, 0.9, 0.05) << "a sixth of the launches is of that graph";
}

// Of two records one is of a machine in a better state: each is predicted from the other one alone.
TEST(EvaluateAdvice, a_record_is_predicted_from_other_records) {
  auto cells = linear_record(kThree, 6, 4);
  const std::size_t one = cells.size();
  for (std::size_t c = 0; c < one; ++c) {
    cells.push_back(cells[c]);
    cells[c].source = "slow";
    cells.back().source = "fast";
    cells.back().launches = {{cells[c].time() / 4}};
  }
  const Evaluation e = evaluate_advice(cells);
  EXPECT_EQ(e.graphs.launches, 2 * 3 * 24);
  // Four times too long, an error of 3, for one half; a quarter, an error of 0.75, for the other.
  EXPECT_NEAR(e.graphs.p90_error, 3, 0.2);
  EXPECT_NEAR(e.graphs.median_error, (3 + 0.75) / 2, 1.2);
  EXPECT_EQ(e.all.right, e.all.cells) << "the order of the kernels is the same";
}

TEST(EvaluateAdvice, classes_are_apart_and_need_two_kernels) {
  auto kernels = kThree;
  kernels.push_back({"rma.put-flush", "rma", "remote", 10, 10});
  kernels.push_back({"rma.fence", "rma", "global", 10, 50});
  kernels.push_back({"shmem.put-barrier", "shmem", "global", 10, 80});
  const Evaluation e = evaluate_advice(linear_record(kernels, 6, 4));
  ASSERT_EQ(e.classes.size(), 2U) << "remote has one kernel: nothing to choose";
  EXPECT_EQ(e.classes[0].completion, "notified");
  EXPECT_EQ(e.classes[1].completion, "global");
  EXPECT_EQ(e.classes[1].cells, 24);
  EXPECT_EQ(e.classes[1].rma_right, 24);
  EXPECT_EQ(e.classes[1].p2p_right, 0) << "there is none";
  EXPECT_EQ(e.all.cells, 48);
  EXPECT_EQ(e.all.rma_right, 24);
  EXPECT_EQ(e.graphs.launches, 6 * 24) << "predictions are of all kernels";
}

TEST(EvaluateAdvice, with_three_graphs_sizes_are_left_out_and_with_one_size_nothing_can_be) {
  EXPECT_TRUE(evaluate_advice(linear_record(kThree, 3, 4)).sizes_left_out);
  EXPECT_FALSE(evaluate_advice(linear_record(kThree, 4, 4)).sizes_left_out);
  EXPECT_EQ(test::refusal<UsageError>([] { (void)evaluate_advice(linear_record(kThree, 3, 1)); }),
            "to evaluate advice, four graphs or two sizes at least must have been measured");
  EXPECT_EQ(test::refusal<UsageError>([] { (void)evaluate_advice({}); }),
            "to evaluate advice, four graphs or two sizes at least must have been measured");
  const Evaluation one = evaluate_advice(linear_record(kThree, 4, 1));
  EXPECT_EQ(one.sizes.launches, 0) << "no other size to predict from";
  EXPECT_EQ(one.graphs.launches + one.graphs.refused, 12);
}

}  // namespace
