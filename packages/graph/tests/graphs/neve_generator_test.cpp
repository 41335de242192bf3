/// Tests of the published generator of process graphs (NEVE) against an independent implementation and published numbers.
#include "merganser/graphs/neve_generator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"

namespace {

using namespace merganser;
using namespace merganser::graphs;

PublishedGraph published(int ranks, PublishedNumbers numbers, double cross = 0, std::int64_t vertices = 4096) {
  PublishedOptions o;
  o.ranks = ranks;
  o.numbers = numbers;
  o.cross = cross;
  o.vertices = vertices;
  return generate_published(o);
}

/// The published algorithm in its own words: all pairs, the library's own random numbers.
std::int64_t directed_edges_by_brute_force(int ranks, int n) {
  std::seed_seq sequence{1};
  std::vector<std::uint32_t> seed(1);
  sequence.generate(seed.begin(), seed.end());
  const double all = ranks * n;
  const double radius = (std::sqrt(std::log(all) / (3.14159 * all)) + std::sqrt(2.0736 / all)) / 2.0;
  std::vector<std::vector<double>> x, y;
  for (int r = 0; r < ranks; ++r) {
    std::minstd_rand0 engine(seed[0]);
    std::uniform_real_distribution<double> uniform;
    const double height = 1.0 / ranks, low = r * height, high = low + height;
    x.emplace_back();
    y.emplace_back();
    for (int i = 0; i < n; ++i) {
      x.back().push_back(uniform(engine, std::uniform_real_distribution<double>::param_type(0.0, 1.0)));
      y.back().push_back(uniform(engine, std::uniform_real_distribution<double>::param_type(low, high)));
    }
  }
  std::int64_t edges = 0;
  for (std::size_t r = 0; r < x.size(); ++r)
    for (std::size_t s = r; s < std::min(x.size(), r + 2); ++s)
      for (std::size_t i = 0; i < x[r].size(); ++i)
        for (std::size_t j = s == r ? i + 1 : 0; j < x[s].size(); ++j) {
          const double dx = x[r][i] - x[s][j], dy = y[r][i] - y[s][j];
          if (i != j && std::sqrt(dx * dx + dy * dy) <= radius) edges += 2;
        }
  return edges;
}

TEST(Published, the_seed_is_that_of_the_standard_library) {
  std::seed_seq sequence{1};
  std::vector<std::uint32_t> seed(1);
  sequence.generate(seed.begin(), seed.end());
  EXPECT_EQ(seed[0], kPublishedSeed);
}

TEST(Published, counts_the_edges_that_the_program_counts) {
  // Directed edges that the published program printed.
  EXPECT_EQ(published(16, PublishedNumbers::minstd).edges, 560752 / 2);
  EXPECT_EQ(published(32, PublishedNumbers::minstd).edges, 1168630 / 2);
  const std::pair<int, std::int64_t> lcg[] = {{2, 62352}, {4, 130042}, {8, 271272}, {16, 564782}, {32, 1171334}};
  for (const auto& [ranks, directed] : lcg) EXPECT_EQ(published(ranks, PublishedNumbers::lcg).edges, directed / 2);
  const std::pair<int, std::int64_t> exact[] = {{2, 62028}, {4, 129486}, {8, 270638}, {16, 563782}, {32, 1167380}};
  for (const auto& [ranks, directed] : exact)
    EXPECT_EQ(published(ranks, PublishedNumbers::lcg_exact).edges, directed / 2);
}

#ifdef __GLIBCXX__
TEST(Published, does_what_the_program_does_for_any_number_of_ranks) {
  for (const auto& [ranks, n] : {std::pair{1, 300}, {2, 300}, {3, 333}, {5, 512}, {7, 400}})
    EXPECT_EQ(2 * published(ranks, PublishedNumbers::minstd, 0, n).edges, directed_edges_by_brute_force(ranks, n))
        << ranks;
}
#endif

TEST(Published, loses_pairs_of_equal_local_indices) {
  EXPECT_EQ(published(16, PublishedNumbers::minstd).lost_pairs, 0);  // they lie right above each other
  const auto g = published(32, PublishedNumbers::lcg);
  EXPECT_EQ(g.lost_pairs, 9);
  EXPECT_LT(g.percent_base, g.edges);  // halves of odd lists are lost too
}

TEST(Published, is_a_chain_with_cross_edges_as_many_as_the_formula_says) {
  EXPECT_EQ(published(16, PublishedNumbers::minstd).graph, graphs::make_process_graph("chain", 16, 1));
  const auto g = published(16, PublishedNumbers::minstd, 0.02);
  EXPECT_EQ(g.tries, 56);
  EXPECT_LE(g.added, g.tries);
  EXPECT_GE(g.added, 50);
  EXPECT_TRUE(g.graph.is_symmetric());
  const ExpectedArcs expected = expected_arcs(16, g.tries);
  EXPECT_LT(std::abs(static_cast<double>(g.graph.arcs()) - expected.mean), 4 * expected.deviation);
  EXPECT_EQ(published(16, PublishedNumbers::minstd, 2).graph.arcs(), 240);
  EXPECT_EQ(published(16, PublishedNumbers::minstd, 2).tries, 5607);
}

TEST(Published, several_percents_at_once_are_the_same_as_one_by_one) {
  PublishedOptions o;
  o.vertices = 512;
  const double percents[] = {0, 0.1, 1};
  const auto all = generate_published(o, percents);
  ASSERT_EQ(all.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    o.cross = percents[i];
    const auto one = generate_published(o);
    EXPECT_EQ(one.graph, all[i].graph);
    EXPECT_EQ(one.tries, all[i].tries);
    EXPECT_EQ(one.added, all[i].added);
  }
}

TEST(Published, scores_over_many_seeds_are_those_of_a_normal_distribution) {
  PublishedOptions o;
  o.ranks = 24;
  o.vertices = 1024;
  o.cross = 0.2;
  double sum = 0, squares = 0;
  constexpr int kSeeds = 200;
  for (o.seed = 1; o.seed <= kSeeds; ++o.seed) {
    const auto g = generate_published(o);
    const ExpectedArcs e = expected_arcs(o.ranks, g.tries);
    const double z = (static_cast<double>(g.graph.arcs()) - e.mean) / e.deviation;
    sum += z;
    squares += z * z;
  }
  EXPECT_LT(std::abs(sum / kSeeds), 0.3);
  EXPECT_NEAR(squares / kSeeds, 1, 0.4);
}

TEST(Published, ends_where_the_program_ends) {
  EXPECT_THROW((void)published(3, PublishedNumbers::lcg), UsageError);
  EXPECT_THROW((void)published(1024, PublishedNumbers::minstd, 0, 2048), UsageError);  // strips too low
  EXPECT_THROW((void)published(0, PublishedNumbers::minstd), UsageError);
  EXPECT_THROW((void)published(2, PublishedNumbers::minstd, -1), UsageError);
  EXPECT_THROW((void)published(2, PublishedNumbers::minstd, 0, 0), UsageError);
}

}  // namespace
