#include "merganser/topology/advise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

struct Kernel {
  const char *name, *model, *completion;
  double o, g, G;  ///< per exchange, per arc, per byte [ns]
};
const std::vector<Kernel> kKernels{
    {"p2p.isend-irecv", "p2p", "notified", 300, 400, 0.10}, {"p2p.persistent", "p2p", "notified", 300, 396, 0.10},
    {"rma.put-notify", "rma", "notified", 1500, 300, 0.05}, {"shmem.put-signal", "shmem", "notified", 150, 120, 0.16},
    {"rma.put-flush", "rma", "remote", 100, 80, 0.05},      {"shmem.put-quiet", "shmem", "remote", 50, 40, 0.06}};

std::vector<KnownCell> record(double noise) {
  std::vector<KnownCell> out;
  Random random(8, 0, 0);
  for (const double degree : {1.0, 2.0, 4.0, 8.0})
    for (double bytes = 8; bytes <= 1e6; bytes *= 5)
      for (const auto& k : kKernels) {
        Load l{16, 16};
        l.degree = degree;
        l.arcs = 16 * degree;
        l.rank_bytes = degree * bytes;
        l.bytes = l.arcs * bytes;
        KnownCell c{"degree " + std::to_string(degree), k.name, k.model, k.completion, l, {{}}};
        const double time = k.o + degree * (k.g + bytes * k.G);
        for (int i = 0; i < 5; ++i) c.launches[0].push_back(time * (1 + random.uniform(-noise, noise)));
        out.push_back(std::move(c));
      }
  return out;
}

const ClassAdvice& of(const std::vector<ClassAdvice>& all, const std::string& completion) {
  for (const auto& c : all)
    if (c.completion == completion) return c;
  throw std::runtime_error("no advice for " + completion);
}

TEST(Advise, measured_cells_are_ranked_within_their_class) {
  std::vector<KnownCell> cells = record(0.01);
  const Load first = cells[0].load;
  std::erase_if(cells, [&](const KnownCell& c) { return c.load.bytes != first.bytes || c.load.degree != 1; });
  const auto advice = advise_measured(cells);
  ASSERT_EQ(advice.size(), 2U);
  EXPECT_EQ(advice[0].completion, "remote");
  const ClassAdvice& notified = of(advice, "notified");
  EXPECT_EQ(notified.kernels[0].kernel, "shmem.put-signal");
  EXPECT_GT(notified.kernels[0].standing.probability, 0.99);
  ASSERT_TRUE(notified.against_baseline.has_value());
  EXPECT_NEAR(notified.against_baseline->share, 1 - 271.28 / 700.8, 0.03);
  EXPECT_TRUE(notified.near_ties.empty());
  EXPECT_FALSE(of(advice, "remote").against_baseline.has_value());
}

TEST(Advise, equals_are_declared_near_ties) {
  std::vector<KnownCell> cells = record(0.01);
  std::erase_if(cells, [](const KnownCell& c) { return c.model != "p2p" || c.load.degree != 4 || c.load.size() != 8; });
  const auto advice = advise_measured(cells);
  EXPECT_EQ(of(advice, "notified").near_ties.size(), 1U);
}

TEST(Advise, advice_without_the_graph_is_right_in_nine_of_ten_cells) {
  const Evaluation e = evaluate_advice(record(0.05));
  EXPECT_FALSE(e.sizes_left_out);
  EXPECT_EQ(e.classes.size(), 2U);
  EXPECT_EQ(e.all.cells, 2 * 4 * 8);
  EXPECT_GE(e.all.right, 0.9 * e.all.cells);
  EXPECT_LT(e.all.p2p_right, 0.5 * e.all.cells);
  EXPECT_LT(e.all.rma_right, 0.9 * e.all.cells);
  EXPECT_LT(e.median_error, 0.15);
}

TEST(Advise, with_one_graph_sizes_are_left_out) {
  std::vector<KnownCell> cells = record(0.02);
  std::erase_if(cells, [](const KnownCell& c) { return c.load.degree != 2; });
  EXPECT_TRUE(evaluate_advice(cells).sizes_left_out);
  std::erase_if(cells, [](const KnownCell& c) { return c.load.size() != 8; });
  EXPECT_THROW((void)evaluate_advice(cells), UsageError);
  EXPECT_THROW((void)Advisor({}), UsageError);
}

TEST(Advise, says_what_is_doubtful) {
  const Advisor advisor(record(0.02));
  Load l = record(0.02)[0].load;
  EXPECT_TRUE(advisor.doubts(l).empty());
  l.ranks = 4096;
  EXPECT_EQ(advisor.doubts(l).size(), 2U);  // more ranks, and more than cores
  const auto near = advisor.advise(record(0.02)[0].load), far = advisor.advise(l);
  EXPECT_GT(of(far, "notified").kernels[0].error, of(near, "notified").kernels[0].error);
  EXPECT_LE(of(far, "notified").kernels[0].standing.probability, of(near, "notified").kernels[0].standing.probability);
}

}  // namespace
