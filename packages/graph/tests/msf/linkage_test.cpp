/// Tests of dendrograms against the definition of single linkage, and of cuts against the graph itself.
#include "merganser/msf/linkage.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/msf/oracle.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;
using test::Edges;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// A random graph whose weights are 0 .. weights - 1; loops, parallel edges and vertices without edges are in it.
Edges random_graph(std::uint64_t seed, std::uint64_t vertices, std::size_t edges, std::uint64_t weights) {
  Random random(seed, 0, 0);
  Edges all;
  for (std::size_t i = 0; i < edges; ++i) {
    all.push_back(
        graphs::make_edge<graphs::Edge24>(random.below(vertices), random.below(vertices), random.below(weights)));
  }
  return all;
}

Forest make_forest(const Edges& graph, std::uint64_t vertices) {
  return {vertices, graphs::WeightKind::unsigned_integer, test::plain_kruskal(graph, vertices)};
}

Forest float_forest(std::uint64_t vertices, const std::vector<std::tuple<int, int, double>>& edges) {
  Forest forest{vertices, graphs::WeightKind::float64, {}};
  for (const auto& [a, b, w] : edges) {
    forest.edges.push_back(graphs::make_edge<graphs::Edge24>(static_cast<std::uint64_t>(a),
                                                             static_cast<std::uint64_t>(b), graphs::ordered_bits(w)));
  }
  return forest;
}

/// Single linkage by its definition: again and again the two clusters with the least edge between them become one.
std::vector<Merge> agglomerate(const Edges& graph, std::uint64_t vertices) {
  std::map<std::uint32_t, std::set<std::uint64_t>> clusters;
  for (std::uint32_t v = 0; v < vertices; ++v) clusters[v] = {v};
  const auto cluster_of = [&](std::uint64_t v) {
    return std::find_if(clusters.begin(), clusters.end(), [&](const auto& c) { return c.second.contains(v); })->first;
  };
  std::vector<Merge> merges;
  for (auto number = static_cast<std::uint32_t>(vertices);; ++number) {
    const graphs::Edge24* least = nullptr;
    for (const auto& e : graph) {
      if ((least == nullptr || e < *least) && cluster_of(e.low) != cluster_of(e.high)) least = &e;
    }
    if (least == nullptr) return merges;
    const auto [a, b] = std::minmax({cluster_of(least->low), cluster_of(least->high)});
    auto joined = clusters[a];
    joined.merge(clusters[b]);
    clusters.erase(a);
    clusters.erase(b);
    merges.push_back({a, b, static_cast<double>(least->weight), static_cast<std::uint32_t>(joined.size())});
    clusters[number] = std::move(joined);
  }
}

/// Components of the edges up to a weight, numbered by their lowest vertices.
std::vector<std::uint32_t> components(const Edges& graph, std::uint64_t vertices, double h) {
  std::vector<std::uint32_t> of(vertices);
  std::iota(of.begin(), of.end(), 0U);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& e : graph) {
      if (static_cast<double>(e.weight) > h || of[e.low] == of[e.high]) continue;
      of[e.low] = of[e.high] = std::min(of[e.low], of[e.high]);
      changed = true;
    }
  }
  std::map<std::uint32_t, std::uint32_t> number;
  for (auto& label : of) label = number.try_emplace(label, static_cast<std::uint32_t>(number.size())).first->second;
  return of;
}

std::uint32_t num_clusters(const std::vector<std::uint32_t>& labels) {
  return labels.empty() ? 0 : 1 + *std::max_element(labels.begin(), labels.end());
}

struct GraphCase {
  Edges graph;
  std::uint64_t vertices;
  Dendrogram d;
};

template <class Body>
void over_random_graphs(const Body& body) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::uint64_t vertices = 1 + seed % 19;
    const auto graph = random_graph(seed, vertices, seed % 7 * vertices / 2, seed % 2 == 0 ? 3 : 1000);
    SCOPED_TRACE("seed " + std::to_string(seed));
    body(GraphCase{graph, vertices, dendrogram(make_forest(graph, vertices))});
  }
}

TEST(DendrogramTest, merges_are_those_of_the_definition_ties_and_components_included) {
  over_random_graphs([](const GraphCase& c) { EXPECT_EQ(c.d.merges, agglomerate(c.graph, c.vertices)); });
}

TEST(DendrogramTest, known_rows_come_as_scipy_writes_them) {
  // scipy.cluster.hierarchy.linkage([[0], [1], [3], [7], [7.5]], "single")
  const auto d = dendrogram(float_forest(5, {{3, 4, 0.5}, {0, 1, 1}, {1, 2, 2}, {2, 3, 4}}));
  const std::vector<Merge> rows{{3, 4, 0.5, 2}, {0, 1, 1, 2}, {2, 6, 2, 3}, {5, 7, 4, 5}};
  EXPECT_EQ(d.merges, rows);
}

TEST(DendrogramTest, components_are_joined_at_infinity_on_demand) {
  const auto forest = float_forest(6, {{4, 5, 0.0}, {0, 2, 1.5}});
  EXPECT_EQ(dendrogram(forest).components(), 4U);
  const auto d = dendrogram(forest, Apart::join);
  const std::vector<Merge> rows{
      {4, 5, 0, 2}, {0, 2, 1.5, 2}, {1, 7, kInfinite, 3}, {3, 8, kInfinite, 4}, {6, 9, kInfinite, 6}};
  EXPECT_EQ(d.merges, rows);
  EXPECT_EQ(cut_by_height(d, 1e300).clusters, 4U);
  EXPECT_EQ(cut_by_height(d, kInfinite).clusters, 1U);
}

TEST(DendrogramTest, nothing_and_one_vertex_have_no_merges) {
  for (const std::uint64_t n : {0U, 1U}) {
    for (const Apart apart : {Apart::stay, Apart::join}) {
      const auto d = dendrogram({n, graphs::WeightKind::float32, {}}, apart);
      EXPECT_TRUE(d.merges.empty());
      EXPECT_EQ(cut_by_height(d, 0).of, std::vector<std::uint32_t>(n));
      EXPECT_EQ(cut_by_count(d, n).clusters, n);
    }
  }
}

TEST(DendrogramTest, a_chain_of_many_vertices_is_no_deep_recursion) {
  constexpr std::uint64_t kVertices = 100'000;
  Forest chain{kVertices, graphs::WeightKind::unsigned_integer, {}};
  for (std::uint64_t v = 1; v < kVertices; ++v) chain.edges.push_back({v - 1, v, v});
  const auto d = dendrogram(chain);
  ASSERT_EQ(d.merges.size(), kVertices - 1);
  EXPECT_EQ(d.merges.back(), (Merge{99'999, 199'997, 99'999, 100'000}));
  const auto cut = cut_by_height(d, 50'000);
  EXPECT_EQ(cut.clusters, 50'000U);
  EXPECT_EQ(cut.of[50'000], 0U);
  EXPECT_EQ(cut.of[50'001], 1U);
}

TEST(DendrogramTest, what_is_no_forest_in_order_is_refused) {
  const auto refuse = [](const Forest& forest, const char* word) {
    try {
      (void)dendrogram(forest);
      ADD_FAILURE() << word;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  refuse(float_forest(3, {{0, 1, 1}, {1, 2, 2}, {0, 2, 3}}), "cycle");
  refuse(float_forest(3, {{1, 1, 1}}), "cycle");
  refuse(float_forest(3, {{0, 1, 2}, {1, 2, 1}}), "order");
  refuse(float_forest(3, {{0, 3, 2}}), "below 3");
  refuse({kMaxLinkageVertices + 1, graphs::WeightKind::float64, {}}, "at most");
}

TEST(CutTest, a_height_gives_the_components_of_the_graph_up_to_it) {
  over_random_graphs([](const GraphCase& c) {
    for (const double h : {-1.0, 0.0, 0.5, 1.0, 2.0, 300.0, 999.0, kInfinite, -kInfinite}) {
      const auto labels = cut_by_height(c.d, h);
      EXPECT_EQ(labels.of, components(c.graph, c.vertices, h)) << h;
      EXPECT_EQ(labels.clusters, num_clusters(labels.of));
    }
  });
}

TEST(CutTest, a_count_gives_the_most_clusters_that_some_height_gives) {
  over_random_graphs([](const GraphCase& c) {
    for (std::uint64_t k = c.d.components(); k <= c.vertices + 1; ++k) {
      auto expected = components(c.graph, c.vertices, -1);
      for (const Merge& m : c.d.merges) {
        if (num_clusters(expected) > k) expected = components(c.graph, c.vertices, m.height);
      }
      EXPECT_EQ(cut_by_count(c.d, k).of, expected) << k;
    }
  });
}

TEST(CutTest, with_ties_apart_a_count_is_met_exactly_and_cuts_are_nested) {
  over_random_graphs([](const GraphCase& c) {
    std::vector<std::uint32_t> finer;
    for (std::uint64_t k = c.vertices; k >= c.d.components() && k > 0; --k) {
      const auto labels = cut_by_count(c.d, k, Ties::apart);
      EXPECT_EQ(labels.clusters, k);
      EXPECT_EQ(num_clusters(labels.of), k);
      std::map<std::uint32_t, std::uint32_t> image;
      for (std::size_t v = 0; v < finer.size(); ++v) {
        EXPECT_EQ(image.try_emplace(finer[v], labels.of[v]).first->second, labels.of[v]);
      }
      finer = labels.of;
    }
  });
}

TEST(CutTest, counts_and_heights_that_cannot_be_are_refused) {
  const auto d = dendrogram(float_forest(5, {{0, 1, 1}, {2, 3, 1}}));
  EXPECT_THROW((void)cut_by_count(d, 2), UsageError);
  EXPECT_EQ(cut_by_count(d, 3).clusters, 3U);
  EXPECT_EQ(cut_by_count(d, 4).clusters, 3U);  // both merges or none
  EXPECT_EQ(cut_by_count(d, 4, Ties::apart).clusters, 4U);
  EXPECT_EQ(cut_by_count(d, 9).clusters, 5U);
  EXPECT_THROW((void)cut_by_count(d, 9, Ties::apart), UsageError);
  EXPECT_THROW((void)cut_by_count(dendrogram({}), 1, Ties::apart), UsageError);
  EXPECT_THROW((void)cut_by_height(d, std::numeric_limits<double>::quiet_NaN()), UsageError);
}

}  // namespace
