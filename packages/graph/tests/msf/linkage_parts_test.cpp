/// Tests of the parts of single linkage: nested clusters, edges of equal weight, sets of clusters, argsort,
/// dendrograms in an order, cuts.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/linkage.hpp"
#include "src/msf/linkage/clusters.hpp"
#include "src/msf/linkage/equal_edges.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;

constexpr double kNever = std::numeric_limits<double>::infinity();

TEST(OpenPlacesTest, the_next_one_is_the_first_that_is_left) {
  for (const std::size_t size : {0U, 1U, 63U, 64U, 65U, 4095U, 4096U, 4097U, 9000U}) {
    OpenPlaces places(size);
    std::set<std::size_t> left;
    for (std::size_t i = 0; i < size; ++i) left.insert(i);
    const auto check = [&](std::size_t from) {
      const auto at = left.lower_bound(from);
      ASSERT_EQ(places.next(from), at == left.end() ? size : *at) << from << " of " << size;
    };
    // Ascending within each third, so that long ranges are gone, then what is left.
    for (const std::size_t part : {1U, 2U, 0U})
      for (std::size_t i = part * size / 3; i < (part + 1) * size / 3; ++i) {
        check(i * 7919 % (size + 1));
        check(i);
        places.remove(i);
        left.erase(i);
        check(i);
        check(0);
      }
    check(size);
  }
}

TEST(NestedClustersTest, parts_of_equal_height_make_one_cluster_and_lighter_ones_are_within_it) {
  const std::vector<GrownEdge> grown{{0, 3, 1}, {3, 1, 2}, {1, 2, 1}, {2, 4, 2}, {4, 5, 5}, {5, 6, kNever}};
  NestedClusters clusters(grown);
  const auto shown = [&](std::uint32_t c) {
    return std::vector<double>{clusters[c].height, 1.0 * clusters[c].begin, 1.0 * clusters[c].end};
  };
  const std::uint32_t pair = clusters.around(0);
  EXPECT_EQ(shown(pair), (std::vector<double>{1, 0, 2}));
  EXPECT_EQ(clusters.around(1), pair);
  EXPECT_EQ(shown(clusters.around(2)), (std::vector<double>{1, 2, 4}));
  const std::uint32_t five = clusters[pair].parent;
  EXPECT_EQ(shown(five), (std::vector<double>{2, 0, 5}));
  EXPECT_EQ(clusters[clusters.around(3)].parent, five);
  EXPECT_EQ(clusters.around(4), five);
  EXPECT_EQ(shown(clusters.around(5)), (std::vector<double>{5, 0, 6}));
  EXPECT_EQ(clusters[five].parent, clusters.around(5));
  EXPECT_EQ(shown(clusters.around(6)), (std::vector<double>{kNever, 0, 7}));
  EXPECT_EQ(clusters[clusters.around(6)].parent, NestedClusters::kNone);
  EXPECT_EQ(NestedClusters({}).around(0), NestedClusters::kNone);
}

TEST(EqualEdgesTest, offered_ones_are_of_some_minimum_spanning_tree_with_the_first_to_each_point_among_them) {
  std::uint64_t seed = 0;
  for (const auto* shape : {"lattice", "heaps", "uniform", "equal"})
    for (const int dimension : {2, 3, 9})
      for (const int min_samples : {1, 4})
        for (const std::size_t n : {1U, 2U, 8U, 9U, 70U}) {
          if (n < static_cast<std::size_t>(min_samples)) continue;
          auto swarm = test::make_swarm(shape, dimension, n, ++seed);
          swarm.space.metric = seed % 2 == 0 ? Distance::euclidean : Distance::manhattan;
          if (seed % 3 == 0) swarm.space.periods = {{0, 0, 1}};
          test::on_threads(1, [&](comm::Transport& t) {
            const auto points = test::distribute(swarm, t, seed);
            EuclideanOptions options;
            options.min_samples = min_samples;
            Report report;
            const auto gathered = gather_points(points, t, options, report);
            ASSERT_EQ(gathered.core_distances.size(), min_samples > 1 ? n : 0);
            const auto grown = grow(gather_forest(euclidean_forest(points, t, options, report), t));
            // In some tree: the components of all lighter edges do not join the ends already.
            std::map<std::pair<std::size_t, std::size_t>, double> weights;
            const auto cores = test::compute_cores(swarm, min_samples);
            for (std::size_t a = 0; a < n; ++a)
              for (std::size_t b = a + 1; b < n; ++b)
                weights[{a, b}] = swarm.weight(std::max({swarm.compared(a, b), cores[a], cores[b]}));
            std::map<double, std::vector<std::size_t>> sets;  // by weight: components of lighter edges
            for (const auto& [ends, weight] : weights) {
              if (sets.contains(weight)) continue;
              auto& least = sets[weight];
              for (std::size_t v = 0; v < n; ++v) least.push_back(v);
              for (bool again = true; again;) {
                again = false;
                for (const auto& [pair, w] : weights) {
                  if (w >= weight || least[pair.first] == least[pair.second]) continue;
                  least[pair.first] = least[pair.second] = std::min(least[pair.first], least[pair.second]);
                  again = true;
                }
              }
            }
            std::set<std::tuple<std::size_t, std::size_t, double>> expected;
            for (const auto& [ends, w] : weights)
              if (sets[w][ends.first] != sets[w][ends.second]) expected.emplace(ends.first, ends.second, w);
            EqualEdges equal(
                gathered, [&] { return grown; }, ~std::uint64_t{0});
            const auto is_expected = [&](std::size_t x, std::size_t y, double weight) {
              return expected.contains({std::min(x, y), std::max(x, y), weight});
            };
            std::set<std::tuple<std::size_t, std::size_t, double>> found;
            std::vector<std::uint32_t> visited;
            const auto visit = [&](std::uint32_t v) {
              // Of the lightest edges that lead to v the one from the point that was visited first has been offered.
              const auto weight = [&](std::uint32_t u) { return weights.at({std::min(u, v), std::max(u, v)}); };
              const auto first =
                  std::min_element(visited.begin(), visited.end(),
                                   [&](std::uint32_t x, std::uint32_t y) { return weight(x) < weight(y); });
              if (first != visited.end()) {
                ASSERT_TRUE(is_expected(*first, v, weight(*first)));
                ASSERT_TRUE(found.contains({*first, v, weight(*first)})) << swarm.name << ' ' << min_samples;
              }
              visited.push_back(v);
              equal.visit(v, [&](std::uint32_t from, std::uint32_t to, double w) {
                ASSERT_TRUE(is_expected(from, to, w)) << swarm.name << ' ' << min_samples;
                ASSERT_EQ(std::count(visited.begin(), visited.end(), from), 1);
                ASSERT_EQ(std::count(visited.begin(), visited.end(), to), 0);
                found.emplace(from, to, w);
              });
            };
            visit(0);
            for (const auto& edge : grown) visit(edge.to);
            ASSERT_FALSE(equal.gave_up());
          });
        }
}

TEST(EqualEdgesTest, a_settled_point_is_offered_once_and_none_after_the_last_step) {
  const auto swarm = test::make_swarm("equal", 2, 40, 1);
  test::on_threads(1, [&](comm::Transport& t) {
    Report report;
    const auto points = test::distribute(swarm, t, 1);
    const auto gathered = gather_points(points, t, {}, report);
    const auto grown = grow(gather_forest(euclidean_forest(points, t, {}, report), t));
    EqualEdges equal(
        gathered, [&] { return grown; }, ~std::uint64_t{0});
    std::set<std::uint32_t> told;
    for (std::uint32_t v = 0; v < 40; ++v)
      equal.visit(v, [&](std::uint32_t from, std::uint32_t to, double weight) {
        EXPECT_EQ(from, 0U);
        EXPECT_EQ(weight, 0);
        EXPECT_TRUE(told.insert(to).second);
      });
    EXPECT_EQ(told.size(), 39U);
    EqualEdges none(
        gathered, [&] { return grown; }, 0);
    int count = 0;
    for (std::uint32_t v = 0; v < 40; ++v) none.visit(v, [&](std::uint32_t, std::uint32_t, double) { ++count; });
    EXPECT_TRUE(none.gave_up());
    EXPECT_EQ(count, 0) << "the root alone takes two steps";
  });
}

TEST(ClustersTest, a_merge_counts_its_points_and_takes_the_clusters_as_given_or_the_lower_first) {
  Dendrogram d{6, {}};
  Clusters clusters(6);
  const auto root = [&](std::uint32_t v) { return clusters.find(v); };
  clusters.join(root(4), root(1), 0.5, d);
  clusters.join_lower_first(root(5), root(0), 1, d);
  clusters.join(root(1), root(2), 2, d);
  clusters.join_lower_first(root(5), root(3), 3, d);
  clusters.join(root(0), root(4), 4, d);
  const std::vector<Merge> expected{{4, 1, 0.5, 2}, {0, 5, 1, 2}, {6, 2, 2, 3}, {3, 7, 3, 3}, {9, 8, 4, 6}};
  EXPECT_EQ(d.merges, expected);
  for (std::uint32_t v = 0; v < 6; ++v) EXPECT_EQ(root(v), root(0));
}

TEST(ClustersTest, sizes_up_to_the_greatest_are_taken_and_larger_ones_named) {
  EXPECT_EQ(test::refusal<InputError>([] { check_linkage_size("who", std::uint64_t{1} << 31); }), "nothing was thrown");
  EXPECT_EQ(test::refusal<InputError>([] { check_linkage_size("who", (std::uint64_t{1} << 31) + 1, "weights"); }),
            "who: 2147483649 weights; allowed: at most 2147483648");
}

TEST(ArgsortTest, is_a_permutation_in_ascending_order_of_any_length_and_short_equal_ones_stay) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 15U, 16U, 17U, 18U, 33U, 100U, 1000U})
    for (const std::uint64_t kinds : {1U, 2U, 5U, 1000U})
      for (const int order : {0, 1, 2}) {
        Random random(n, kinds, 0);
        std::vector<double> weights;
        for (std::size_t i = 0; i < n; ++i) weights.push_back(static_cast<double>(random.below(kinds)) - 2);
        if (order == 1) std::sort(weights.begin(), weights.end());
        if (order == 2) std::sort(weights.begin(), weights.end(), std::greater<>());
        if (n > 1) weights[n / 2] = kNever;
        const auto sorted = sorted_like_numpy(weights);
        ASSERT_EQ(std::set<std::uint32_t>(sorted.begin(), sorted.end()).size(), n);
        ASSERT_EQ(sorted.size(), n);
        for (std::size_t i = 1; i < n; ++i) {
          ASSERT_LE(weights[sorted[i - 1]], weights[sorted[i]]) << n << ' ' << kinds << ' ' << i;
          ASSERT_TRUE(n > 16 || weights[sorted[i - 1]] < weights[sorted[i]] || sorted[i - 1] < sorted[i])
              << "insertion";
        }
      }
  EXPECT_EQ(test::refusal<InputError>([] {
              (void)sorted_like_numpy(std::vector<double>{1, NAN});
            }),
            "sort: a weight is not a number; allowed: numbers, infinity too");
}

/// Values for which each pivot splits off few numbers, so that the sort goes deep: the killer of medians of three.
TEST(ArgsortTest, orders_that_defeat_the_median_of_three_are_sorted_too) {
  for (const std::size_t n : {64U, 500U, 4096U}) {
    std::vector<double> weights(n);
    const std::size_t half = n / 2;
    for (std::size_t i = 1; i <= half; ++i) {
      weights[i - 1] = static_cast<double>(i % 2 == 1 ? i : half + i - 1);
      weights[half + i - 1] = static_cast<double>(2 * i);
    }
    const auto sorted = sorted_like_numpy(weights);
    ASSERT_EQ(std::set<std::uint32_t>(sorted.begin(), sorted.end()).size(), n);
    for (std::size_t i = 1; i < n; ++i) ASSERT_LE(weights[sorted[i - 1]], weights[sorted[i]]);
  }
}

TEST(OrderedDendrogramTest, merges_follow_the_order_with_the_cluster_of_from_first) {
  const std::vector<GrownEdge> edges{{0, 3, 2}, {3, 1, 1}, {3, 2, 2}};
  const auto d = dendrogram_in_order(edges, std::vector<std::uint32_t>{1, 2, 0});
  EXPECT_EQ(d.vertices, 4U);
  EXPECT_EQ(d.merges, (std::vector<Merge>{{3, 1, 1, 2}, {4, 2, 2, 3}, {0, 5, 2, 4}}));
  EXPECT_EQ(dendrogram_in_order(edges, std::vector<std::uint32_t>{1, 0, 2}).merges,
            (std::vector<Merge>{{3, 1, 1, 2}, {0, 4, 2, 3}, {5, 2, 2, 4}}));
  EXPECT_EQ(grown_dendrogram(edges).merges, (std::vector<Merge>{{3, 1, 1, 2}, {0, 4, 2, 3}, {5, 2, 2, 4}}));
  EXPECT_EQ(grown_dendrogram({}).vertices, 1U);
  const auto refused = [](const std::vector<GrownEdge>& tree, const std::vector<std::uint32_t>& order) {
    return test::refusal<InputError>([&] { (void)dendrogram_in_order(tree, order); });
  };
  EXPECT_EQ(refused(edges, {1, 2}), "dendrogram: an order of 2 edges; allowed: 3");
  EXPECT_EQ(refused(edges, {1, 2, 3}), "dendrogram: place 3 in an order; allowed: below 3");
  EXPECT_EQ(refused(edges, {0, 1, 2}), "dendrogram: weight 1 after 2; allowed: an order of ascending weights");
  EXPECT_EQ(refused({{0, 1, 1}, {1, 2, NAN}}, {0, 1}),
            "dendrogram: weight nan after 1; allowed: an order of ascending weights");
  EXPECT_EQ(refused({{0, 1, 1}, {1, 0, 2}}, {0, 1}),
            "dendrogram: edge 1 - 0 closes a cycle or has no such vertices; allowed: edges of a tree");
  EXPECT_EQ(refused({{0, 1, 1}, {1, 3, 2}}, {0, 1}),
            "dendrogram: edge 1 - 3 closes a cycle or has no such vertices; allowed: edges of a tree");
}

TEST(CutCornersTest, heights_and_counts_at_the_very_merges_are_included) {
  const auto w = [](double x) { return graphs::ordered_bits(x); };
  const Forest forest{
      7, graphs::WeightKind::float64, {{1, 2, w(-1)}, {4, 5, w(0)}, {0, 4, w(1)}, {2, 6, w(1)}, {3, 6, w(1)}}};
  const auto d = dendrogram(forest);
  EXPECT_EQ(d.components(), 2U);
  using Of = std::vector<std::uint32_t>;
  EXPECT_EQ(cut_by_height(d, std::nextafter(-1.0, -2.0)).of, (Of{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(cut_by_height(d, -1).of, (Of{0, 1, 1, 2, 3, 4, 5}));
  EXPECT_EQ(cut_by_height(d, std::nextafter(0.0, -1.0)).clusters, 6U);
  EXPECT_EQ(cut_by_height(d, 0).of, (Of{0, 1, 1, 2, 3, 3, 4}));
  EXPECT_EQ(cut_by_height(d, std::nextafter(1.0, 0.0)).clusters, 5U);
  EXPECT_EQ(cut_by_height(d, 1).of, (Of{0, 1, 1, 1, 0, 0, 1}));
  EXPECT_EQ(cut_by_count(d, 5).clusters, 5U);
  EXPECT_EQ(cut_by_count(d, 4).clusters, 2U) << "all three merges at 1 or none";
  EXPECT_EQ(cut_by_count(d, 3).clusters, 2U);
  EXPECT_EQ(cut_by_count(d, 3, Ties::apart).of, (Of{0, 1, 1, 2, 0, 0, 1})) << "the lower edges first";
  EXPECT_EQ(cut_by_count(d, 4, Ties::apart).of, (Of{0, 1, 1, 2, 0, 0, 3}));
  EXPECT_EQ(cut_by_count(d, ~std::uint64_t{0}).clusters, 7U);
  EXPECT_EQ(cut_by_count(d, 7, Ties::apart).clusters, 7U);
  const auto refused = [&](std::uint64_t k, Ties ties) {
    return test::refusal<UsageError>([&] { (void)cut_by_count(d, k, ties); });
  };
  EXPECT_EQ(refused(1, Ties::together), "cut_by_count: 1 clusters of 7 vertices in 2 components; allowed: 2 to 7");
  EXPECT_EQ(refused(8, Ties::apart), "cut_by_count: 8 clusters of 7 vertices in 2 components; allowed: 2 to 7");
  EXPECT_EQ(test::refusal<UsageError>([] { (void)cut_by_count(dendrogram({}), 1, Ties::apart); }),
            "cut_by_count: 1 clusters of 0 vertices in 0 components; allowed: 0 to 0");
  EXPECT_EQ(cut_by_count(dendrogram({}), 0).clusters, 0U);
  EXPECT_EQ(test::refusal<UsageError>([&] { (void)cut_by_height(d, NAN); }),
            "cut_by_height: height is not a number; allowed: any number, infinity too");
}

TEST(CutCornersTest, forests_that_are_none_are_refused_by_the_edge) {
  const auto refused = [](std::uint64_t vertices, const test::Edges& edges) {
    return test::refusal<InputError>([&] {
      (void)dendrogram({vertices, graphs::WeightKind::unsigned_integer, edges});
    });
  };
  EXPECT_EQ(refused(3, {{0, 1, 1}, {1, 2, 2}, {0, 2, 3}}),
            "dendrogram: edge 0 - 2 closes a cycle; allowed: edges of a forest");
  EXPECT_EQ(refused(3, {{0, 3, 1}}), "dendrogram: edge 0 - 3; allowed: vertices from 0 to below 3");
  EXPECT_EQ(refused(3, {{3, 0, 1}}), "dendrogram: edge 3 - 0; allowed: vertices from 0 to below 3");
  EXPECT_EQ(refused(3, {{1, 2, 1}, {0, 1, 1}}),
            "dendrogram: edge 0 - 1 comes before a greater one; allowed: edges in ascending order");
  EXPECT_EQ(refused(3, {{0, 1, 1}, {1, 2, 1}}), "nothing was thrown");
  EXPECT_EQ(test::refusal<InputError>([] {
              (void)dendrogram({(std::uint64_t{1} << 31) + 1, {}, {}});
            }),
            "dendrogram: 2147483649 vertices; allowed: at most 2147483648");
}

}  // namespace
