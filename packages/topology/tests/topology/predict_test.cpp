/// Prediction of exchange times from synthetic measurements: accuracy, coverage of intervals, refusals.
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

/// Time of a kernel with a different protocol for long messages.
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

double width(const KernelModel& model, const Load& load) {
  const Prediction p = model.predict(load);
  EXPECT_NEAR(p.time / p.low, p.high / p.time, 1e-9);
  return p.high / p.time;
}

TEST(Predict, noise_becomes_the_stated_error) {
  const KernelModel quiet(cells()), noisy(cells(0.3));
  EXPECT_LT(width(quiet, load(3, 1024)), width(noisy, load(3, 1024)));
  EXPECT_LT(width(noisy, load(3, 1024)), 4);
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
  const double measured = width(model, load(3, 8192));
  EXPECT_EQ(model.predict(load(3, 8192)).beyond, 1);
  EXPECT_GE(width(model, load(3, 9000)), measured);
  // For another number of ranks, from three numbers of ranks that are off by different factors.
  auto known = cells();
  for (const int ranks : {8, 12}) {
    auto more = cells();
    for (auto& c : more) {
      c.graph += " on " + std::to_string(ranks);
      c.load = load(c.load.degree, c.load.size(), ranks, 16);
      c.launches = {{c.time() * std::sqrt(ranks / 4.0)}};
    }
    known.insert(known.end(), more.begin(), more.end());
  }
  const KernelModel both(known);
  EXPECT_TRUE(both.unknown(load(3, 8192, 6, 16)).empty());
  EXPECT_GT(both.predict(load(3, 8192, 6, 16)).beyond, 1.5);
  EXPECT_GT(width(both, load(3, 8192, 6, 16)), 1.5 * width(both, load(3, 8192, 8, 16)));
}

std::string refusal(const KernelModel& model, const Load& load) {
  const auto all = model.unknown(load);
  return all.empty() ? "" : all.front();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Predict, refuses_what_the_cells_cannot_know_and_says_what_to_measure) {
  const KernelModel model(cells());
  for (const double degree : {1.0, 3.0, 10.0})
    for (const double bytes : {0.0, 8.0, 1000.0, 4e6}) EXPECT_EQ(refusal(model, load(degree, bytes)), "") << degree;
  EXPECT_TRUE(says(refusal(model, load(3, 64, 16, 2)), "16 ranks share 2 cores")) << refusal(model, load(3, 64, 16, 2));
  EXPECT_TRUE(says(refusal(model, load(3, 64, 16, 2)), "measure it on 16 ranks"));
  EXPECT_TRUE(says(refusal(model, load(3, 64, 64, 64)), "64 ranks, measured were 4"));
  EXPECT_TRUE(says(refusal(model, load(3, 64, 1, 64)), "1 rank, measured were 4"));
  EXPECT_TRUE(says(refusal(model, load(30, 64)), "30 arcs, measured were 1 to 5"));
  EXPECT_TRUE(says(refusal(model, load(3, 1e9)), " bytes an arc, measured were 8 to 2097152"))
      << refusal(model, load(3, 1e9));
  // One number of ranks says nothing about another, however close.
  EXPECT_TRUE(says(refusal(model, load(3, 64, 6, 8)), "too few numbers of ranks")) << refusal(model, load(3, 64, 6, 8));
}

TEST(Predict, ranks_that_share_cores_tell_nothing_of_those_that_do_not) {
  auto oversubscribed = cells();
  for (auto& c : oversubscribed) c.load.cores = 2;
  const KernelModel model(oversubscribed);
  EXPECT_EQ(refusal(model, load(3, 1024, 4, 2)), "");
  EXPECT_TRUE(says(refusal(model, load(3, 1024)), "4 ranks have a core each")) << refusal(model, load(3, 1024));
  EXPECT_TRUE(says(refusal(model, load(3, 1024, 8, 2)), "4 ranks share a core, measured were 2"));
}

TEST(Predict, one_graph_alone_tells_of_its_sizes_only) {
  auto known = cells();
  std::erase_if(known, [](const KnownCell& c) { return c.load.degree != 2; });
  const KernelModel model(known);
  EXPECT_EQ(refusal(model, load(2, 1000)), "");
  EXPECT_TRUE(says(refusal(model, load(3, 1000)), "too few graphs")) << refusal(model, load(3, 1000));
  known.resize(4);
  EXPECT_TRUE(says(refusal(KernelModel(known), load(2, 100)), "too few graphs"));
}

TEST(Predict, a_day_of_its_own_is_allowed_for_what_was_measured_on_one) {
  auto one = cells(0.02), two = one;
  for (auto& c : one) c.launches.insert(c.launches.end(), 8, c.launches.front());
  for (auto& c : two) c.source = "other";
  const Load l = load(3, 1024);
  const double alone = width(KernelModel(one), l);
  two.insert(two.end(), one.begin(), one.end());
  const auto cells = merganser::topology::joined(two);
  ASSERT_EQ(cells.size(), one.size());
  EXPECT_EQ(cells[0].launches.size(), 10U);
  EXPECT_GT(alone, std::exp(1.64 * 0.15));
  EXPECT_LT(width(KernelModel(two), l), alone);
  for (auto& c : one) c.load_per_core = 3;
  EXPECT_GT(width(KernelModel(one), l), std::exp(1.64 * 0.45));
}

TEST(Predict, days_that_differ_show_in_the_interval) {
  std::vector<KnownCell> known;
  for (const double factor : {1.0, 2.0, 4.0, 1.5}) {
    auto day = cells(0.02);
    for (auto& c : day) {
      c.source = "day of " + std::to_string(factor);
      c.launches = {{c.time() * factor}};
    }
    known.insert(known.end(), day.begin(), day.end());
  }
  EXPECT_GT(width(KernelModel(known), load(3, 1024)), 2);
  EXPECT_LT(width(KernelModel(known), load(3, 1024)), 10);
}

/// A machine on which kernels are faster and slower by graph, by configuration and by day than the model can fit.
struct World {
  double graph = 0.15, cell = 0.08, day = 0.07, launch = 0.09;
};

Load any_load(Random& r) {
  const double degree = 1 + std::floor(r.uniform(0, 4));
  return load(degree, std::exp2(3 + std::floor(r.uniform(0, 4)) * 4), 4, 2);
}

double normal(Random& r) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += r.uniform();
  return sum;
}

/// Returns configurations of graphs at four sizes in three launches of one day; every twentieth launch is disturbed.
std::vector<KnownCell> day_of(const World& w, std::uint64_t seed, int graphs) {
  std::vector<KnownCell> out;
  Random r(seed, 0, 0);
  const double day = w.day * normal(r);
  for (int g = 0; g < graphs; ++g) {
    const double own = w.graph * normal(r);
    const double degree = any_load(r).degree;
    for (const double bytes : {8.0, 128.0, 2048.0, 32768.0}) {
      const Load l = load(degree, bytes, 4, 2);
      KnownCell c{"graph " + std::to_string(g), "a.b", "a", "notified", l, {}};
      const double mine = day + own + w.cell * normal(r);
      for (int k = 0; k < 3; ++k) {
        const double disturbed = r.uniform() < 0.05 ? std::log(r.uniform(1, 4)) : 0;
        c.launches.push_back({truth(l) * std::exp(mine + w.launch * normal(r) + disturbed)});
      }
      out.push_back(std::move(c));
    }
  }
  return out;
}

TEST(Predict, nine_of_ten_measurements_lie_in_the_interval_that_is_stated) {
  for (const int graphs : {3, 5, 9}) {
    int inside = 0, all = 0, refused = 0;
    for (std::uint64_t trial = 0; trial < 60; ++trial) {
      const KernelModel model(day_of({}, 1000 + trial, graphs));
      // Other graphs, on another day.
      for (const auto& c : day_of({}, 5000 + trial, 2)) {
        if (!model.unknown(c.load).empty()) {
          ++refused;
          continue;
        }
        const Prediction p = model.predict(c.load);
        for (const double time : c.medians()) {
          ++all;
          inside += p.low <= time && time <= p.high ? 1 : 0;
        }
      }
    }
    RecordProperty("inside_per_mille_of_" + std::to_string(graphs), 1000 * inside / std::max(1, all));
    EXPECT_GE(all, 500) << graphs << ' ' << refused;
    EXPECT_GE(inside, 0.88 * all) << graphs;  // less than is stated by what 1,400 of them scatter
  }
}

TEST(Predict, loads_come_from_both_ends_of_arcs) {
  // Ranks 1, 2 and 3 send to rank 0.
  const graphs::ProcessGraph incast({{}, {{0, 10}}, {{0, 20}}, {{0, 30}}});
  const Load l = exchange_load(incast, 2);
  EXPECT_EQ(l.degree, 3);
  EXPECT_EQ(l.rank_bytes, 60);
  EXPECT_EQ(l.bytes, 60);
  EXPECT_EQ(l.arcs, 3);
  EXPECT_TRUE(l.oversubscribed());
  EXPECT_EQ(exchange_load(incast, 4, 8).rank_bytes, 24);
  EXPECT_THROW((void)exchange_load(incast, 4, -1), UsageError);
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
