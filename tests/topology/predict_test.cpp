#include "merganser/topology/predict.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

Load load(double degree, double bytes, int ranks = 4, int cores = 8) {
  Load l{ranks, cores};
  l.degree = degree;
  l.arcs = degree * ranks;
  l.rank_bytes = degree * bytes;
  l.bytes = l.arcs * bytes;
  return l;
}

/// A kernel with a protocol of its own for long messages.
double truth(const Load& l) {
  const bool eager = l.size() < 8192;
  return eager ? 200 + 100 * l.degree + 0.10 * l.rank_bytes : 2000 + 300 * l.degree + 0.04 * l.rank_bytes;
}

std::vector<KnownCell> cells(double noise = 0) {
  std::vector<KnownCell> out;
  Random random(5, 0, 0);
  for (const double degree : {1.0, 2.0, 3.0, 5.0})
    for (double bytes = 8; bytes <= 4e6; bytes *= 4) {
      const Load l = load(degree, bytes);
      const double time = truth(l) * (1 + random.uniform(-noise, noise));
      out.push_back({"degree " + std::to_string(degree), "a.b", "a", "notified", l, {{time, time, time}}});
    }
  return out;
}

TEST(Predict, finds_the_protocol_break_and_predicts_between) {
  const KernelModel model(cells());
  ASSERT_FALSE(model.breaks().empty());
  for (const double degree : {2.0, 4.0})
    for (const double bytes : {20.0, 600.0, 100000.0, 3e6}) {
      const Load l = load(degree, bytes);
      EXPECT_NEAR(model.predict(l).time / truth(l), 1, 0.15) << degree << ' ' << bytes;
    }
}

TEST(Predict, noise_becomes_the_stated_error) {
  const KernelModel quiet(cells()), noisy(cells(0.3));
  EXPECT_LT(quiet.error(), noisy.error());
  EXPECT_LT(noisy.error(), 0.5);
  EXPECT_EQ(quiet.left_out().size(), cells().size());
}

TEST(Predict, one_disturbed_cell_does_not_bend_the_rest) {
  auto known = cells();
  known[7].launches = {{known[7].time() * 50}};
  const KernelModel model(known);
  const Load far = load(3, 1e6);
  EXPECT_NEAR(model.predict(far).time / truth(far), 1, 0.25);
}

TEST(Predict, uncertainty_grows_beyond_what_was_measured) {
  const KernelModel model(cells());
  const double near = model.predict(load(3, 1024)).error;
  EXPECT_GT(model.predict(load(3, 1024, 1024, 8192)).error, near + 0.5);
  EXPECT_GT(model.predict(load(3, 1024, 8, 2)).error, near + 0.3);
  EXPECT_GT(model.predict(load(60, 1024)).error, near + 0.1);
}

TEST(Predict, one_graph_alone_gives_a_wide_error) {
  auto known = cells();
  std::erase_if(known, [](const KnownCell& c) { return c.load.degree != 2; });
  EXPECT_GE(KernelModel(known).error(), 0.3);
  EXPECT_TRUE(KernelModel(known).left_out().empty());
}

TEST(Predict, loads_come_from_both_ends_of_arcs) {
  // Ranks 1, 2 and 3 send to rank 0.
  const ProcessGraph incast({{}, {{0, 10}}, {{0, 20}}, {{0, 30}}});
  const Load l = load_of(incast, 2);
  EXPECT_EQ(l.degree, 3);
  EXPECT_EQ(l.rank_bytes, 60);
  EXPECT_EQ(l.bytes, 60);
  EXPECT_EQ(l.arcs, 3);
  EXPECT_TRUE(l.oversubscribed());
  EXPECT_EQ(load_of(incast, 4, 8).rank_bytes, 24);
  EXPECT_THROW((void)load_of(incast, 4, -1), UsageError);
}

TEST(Predict, refuses_cells_without_time_or_load) {
  EXPECT_THROW(KernelModel({}), UsageError);
  auto known = cells();
  known[0].launches = {{0}};
  EXPECT_THROW(KernelModel{known}, UsageError);
  known = cells();
  known[3].load.arcs = 0;
  EXPECT_THROW(KernelModel{known}, UsageError);
  EXPECT_THROW((void)KernelModel(cells()).predict({}), UsageError);
}

}  // namespace
