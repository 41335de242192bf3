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
  for (const double degree : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0})
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
  EXPECT_NEAR(notified.against_baseline->value, 1 - 271.28 / 700.8, 0.03);
  EXPECT_TRUE(notified.near_ties.empty());
  EXPECT_FALSE(of(advice, "remote").against_baseline.has_value());
}

TEST(Advise, measured_intervals_hold_what_many_launches_show) {
  Random r(21, 0, 0);
  const auto normal = [&r] {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += r.uniform();
    return sum;
  };
  for (const int launches : {1, 2, 3, 5}) {
    int inside = 0, all = 0, wrong = 0;
    for (int trial = 0; trial < 150; ++trial) {
      std::vector<KnownCell> cells;
      for (const char* name : {"a.x", "b.x"}) cells.push_back({"g", name, "a", "remote", Load{4, 8}, {}});
      for (int l = 0; l < launches; ++l) {
        const double common = 0.065 * normal();
        for (auto& c : cells) {
          const double median = 1000 * std::exp(common + 0.07 * normal());
          c.launches.push_back({});
          for (int i = 0; i < 8; ++i) c.launches.back().push_back(median * (1 + r.uniform(-0.05, 0.05)));
        }
      }
      const auto advice = advise_measured(cells);
      for (const auto& k : advice[0].kernels) {
        ++all;
        inside += k.standing.time.low <= 1000 && 1000 <= k.standing.time.high ? 1 : 0;
        wrong += k.standing.candidate != advice[0].kernels[0].standing.candidate && k.standing.told_apart ? 1 : 0;
      }
    }
    EXPECT_GE(inside, 0.9 * all) << launches;  // of 95 %
    EXPECT_LE(wrong, 0.2 * all / 2) << launches;
    RecordProperty("inside_" + std::to_string(launches), 1000 * inside / all);
    RecordProperty("wrong_" + std::to_string(launches), 2000 * wrong / all);
  }
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
  EXPECT_EQ(e.all.cells, 2 * 6 * 8);
  EXPECT_GE(e.all.right, 0.9 * e.all.cells);
  EXPECT_LT(e.all.p2p_right, 0.5 * e.all.cells);
  EXPECT_LT(e.all.rma_right, 0.9 * e.all.cells);
  EXPECT_LT(e.graphs.median_error, 0.15);
}

TEST(Advise, nine_of_ten_held_out_cells_lie_in_their_intervals) {
  const Evaluation e = evaluate_advice(record(0.05));
  EXPECT_EQ(e.graphs.launches + e.graphs.refused, 6 * 8 * 6);
  EXPECT_EQ(e.sizes.launches + e.sizes.refused, 6 * 8 * 6);
  for (const auto& c : {e.graphs, e.sizes}) {
    EXPECT_GE(c.launches, 100);
    EXPECT_GE(c.inside, 0.9 * c.launches);
    EXPECT_GT(c.median_factor, 1);
  }
}

TEST(Advise, what_is_left_out_of_one_record_is_predicted_from_the_others) {
  auto known = record(0.02), other = known;
  for (auto& c : known) c.source = "quiet";
  for (auto& c : other) {
    c.source = "busy";
    c.launches = {{c.time() * 3}};
  }
  EXPECT_LT(evaluate_advice(known).graphs.median_error, 0.15);
  known.insert(known.end(), other.begin(), other.end());
  const Evaluation e = evaluate_advice(known);
  EXPECT_EQ(e.graphs.launches + e.graphs.refused, 2 * 6 * 8 * 6);
  EXPECT_GT(e.graphs.median_error, 0.6);
}

TEST(Advise, with_one_graph_sizes_are_left_out) {
  std::vector<KnownCell> cells = record(0.02);
  std::erase_if(cells, [](const KnownCell& c) { return c.load.degree != 2; });
  EXPECT_TRUE(evaluate_advice(cells).sizes_left_out);
  std::erase_if(cells, [](const KnownCell& c) { return c.load.size() != 8; });
  EXPECT_THROW((void)evaluate_advice(cells), UsageError);
  EXPECT_THROW((void)Advisor({}), UsageError);
}

TEST(Advise, what_cannot_be_predicted_is_refused_with_the_reason) {
  std::vector<KnownCell> cells = record(0.02);
  const Load known = cells[0].load;
  const Advisor advisor(cells);
  EXPECT_TRUE(advisor.unknown(known).empty());
  const auto near = advisor.advise(known);
  const auto& first = of(near, "notified").kernels[0];
  EXPECT_TRUE(first.predicted);
  EXPECT_LT(first.standing.time.low, first.standing.time.value);
  EXPECT_GT(first.standing.time.high, first.standing.time.value);
  Load many = known;
  many.ranks = 4096;
  EXPECT_TRUE(advisor.advise(many).empty());
  ASSERT_EQ(advisor.unknown(many).size(), 1U);
  EXPECT_TRUE(advisor.unknown(many)[0].all);
  EXPECT_NE(advisor.unknown(many)[0].reason.find("4096 ranks share 16 cores"), std::string::npos);
  // A kernel that was measured at short messages only is missing at long ones.
  std::erase_if(cells, [](const KnownCell& c) { return c.kernel == "rma.put-notify" && c.load.size() > 100; });
  const Advisor some(cells);
  Load large = known;
  large.rank_bytes *= 1000;
  large.bytes *= 1000;
  ASSERT_EQ(some.unknown(large).size(), 1U);
  EXPECT_EQ(some.unknown(large)[0].kernels, std::vector<std::string>{"rma.put-notify"});
  EXPECT_FALSE(some.unknown(large)[0].all);
  const auto advice = some.advise(large);
  EXPECT_EQ(of(advice, "notified").kernels.size(), 3U);
}

}  // namespace
