// Tests of the forest of one rank (filter-Kruskal) against plain Kruskal, for all three types of edges.
#include "merganser/msf/local_forest.hpp"

#include <gtest/gtest.h>

#include "tests/msf/oracle.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

template <class Edge>
std::vector<Edge> narrowed(const Edges& wide) {
  std::vector<Edge> edges;
  for (const auto& e : wide) edges.push_back(graphs::make_edge<Edge>(e.low, e.high, e.weight));
  return edges;
}

/// n vertices, m edges between ends below n, weights below `limit`; loops and parallel edges as chance has it.
Edges random_edges(std::uint64_t n, std::size_t m, std::uint64_t limit, std::uint64_t seed) {
  Random random(seed, 0, 0);
  Edges edges;
  for (std::size_t i = 0; i < m; ++i)
    edges.push_back(graphs::make_edge<graphs::Edge24>(random.below(n), random.below(n), random.below(limit)));
  return edges;
}

template <class Edge>
void expect_forest(const Edges& wide, std::uint64_t vertices, int threads) {
  const auto edges = narrowed<Edge>(wide);
  const auto found = msf::local_forest<Edge>(edges, vertices, threads);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_EQ(found, narrowed<Edge>(plain_kruskal(wide, vertices))) << wide.size() << " edges, " << threads << " threads";
}

void expect_all_sizes(const Edges& wide, std::uint64_t vertices) {
  for (const int threads : {1, 2, 3}) {
    expect_forest<graphs::Edge12>(wide, vertices, threads);
    expect_forest<graphs::Edge16>(wide, vertices, threads);
    expect_forest<graphs::Edge24>(wide, vertices, threads);
  }
}

TEST(LocalForest, is_that_of_plain_kruskal_on_small_graphs) {
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    expect_all_sizes(random_edges(1 + seed, 3 * seed, seed % 3 == 0 ? 3 : 1'000'000, seed), 1 + seed);
}

TEST(LocalForest, is_that_of_plain_kruskal_where_edges_are_filtered) {
  expect_all_sizes(random_edges(2000, 60'000, 1ULL << 32, 1), 2000);
  expect_all_sizes(random_edges(300, 90'000, 1000, 2), 300);
}

TEST(LocalForest, breaks_ties_by_ends_where_all_weights_are_equal) {
  expect_all_sizes(random_edges(1000, 40'000, 1, 3), 1000);
  expect_all_sizes(random_edges(1000, 40'000, 3, 4), 1000);
}

TEST(LocalForest, of_very_few_different_edges_is_found) {
  Edges edges(50'000, {0, 1, 5});
  edges.push_back({1, 2, 7});
  edges.push_back({2, 2, 0});
  expect_all_sizes(edges, 5);
}

TEST(LocalForest, of_nothing_is_nothing) {
  expect_all_sizes({}, 0);
  expect_all_sizes({}, 3);
  expect_all_sizes({{1, 1, 0}}, 2);
}

TEST(LocalForest, takes_weights_of_64_bits) {
  auto edges = random_edges(500, 30'000, UINT64_MAX, 6);
  expect_forest<graphs::Edge16>(edges, 500, 2);
  expect_forest<graphs::Edge24>(edges, 500, 2);
}

}  // namespace
