/// Tests of the choice of clusters from a condensed tree: stabilities, sizes, distances, single clusters, numbers
/// and probabilities, on trees made by hand and against plain definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;

using Numbers = std::vector<std::uint32_t>;
using Signs = std::vector<std::int32_t>;
constexpr double kForever = std::numeric_limits<double>::infinity();

/// Two clusters of all points, 1 and 2 at lambda 1; 1 splits into 3 and 4 at lambda 2. Points leave at these lambdas:
/// 0 1 leave 3 at 4, 2 3 leave 4 at 3 and 6, 4 5 leave 2 at 2 and 8, 6 leaves 0 at 0.5, 7 leaves 1 at 1.5.
CondensedTree small_tree() {
  return {
      {{0, 8, 0}, {0, 5, 1}, {0, 2, 1}, {1, 2, 2}, {1, 2, 2}}, {3, 3, 4, 4, 2, 2, 0, 1}, {4, 4, 3, 6, 2, 8, 0.5, 1.5}};
}

TEST(StabilitiesTest, are_the_sums_over_points_and_child_clusters_of_lambda_less_that_of_the_birth) {
  const auto sums = stabilities(small_tree());
  ASSERT_EQ(sums.size(), 5U);
  EXPECT_EQ(sums[0], 0.5 + 5 + 2);
  EXPECT_EQ(sums[1], 0.5 + 2 + 2);
  EXPECT_EQ(sums[2], 1.0 + 7.0);
  EXPECT_EQ(sums[3], 4);
  EXPECT_EQ(sums[4], 1.0 + 4.0);
  EXPECT_TRUE(stabilities({}).empty());
}

TEST(StabilitiesTest, points_that_leave_at_birth_add_nothing_even_at_infinity) {
  const CondensedTree tree{
      {{0, 6, 0}, {0, 3, kForever}, {0, 3, 2}}, {1, 1, 1, 2, 2, 2}, {kForever, kForever, kForever, 2, 2, kForever}};
  const auto sums = stabilities(tree);
  EXPECT_EQ(sums[0], kForever);
  EXPECT_EQ(sums[1], 0) << "born at infinity";
  EXPECT_EQ(sums[2], kForever);
}

TEST(SelectionTest, clusters_born_above_the_greatest_distance_are_not_chosen) {
  const auto chosen = [](double most, bool single) {
    return hdbscan(small_tree(), {.min_cluster_size = 2, .allow_single_cluster = single, .epsilon_max = most}).selected;
  };
  EXPECT_EQ(chosen(1, false), (Numbers{3, 4, 2})) << "2 is born at the distance 1";
  EXPECT_EQ(chosen(0.99, false), (Numbers{3, 4})) << "3 and 4 at 0.5";
  EXPECT_EQ(chosen(0.4, false), Numbers{});
  auto whole = small_tree();
  whole.lambda = {2, 2, 2, 2, 2, 2, 0.5, 1.95};  // the cluster of all points begins at the distance 2
  for (std::size_t c = 1; c < whole.clusters.size(); ++c) whole.clusters[c].birth = c < 3 ? 1.9 : 2;
  const auto root = [&](double most) {
    return hdbscan(whole, {.min_cluster_size = 2, .allow_single_cluster = true, .epsilon_max = most}).selected;
  };
  EXPECT_EQ(root(2), Numbers{0});
  EXPECT_EQ(root(1.99), (Numbers{1, 2}));
  EXPECT_THROW((void)hdbscan(whole, {.epsilon_max = -1}), UsageError);
  EXPECT_THROW((void)hdbscan(whole, {.epsilon_max = std::nan("")}), UsageError);
}

TEST(SelectionTest, the_parts_are_chosen_where_they_are_more_stable_and_the_whole_where_they_are_not) {
  const auto found = hdbscan(small_tree(), {.min_cluster_size = 2});
  EXPECT_EQ(found.selected, (Numbers{3, 4, 2})) << "9 is more than 4.5";
  EXPECT_EQ(found.labels, (Signs{0, 0, 1, 1, 2, 2, -1, -1}));
  EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 0.5, 1, 0.25, 1, 0, 0}));
  // As stable as its parts: the whole. 1: 0.5 + 2 + 2 = 4.5; 3: 2 * 1.5; 4: 1.5.
  auto equal = small_tree();
  equal.lambda = {3.5, 3.5, 2, 3.5, 2, 8, 0.5, 1.5};
  EXPECT_EQ(hdbscan(equal, {.min_cluster_size = 2}).selected, (Numbers{1, 2}));
  equal.lambda[3] = 3.5 + 0x1p-40;
  EXPECT_EQ(hdbscan(equal, {.min_cluster_size = 2}).selected, (Numbers{3, 4, 2}));
}

TEST(SelectionTest, the_probabilities_of_a_cluster_with_parts_go_up_to_the_lambda_at_which_they_leave_it) {
  auto tree = small_tree();
  tree.lambda = {2, 2, 2, 2, 2, 8, 0.5, 1.5};  // no part outlasts the split
  const auto found = hdbscan(tree, {.min_cluster_size = 2});
  EXPECT_EQ(found.selected, (Numbers{1, 2}));
  EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 1, 1, 0.25, 1, 0, 0.75}));
  tree.lambda = {2.5, 2, 2, 2, 2, 8, 0.5, 1.5};  // beyond the last lambda of cluster 1 is not above 1
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2}).probabilities[0], 1);
}

TEST(SelectionTest, leaves_are_the_clusters_without_parts_and_never_all_points) {
  EXPECT_EQ(hdbscan(small_tree(), {.min_cluster_size = 2, .selection = Selection::leaf}).selected, (Numbers{3, 4, 2}));
  auto equal = small_tree();
  equal.lambda = {2, 2, 2, 2, 2, 8, 0.5, 1.5};
  EXPECT_EQ(hdbscan(equal, {.min_cluster_size = 2, .selection = Selection::leaf}).selected, (Numbers{3, 4, 2}));
  const CondensedTree one{{{0, 3, 0}}, {0, 0, 0}, {1, 2, 2}};
  EXPECT_EQ(hdbscan(one, {.selection = Selection::leaf}).clusters, 0U);
  EXPECT_EQ(hdbscan(one, {.selection = Selection::leaf, .allow_single_cluster = true}).clusters, 0U);
}

TEST(SelectionTest, clusters_above_the_size_are_not_chosen_but_those_of_the_size_are) {
  auto tree = small_tree();
  tree.lambda = {2, 2, 2, 2, 2, 8, 0.5, 1.5};
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2, .max_cluster_size = 5}).selected, (Numbers{1, 2}));
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2, .max_cluster_size = 4}).selected, (Numbers{3, 4, 2}));
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2, .max_cluster_size = 1}).clusters, 0U);
}

TEST(SelectionTest, all_points_are_one_cluster_on_demand_where_that_is_most_stable_and_early_leavers_are_noise) {
  const CondensedTree tree{{{0, 6, 0}, {0, 2, 4}, {0, 2, 4}}, {1, 1, 2, 2, 0, 0}, {4, 5, 4, 5, 2, 4}};
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2}).selected, (Numbers{1, 2}));
  const auto all = hdbscan(tree, {.min_cluster_size = 2, .allow_single_cluster = true});
  EXPECT_EQ(all.selected, (Numbers{0})) << "22 is more than 2";
  EXPECT_EQ(all.labels, (Signs{0, 0, 0, 0, -1, 0})) << "up to lambda 4, at which the last leave";
  EXPECT_EQ(all.probabilities, (std::vector<double>{1, 1, 1, 1, 0, 1}));
  // With a distance the limit of noise is that distance, 1 / lambda.
  const auto wide = hdbscan(tree, {.min_cluster_size = 2, .epsilon = 0.5, .allow_single_cluster = true});
  EXPECT_EQ(wide.labels, (Signs{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(wide.probabilities, (std::vector<double>{1, 1, 1, 1, 0.5, 1}));
  EXPECT_EQ(hdbscan(tree, {.min_cluster_size = 2, .allow_single_cluster = true, .max_cluster_size = 5}).selected,
            (Numbers{1, 2}));
}

/// A chain of splits: 1 and 2 at distance 8 (lambda 0.125), 3 and 4 of 1 at 4, 5 and 6 of 3 at 2; all points leave late.
CondensedTree chain_tree() {
  return {{{0, 10, 0}, {0, 8, 0.125}, {0, 2, 0.125}, {1, 6, 0.25}, {1, 2, 0.25}, {3, 2, 0.5}, {3, 2, 0.5}},
          {5, 5, 6, 6, 4, 4, 2, 2, 3, 3},
          {16, 16, 16, 16, 16, 16, 16, 16, 0.4, 0.4}};
}

TEST(EpsilonTest, clusters_born_below_the_distance_rise_to_what_they_split_from_above_it) {
  const auto chosen = [](double epsilon, bool single = false) {
    return hdbscan(chain_tree(), {.min_cluster_size = 2, .epsilon = epsilon, .allow_single_cluster = single}).selected;
  };
  EXPECT_EQ(chosen(0), (Numbers{5, 6, 4, 2}));
  EXPECT_EQ(chosen(1), (Numbers{5, 6, 4, 2}));
  EXPECT_EQ(chosen(2), (Numbers{5, 6, 4, 2})) << "born at 2 is not below it";
  EXPECT_EQ(chosen(2.5), (Numbers{3, 4, 2})) << "3 was born at 4";
  EXPECT_EQ(chosen(4), (Numbers{1, 2})) << "an ancestor born at the distance is not above it";
  EXPECT_EQ(chosen(5), (Numbers{1, 2}));
  EXPECT_EQ(chosen(8), (Numbers{1, 2})) << "there is nothing above but all points";
  EXPECT_EQ(chosen(100), (Numbers{1, 2}));
  EXPECT_EQ(chosen(5, true), (Numbers{1, 2}));
  EXPECT_EQ(chosen(8, true), (Numbers{0})) << "all points on demand, where the last ancestor is not above the distance";
}

TEST(EpsilonTest, a_risen_cluster_swallows_the_chosen_ones_in_it) {
  // 4 stays by itself (born above), 5 and 6 rise past 3 to 1, which contains 4.
  auto tree = chain_tree();
  tree.clusters[3].birth = 0.5;
  tree.clusters[5].birth = tree.clusters[6].birth = 1;
  const auto found = hdbscan(tree, {.min_cluster_size = 2, .epsilon = 3});
  EXPECT_EQ(found.selected, (Numbers{1, 2}));
  EXPECT_EQ(found.labels, (Signs{0, 0, 0, 0, 0, 0, 1, 1, 0, 0}));
}

/// A random dendrogram of few heights, condensed.
CondensedTree random_condensed(std::uint64_t seed, HdbscanTies ties) {
  Random random(seed, 3, 0);
  const std::size_t points = 4 + seed % 40;
  std::vector<GrownEdge> edges;
  std::vector<double> weights;
  for (std::uint32_t p = 1; p < points; ++p)
    weights.push_back(seed % 3 == 0 ? 1 + static_cast<double>(random.below(4)) : 0.5 + random.uniform());
  for (std::uint32_t p = 1; p < points; ++p)
    edges.push_back({static_cast<std::uint32_t>(random.below(p)), p, weights[p - 1]});
  return condense(grown_dendrogram(edges), 2 + static_cast<std::int64_t>(seed % 3), ties);
}

bool is_in(const CondensedTree& tree, std::uint32_t cluster, std::uint32_t in) {
  while (cluster > in) cluster = tree.clusters[cluster].parent;
  return cluster == in;
}

/// What rises to what by a distance, from the definition: the lowest ancestor born above it, short of all points the one below.
std::set<std::uint32_t> rise(const CondensedTree& tree, const std::set<std::uint32_t>& chosen, double epsilon,
                             bool single) {
  std::set<std::uint32_t> risen;
  for (std::uint32_t c : chosen) {
    if (1 / tree.clusters[c].birth < epsilon)
      while (true) {
        const std::uint32_t parent = tree.clusters[c].parent;
        if (parent == 0) {
          if (single) c = 0;
          break;
        }
        c = parent;
        if (1 / tree.clusters[c].birth > epsilon) break;
      }
    risen.insert(c);
  }
  std::set<std::uint32_t> out;
  for (const auto c : risen) {
    const bool covered = std::any_of(risen.begin(), risen.end(), [&](auto d) { return d != c && is_in(tree, c, d); });
    if (!covered) out.insert(c);
  }
  return out;
}

TEST(EpsilonTest, on_random_trees_the_clusters_are_those_of_the_definition) {
  std::size_t changed = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed)
    for (const auto selection : {Selection::excess_of_mass, Selection::leaf})
      for (const bool single : {false, true})
        for (const double epsilon : {0.6, 1.0, 2.0, 3.5}) {
          const auto tree = random_condensed(seed, HdbscanTies::together);
          const HdbscanOptions plain{2, selection, 0, single, 0};
          HdbscanOptions options = plain;
          options.epsilon = epsilon;
          const auto before = hdbscan(tree, plain).selected;
          const std::set<std::uint32_t> chosen(before.begin(), before.end());
          if (chosen.empty()) continue;
          const auto expected = chosen.contains(0) ? chosen : rise(tree, chosen, epsilon, single);
          const auto found = hdbscan(tree, options);
          const std::set<std::uint32_t> got(found.selected.begin(), found.selected.end());
          // Clusters without points of their own label may go unnamed where all their points left early.
          for (const auto c : got) ASSERT_TRUE(expected.contains(c)) << seed << ' ' << epsilon;
          for (const auto c : expected) ASSERT_TRUE(c == 0 || got.contains(c)) << seed << ' ' << epsilon;
          changed += expected != chosen ? 1 : 0;
        }
  EXPECT_GT(changed, 100U);
}

TEST(SelectionTest, on_random_trees_no_other_choice_of_clusters_up_to_the_size_is_more_stable) {
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    for (const std::int64_t most : {0, 3, 6})
      for (const bool single : {false, true}) {
        const auto tree = random_condensed(seed, HdbscanTies::together);
        const auto mass = stabilities(tree);
        const std::function<double(std::uint32_t)> best = [&](std::uint32_t cluster) {
          double below = 0;
          for (std::uint32_t c = cluster + 1; c < mass.size(); ++c)
            if (tree.clusters[c].parent == cluster) below += best(c);
          const bool allowed = (cluster > 0 || single) && (most == 0 || tree.clusters[cluster].size <= most);
          return allowed ? std::max(below, mass[cluster]) : below;
        };
        const auto found = hdbscan(tree, {2, Selection::excess_of_mass, 0, single, most, HdbscanTies::sequential});
        double sum = 0;
        for (const auto c : found.selected) {
          sum += mass[c];
          ASSERT_TRUE(most == 0 || tree.clusters[c].size <= most);
          ASSERT_TRUE(c > 0 || single);
        }
        ASSERT_NEAR(sum, best(0), 1e-9 * (1 + sum)) << seed << ' ' << most << ' ' << single;
      }
}

TEST(SequentialTest, labels_are_numbered_like_the_clusters_of_the_tree_and_the_partition_is_the_same) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto tree = random_condensed(seed, HdbscanTies::sequential);
    for (std::uint32_t c = 1; c < tree.clusters.size(); ++c) {
      ASSERT_LT(tree.clusters[c].parent, c);
      ASSERT_GE(tree.clusters[c].birth, tree.clusters[tree.clusters[c].parent].birth);
    }
    HdbscanOptions options{2, Selection::excess_of_mass, 0, false, 0};
    const auto by_point = hdbscan(tree, options);
    options.ties = HdbscanTies::sequential;
    const auto by_cluster = hdbscan(tree, options);
    ASSERT_TRUE(std::is_sorted(by_cluster.selected.begin(), by_cluster.selected.end()));
    ASSERT_EQ(by_cluster.selected.size(), by_cluster.clusters);
    ASSERT_EQ(by_cluster.probabilities, by_point.probabilities);
    for (std::size_t p = 0; p < by_point.labels.size(); ++p) {
      const auto a = by_point.labels[p];
      const auto b = by_cluster.labels[p];
      ASSERT_EQ(a < 0, b < 0);
      if (a < 0) continue;
      ASSERT_EQ(by_point.selected[static_cast<std::size_t>(a)], by_cluster.selected[static_cast<std::size_t>(b)]);
    }
  }
}

TEST(SequentialTest, of_three_parts_at_one_height_two_split_first_and_the_third_falls_or_stays) {
  // Three pairs at distance 1, all joined at 2: together they are three clusters, one by one a pair and a pair of pairs.
  const std::vector<GrownEdge> edges{{0, 1, 1}, {1, 2, 2}, {2, 3, 1}, {3, 4, 2}, {4, 5, 1}};
  const auto d = dendrogram_in_order(edges, std::vector<std::uint32_t>{0, 2, 4, 1, 3});
  const auto together = condense(d, 2);
  ASSERT_EQ(together.clusters.size(), 4U);
  for (std::size_t c = 1; c < 4; ++c) EXPECT_EQ(together.clusters[c], (CondensedTree::Cluster{0, 2, 0.5}));
  const auto apart = condense(d, 2, HdbscanTies::sequential);
  const std::vector<CondensedTree::Cluster> expected{{0, 6, 0}, {0, 4, 0.5}, {0, 2, 0.5}, {1, 2, 0.5}, {1, 2, 0.5}};
  EXPECT_EQ(apart.clusters, expected);
  EXPECT_EQ(apart.cluster_of, (Numbers{3, 3, 4, 4, 2, 2}));
  EXPECT_EQ(apart.lambda, std::vector<double>(6, 1));
  // With clusters of three points only the four are large, and go on as the cluster of all.
  const auto three = condense(d, 3, HdbscanTies::sequential);
  EXPECT_EQ(three.clusters.size(), 1U);
  EXPECT_EQ(three.lambda, (std::vector<double>(6, 0.5)));
  EXPECT_EQ(condense(d, 6).clusters.size(), 1U);
  EXPECT_EQ(condense(d, 6).lambda, (std::vector<double>(6, 0.5)));
  EXPECT_EQ(condense(d, 7).lambda, (std::vector<double>(6, 0.5)));
}

TEST(CondenseRefusalTest, a_forest_of_several_trees_and_sizes_out_of_range_are_named) {
  const Dendrogram apart{5, {{0, 1, 1, 2}, {2, 3, 1, 2}}};
  EXPECT_EQ(test::refusal<UsageError>([&] { (void)condense(apart, 2); }),
            "condense: a dendrogram of 3 components; allowed: one, as Apart::join makes it");
  EXPECT_EQ(test::refusal<UsageError>([&] { (void)condense({}, 1); }),
            "min_cluster_size: 1; allowed: from 2 to 2147483648");
  EXPECT_EQ(test::refusal<UsageError>([&] { (void)condense({}, (std::int64_t{1} << 31) + 1); }),
            "min_cluster_size: 2147483649; allowed: from 2 to 2147483648");
  EXPECT_TRUE(condense({}, std::int64_t{1} << 31).clusters.empty());
  EXPECT_EQ(test::refusal<UsageError>([] { check({.epsilon = kForever}); }),
            "epsilon: inf; allowed: finite numbers from 0");
  EXPECT_EQ(test::refusal<UsageError>([] { check({}); }), "nothing was thrown");
}

}  // namespace
