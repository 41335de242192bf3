/// Fits to synthetic measurements that the model itself makes: coefficients, breaks, ties between records, intervals that are
/// computed here again from the errors of cross-validation, and what cannot be predicted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/graphs/process_graph.hpp"
#include "merganser/stats/distributions.hpp"
#include "merganser/topology/predict.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;

Load make_load(int ranks, int cores, double degree, double arcs, double bytes_an_arc) {
  Load l{ranks, cores};
  l.degree = degree;
  l.arcs = arcs;
  l.rank_bytes = degree * bytes_an_arc;
  l.bytes = arcs * bytes_an_arc;
  return l;
}
Load regular(double degree, double bytes, int ranks = 4, int cores = 8) {
  return make_load(ranks, cores, degree, degree * ranks, bytes);
}

/// o + d (g + s G) + (A / c) (h + s H), the formula of topology-advice.md.
struct Formula {
  double o, g, G, h, H;
  [[nodiscard]] double at(const Load& l) const {
    const double shared = std::min(l.ranks, l.cores);
    return o + l.degree * (g + l.size() * G) + l.arcs / shared * (h + l.size() * H);
  }
};

KnownCell known_cell(const std::string& graph, const Load& l, double time) {
  return {graph, "a.b", "a", "notified", l, {{time}}};
}

/// Cells of graphs with other degrees and other numbers of arcs at sizes from 8 bytes, four times as long each.
std::vector<KnownCell> made_by(const std::function<double(const Load&)>& time, double most_bytes = 4e6) {
  std::vector<KnownCell> out;
  int number = 0;
  for (const double degree : {1.0, 2.0, 3.0, 5.0, 8.0}) {
    for (const double share : {0.4, 1.0}) {
      ++number;
      for (double bytes = 8; bytes <= most_bytes; bytes *= 4) {
        const Load l = make_load(12, 16, degree, std::ceil(12 * degree * share), bytes);
        out.push_back(known_cell("graph " + std::to_string(number), l, time(l)));
      }
    }
  }
  return out;
}

TEST(PredictFit, a_machine_that_follows_the_formula_is_predicted_within_three_percent) {
  const Formula machines[] = {{200, 100, 0.1, 0, 0}, {5000, 0, 0, 30, 0.02},   {0, 400, 0, 100, 0},
                              {0, 0, 1.5, 0, 0.5},   {1000, 50, 0.2, 20, 0.1}, {800, 0, 0, 0, 0},
                              {300, 900, 0.01, 0, 0}};
  for (const Formula& machine : machines) {
    const KernelModel model(made_by([&](const Load& l) { return machine.at(l); }));
    EXPECT_TRUE(model.breaks().empty()) << machine.o << ' ' << machine.g << ' ' << machine.G;
    for (const double degree : {1.5, 4.0, 7.0}) {
      for (const double bytes : {12.0, 700.0, 50'000.0, 3e6}) {
        for (const double share : {0.5, 0.9}) {
          const Load l = make_load(12, 16, degree, 12 * degree * share, bytes);
          EXPECT_NEAR(model.predict(l).time / machine.at(l), 1, 0.03)
              << machine.o << ' ' << machine.g << ' ' << machine.G << ": " << degree << " arcs, " << bytes << " bytes";
        }
      }
    }
  }
}

TEST(PredictFit, a_change_of_protocol_is_found_at_its_size) {
  const Formula eager{200, 100, 0.1, 0, 0}, rendezvous{4000, 500, 0.03, 0, 0};
  for (const double at : {512.0, 8192.0, 32768.0}) {
    const auto time = [&](const Load& l) { return (l.size() < at ? eager : rendezvous).at(l); };
    const KernelModel model(made_by(time));
    ASSERT_EQ(model.breaks().size(), 1U) << at;
    EXPECT_EQ(model.breaks()[0], at);
    for (const double bytes : {20.0, at / 4, at, 2 * at, 1e6}) {
      const Load l = make_load(12, 16, 4, 40, bytes);
      EXPECT_NEAR(model.predict(l).time / time(l), 1, 0.05) << bytes << " with a break at " << at;
    }
  }
}

TEST(PredictFit, two_changes_of_protocol_are_found_and_no_third) {
  const Formula pieces[] = {{200, 100, 0, 0, 0}, {3000, 100, 0.2, 0, 0}, {50'000, 3000, 0.05, 0, 0}};
  const auto time = [&](const Load& l) { return pieces[l.size() < 512 ? 0 : l.size() < 131'072 ? 1 : 2].at(l); };
  const KernelModel model(made_by(time, 6e7));
  EXPECT_EQ(model.breaks(), (std::vector<double>{512, 131'072}));
  for (const double bytes : {8.0, 512.0, 9000.0, 1e6}) {
    const Load l = make_load(12, 16, 3, 30, bytes);
    EXPECT_NEAR(model.predict(l).time / time(l), 1, 0.06) << bytes;
  }
}

// Each piece must have three sizes: a break at the second size or at the last but one cannot be.
TEST(PredictFit, a_break_needs_three_sizes_on_both_sides) {
  const Formula low{200, 100, 0, 0, 0}, high{9000, 900, 0, 0, 0};
  for (const auto& [sizes, breaks] : {std::pair{5, 0U}, std::pair{6, 1U}}) {
    std::vector<KnownCell> cells;
    for (const double degree : {1.0, 2.0, 3.0, 5.0}) {
      for (int s = 0; s < sizes; ++s) {
        const Load l = regular(degree, 8 * std::pow(4, s));
        cells.push_back(known_cell("degree " + std::to_string(degree), l, (s < sizes - 3 ? low : high).at(l)));
      }
    }
    const KernelModel model(cells);
    EXPECT_EQ(model.breaks().size(), breaks) << sizes << " sizes";
    for (const double at : model.breaks()) EXPECT_EQ(at, 512);
  }
}

TEST(PredictFit, times_in_another_unit_give_the_same_in_that_unit) {
  Random random(3, 0, 0);
  auto cells = made_by([&](const Load& l) { return Formula{200, 90, 0.1, 10, 0.01}.at(l) * random.uniform(0.8, 1.2); });
  auto scaled = cells;
  for (auto& c : scaled) c.launches[0][0] *= 1024;
  const KernelModel model(cells), other(scaled);
  EXPECT_EQ(model.breaks(), other.breaks());
  for (const double bytes : {8.0, 300.0, 70'000.0}) {
    const Load l = make_load(12, 16, 4, 33, bytes);
    const Prediction p = model.predict(l), q = other.predict(l);
    EXPECT_NEAR(q.time / p.time, 1024, 1e-6);
    EXPECT_NEAR(q.high / p.high, 1024, 1e-6);
    EXPECT_NEAR(q.low / p.low, 1024, 1e-6);
  }
}

TEST(PredictFit, the_order_of_cells_does_not_matter) {
  Random random(4, 0, 0);
  auto cells = made_by([&](const Load& l) { return Formula{200, 90, 0.1, 10, 0.01}.at(l) * random.uniform(0.9, 1.1); });
  const KernelModel model(cells);
  std::reverse(cells.begin(), cells.end());
  const KernelModel other(cells);
  for (const double bytes : {8.0, 300.0, 70'000.0}) {
    const Load l = make_load(12, 16, 4, 33, bytes);
    EXPECT_NEAR(model.predict(l).time / other.predict(l).time, 1, 1e-6);
    EXPECT_NEAR(model.predict(l).high / other.predict(l).high, 1, 1e-6);
  }
}

// What the formula cannot fit, measured near by, is added: all cells of one graph are half as slow again.
TEST(PredictFit, what_similar_cells_deviate_by_is_added) {
  const Formula machine{200, 100, 0.1, 0, 0};
  std::vector<KnownCell> cells;
  for (const double degree : {1.0, 2.0, 3.0, 5.0, 8.0}) {
    for (double bytes = 8; bytes <= 4e6; bytes *= 4) {
      const Load l = regular(degree, bytes, 12, 16);
      cells.push_back(known_cell(std::to_string(degree), l, machine.at(l) * (degree == 8 ? 1.5 : 1)));
    }
  }
  const KernelModel model(cells);
  const Load near = regular(8, 1024, 12, 16), far = regular(1, 1024, 12, 16);
  EXPECT_GT(model.predict(near).time / machine.at(near), 1.2);
  EXPECT_NEAR(model.predict(far).time / machine.at(far), 1, 0.1);
}

/// Returns half the width of the interval for a graph that was not measured, as a logarithm, from the errors of cross-validation:
/// the order statistic for one more to come, wider by Student's distribution for few graphs, and by a day of its own.
double half_width_from(const KernelModel& model, double occasion) {
  std::vector<double> errors;
  std::set<std::string> graphs;
  for (const auto& left_out : model.left_out()) {
    for (const double error : left_out.log_errors) errors.push_back(std::fabs(error));
    graphs.insert(left_out.graph);
  }
  std::sort(errors.begin(), errors.end());
  const auto rank = static_cast<std::size_t>(std::ceil(0.9 * static_cast<double>(errors.size() + 1)));
  const auto n = static_cast<double>(graphs.size());
  const double few = student_quantile(0.05, n - 1) / 1.6448536 * std::sqrt(1 + 1 / n);
  return std::hypot(errors.at(rank - 1) * few, 1.6448536 * occasion);
}

TEST(PredictInterval, is_the_order_statistic_of_the_errors_of_graphs_left_out) {
  Random random(6, 0, 0);
  const Formula machine{200, 100, 0.1, 0, 0};
  for (const int graphs : {3, 4, 9}) {
    for (const double busy : {1.0, 2.5}) {
      std::vector<KnownCell> cells;
      for (int g = 0; g < graphs; ++g) {
        const double degree = 2 + 0.25 * g, own = random.uniform(0.7, 1.4);
        for (double bytes = 8; bytes <= 40'000; bytes *= 4) {
          const Load l = regular(degree, bytes);
          cells.push_back(
              known_cell("graph " + std::to_string(g), l, machine.at(l) * own * random.uniform(0.95, 1.05)));
          cells.back().load_per_core = g == 0 ? busy : 1;
        }
      }
      const KernelModel model(cells);
      EXPECT_EQ(model.left_out().size(), cells.size());
      const Load l = make_load(4, 8, 2.1, 8.4, 512);
      const Prediction p = model.predict(l);
      const double wanted = half_width_from(model, 0.15 * busy);
      EXPECT_NEAR(std::log(p.high / p.time), wanted, 1e-9) << graphs << " graphs";
      EXPECT_NEAR(std::log(p.time / p.low), wanted, 1e-9) << graphs << " graphs";
      EXPECT_EQ(p.beyond, 1);
    }
  }
}

TEST(PredictInterval, cannot_be_told_from_two_graphs_or_from_few_errors) {
  const Formula machine{200, 100, 0.1, 0, 0};
  const auto reason = [&](int graphs, int sizes) {
    std::vector<KnownCell> cells;
    for (int g = 0; g < graphs; ++g) {
      for (int s = 0; s < sizes; ++s) {
        const Load l = regular(2 + 0.25 * g, 8 * std::pow(4, s));
        cells.push_back(known_cell("graph " + std::to_string(g), l, machine.at(l)));
      }
    }
    const auto reasons = KernelModel(cells).unknown(make_load(4, 8, 2.1, 8.4, 8));
    return reasons.empty() ? "" : reasons[0];
  };
  EXPECT_EQ(reason(3, 3), "") << "nine errors suffice";
  const std::string few =
      "too few graphs of ranks with a core each were measured to know how far off a prediction for another one is; "
      "measure more, or this one";
  EXPECT_EQ(reason(2, 9), few);
  EXPECT_EQ(reason(4, 2), few) << "eight errors do not";
}

TEST(PredictInterval, another_size_or_number_of_ranks_needs_three_that_were_measured) {
  const Formula machine{200, 100, 0.1, 0, 0};
  std::vector<KnownCell> cells;
  for (int g = 0; g < 6; ++g) {
    for (const double bytes : {64.0, 256.0}) {
      const Load l = regular(2 + 0.25 * g, bytes);
      cells.push_back(known_cell("graph " + std::to_string(g), l, machine.at(l)));
    }
  }
  const KernelModel model(cells);
  EXPECT_TRUE(model.unknown(make_load(4, 8, 2.1, 8.4, 64)).empty());
  const auto size = model.unknown(make_load(4, 8, 2.1, 8.4, 100));
  ASSERT_EQ(size.size(), 1U);
  EXPECT_EQ(size[0], "too few sizes were measured to tell of another one; measure more, or 100 bytes an arc");
  const auto ranks = model.unknown(make_load(5, 8, 2.1, 10.5, 64));
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0], "too few numbers of ranks were measured to tell of another one; measure 5 ranks");
}

TEST(PredictInterval, wider_than_a_factor_of_a_hundred_is_no_prediction) {
  std::vector<KnownCell> cells;
  Random random(7, 0, 0);
  for (int g = 0; g < 5; ++g) {
    for (double bytes = 8; bytes <= 40'000; bytes *= 4) {
      cells.push_back(known_cell("graph " + std::to_string(g), regular(2 + 0.25 * g, bytes),
                                 1000 * std::exp(random.uniform(-7, 7))));
    }
  }
  const auto reasons = KernelModel(cells).unknown(make_load(4, 8, 2.1, 8.4, 512));
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0],
            "what was measured is missed by a factor of more than 100 where it is left out; measure it again, or this "
            "graph");
}

TEST(PredictCells, equal_ones_are_joined_at_the_place_of_the_first) {
  const Load l = regular(2, 64), longer = regular(2, 65), crowded = regular(2, 64, 4, 2);
  std::vector<KnownCell> cells{known_cell("g", l, 1), known_cell("h", l, 2),       known_cell("g", longer, 3),
                               known_cell("g", l, 4), known_cell("g", crowded, 5), known_cell("h", l, 6)};
  cells[3].load_per_core = 2;
  cells[3].source = "another record";
  auto other = known_cell("g", l, 7);
  other.kernel = "a.c";
  cells.push_back(other);
  other.completion = "remote";
  cells.push_back(other);
  const auto all = joined(cells);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all[0].launches, (std::vector<std::vector<double>>{{1}, {4}}));
  EXPECT_EQ(all[0].load_per_core, 2);
  EXPECT_EQ(all[0].source, "");
  EXPECT_EQ(all[1].launches, (std::vector<std::vector<double>>{{2}, {6}}));
  EXPECT_EQ(all[2].launches, (std::vector<std::vector<double>>{{3}}));
  EXPECT_EQ(all[3].launches, (std::vector<std::vector<double>>{{5}}));
  EXPECT_EQ(all[4].kernel, "a.c");
  EXPECT_EQ(all[5].completion, "remote");
  EXPECT_TRUE(joined({}).empty());
}

TEST(PredictCells, the_time_of_a_cell_is_the_median_of_the_medians_of_launches) {
  KnownCell cell = known_cell("g", regular(1, 8), 0);
  cell.launches = {{5, 1, 3}, {100, 200}, {}, {7}};
  EXPECT_EQ(cell.medians(), (std::vector<double>{3, 150, 7}));
  EXPECT_EQ(cell.time(), 7);
}

TEST(PredictCells, what_cannot_be_fitted_is_refused_by_name) {
  const auto refused = [](const std::function<void(KnownCell&)>& change) {
    auto cells = made_by([](const Load&) { return 100.0; });
    change(cells[3]);
    return test::refusal<UsageError>([&] { const KernelModel model(cells); });
  };
  EXPECT_EQ(refused([](KnownCell&) {}), "nothing was thrown");
  EXPECT_EQ(refused([](KnownCell& c) { c.launches = {{-1}}; }),
            "the time of a.b on graph 1 is -1.000000 ns; allowed: positive numbers");
  EXPECT_NE(refused([](KnownCell& c) { c.launches = {{INFINITY}}; }).find("allowed: positive"), std::string::npos);
  EXPECT_NE(refused([](KnownCell& c) { c.launches = {}; }).find("allowed: positive"), std::string::npos);
  for (const auto& change : std::vector<std::function<void(KnownCell&)>>{
           [](KnownCell& c) { c.load.arcs = 0; }, [](KnownCell& c) { c.load.ranks = 0; },
           [](KnownCell& c) { c.load.cores = 0; }, [](KnownCell& c) { c.load.bytes = -1; }}) {
    EXPECT_EQ(refused(change), "the load of a.b on graph 1 has no arcs, ranks or cores");
  }
  EXPECT_EQ(test::refusal<UsageError>([] { const KernelModel model({}); }),
            "a kernel without measured cells cannot be predicted");
}

// Against the sums over a matrix of all pairs.
TEST(LoadOf, random_graphs_is_that_of_their_busiest_rank) {
  Random random(9, 0, 0);
  for (int trial = 0; trial < 40; ++trial) {
    const int ranks = 1 + static_cast<int>(random.below(9));
    const auto n = static_cast<std::size_t>(ranks);
    std::vector<std::vector<double>> matrix(n, std::vector<double>(n, -1));  // -1: no arc
    std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(n);
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a == b || random.below(3) == 0) continue;
        matrix[a][b] = static_cast<double>(random.below(1000));
        rows[a].push_back({static_cast<int>(b), matrix[a][b]});
      }
    }
    const graphs::ProcessGraph graph(rows);
    double arcs = 0, bytes = 0, degree = 0, rank_bytes = 0;
    for (std::size_t r = 0; r < n; ++r) {
      double out = 0, in = 0, sent = 0, received = 0;
      for (std::size_t o = 0; o < n; ++o) {
        if (matrix[r][o] >= 0) out += 1, sent += matrix[r][o];
        if (matrix[o][r] >= 0) in += 1, received += matrix[o][r];
      }
      arcs += out;
      bytes += sent;
      degree = std::max({degree, out, in});
      rank_bytes = std::max({rank_bytes, sent, received});
    }
    const Load l = exchange_load(graph, 3);
    EXPECT_EQ(l.ranks, ranks);
    EXPECT_EQ(l.oversubscribed(), ranks > 3);
    EXPECT_EQ(l.arcs, arcs);
    EXPECT_EQ(l.bytes, bytes);
    EXPECT_EQ(l.degree, degree);
    EXPECT_EQ(l.rank_bytes, rank_bytes);
    EXPECT_EQ(l.size(), arcs > 0 ? bytes / arcs : 0);
    const Load equal = exchange_load(graph, 0, 16);
    EXPECT_EQ(equal.cores, 1) << "at least one";
    EXPECT_EQ(equal.bytes, 16 * arcs);
    EXPECT_EQ(equal.rank_bytes, 16 * degree);
  }
}

}  // namespace
