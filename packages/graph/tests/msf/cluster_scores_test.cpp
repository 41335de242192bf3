/// Tests of scores of condensed trees: outlier scores, persistence, exemplars, relative validity, simplification, weights.
#include "merganser/msf/cluster_scores.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;

/// Root with two children, of which the second splits again: numbers that can be checked by hand.
CondensedTree small_tree() {
  CondensedTree tree;
  tree.clusters = {{0, 9, 0}, {0, 3, 1}, {0, 5, 1}, {2, 2, 4}, {2, 2, 4}};
  tree.cluster_of = {0, 1, 1, 1, 2, 3, 3, 4, 4};
  tree.lambda = {0.5, 2, 3, 3, 2, 8, 8, 5, 6};
  return tree;
}

/// A tree of random splits: children have higher numbers, points leave at or above the birth of their cluster.
CondensedTree random_tree(std::uint64_t seed, std::size_t clusters) {
  std::uint64_t state = seed;
  const auto next = [&](std::uint64_t below) { return mix64(++state * 0x9e3779b97f4a7c15) % below; };
  CondensedTree tree;
  tree.clusters.push_back({0, 0, 0});
  std::vector<std::uint8_t> splits(2 * clusters + 1);
  while (tree.clusters.size() < clusters) {
    const auto parent = static_cast<std::uint32_t>(next(tree.clusters.size()));
    if (splits[parent] != 0) continue;
    splits[parent] = 1;
    const double birth = tree.clusters[parent].birth + 1 + static_cast<double>(next(8)) / 8;
    for (const std::uint64_t child : {0, 1}) {
      (void)child;
      tree.clusters.push_back({parent, 0, birth});
    }
  }
  for (std::uint32_t c = 0; c < tree.clusters.size(); ++c) {
    const std::uint64_t points = (splits[c] != 0 ? 0 : 2) + next(4);
    for (std::uint64_t i = 0; i < points; ++i) {
      tree.cluster_of.push_back(c);
      tree.lambda.push_back(tree.clusters[c].birth + (splits[c] != 0 ? 0.5 : static_cast<double>(next(16)) / 4));
    }
  }
  return tree;
}

TEST(ClusterScores, outliers_leave_early) {
  const auto scores = outlier_scores(small_tree());
  const std::vector<double> expected{(8 - 0.5) / 8, 1.0 / 3, 0, 0, (8 - 2.0) / 8, 0, 0, 1.0 / 6, 0};
  EXPECT_EQ(scores, expected);
  EXPECT_TRUE(outlier_scores(CondensedTree{}).empty());
}

TEST(ClusterScores, coincident_points_are_no_outliers_and_others_are) {
  CondensedTree tree = small_tree();
  tree.lambda[5] = INFINITY;
  const auto scores = outlier_scores(tree);
  EXPECT_EQ(scores[5], 0);
  EXPECT_EQ(scores[6], 1);
  EXPECT_EQ(scores[0], 1);
  EXPECT_EQ(scores[8], 0);
  EXPECT_EQ(persistences(tree, std::vector<std::uint32_t>{1}, std::vector<double>{3}), std::vector<double>{1});
}

TEST(ClusterScores, persistence_is_relative_to_the_greatest_lambda) {
  const auto found = persistences(small_tree(), std::vector<std::uint32_t>{1, 4}, std::vector<double>{3, 2});
  EXPECT_EQ(found, (std::vector<double>{5.0 / 24, 3.0 / 16}));
  EXPECT_THROW((void)persistences(small_tree(), std::vector<std::uint32_t>{9}, std::vector<double>{1}), InputError);
  EXPECT_THROW((void)persistences(small_tree(), std::vector<std::uint32_t>{1}, std::vector<double>{}), InputError);
}

TEST(ClusterScores, persistence_of_a_selected_root_may_be_above_1) {
  const CondensedTree tree{{{0, 4, 0}}, {0, 0, 0, 0}, {1, 1, 0.5, 0.5}};  // the last two are noise
  EXPECT_EQ(persistences(tree, std::vector<std::uint32_t>{0}, std::vector<double>{2}), std::vector<double>{1.5});
}

TEST(ClusterScores, exemplars_leave_the_leaves_last) {
  const auto found = exemplars(small_tree(), std::vector<std::uint32_t>{1, 2});
  EXPECT_EQ(found.begin, (std::vector<std::uint64_t>{0, 2, 5}));
  EXPECT_EQ(found.points, (std::vector<std::uint32_t>{2, 3, 5, 6, 8}));
  const auto of_root = exemplars(small_tree(), std::vector<std::uint32_t>{0});
  EXPECT_EQ(of_root.begin, (std::vector<std::uint64_t>{0, 5}));
  EXPECT_EQ(of_root.points, found.points) << "both children of the root are within it";
  EXPECT_EQ(exemplars(small_tree(), {}).begin, std::vector<std::uint64_t>{0});
  EXPECT_THROW((void)exemplars(small_tree(), std::vector<std::uint32_t>{5}), InputError);
}

TEST(ClusterScores, relative_validity_compares_edges_inside_and_outside) {
  const std::vector<ScoredEdge> edges{{0, 1, 1}, {1, 2, 2}, {2, 3, 8}, {3, 4, 4}, {4, 5, 9}};
  const std::vector<std::int64_t> two{0, 0, 0, 1, 1, -1};
  EXPECT_DOUBLE_EQ(relative_validity(edges, two, 2), (3 * (8 - 2) / 8.0 + 2 * (8 - 4) / 8.0) / 6);
  const std::vector<std::int64_t> one{0, 0, 0, 0, 0, -1};
  EXPECT_DOUBLE_EQ(relative_validity(edges, one, 1), 5 * (18 - 8) / 18.0 / 6);
  const std::vector<std::int64_t> none(6, -1);
  EXPECT_EQ(relative_validity(edges, none, 0), 0);
  EXPECT_THROW((void)relative_validity(edges, two, 1), InputError);
  EXPECT_THROW((void)relative_validity(edges, std::span(two).first(5), 2), InputError);
}

TEST(ClusterScores, simplify_merges_what_does_not_persist) {
  const CondensedTree tree = small_tree();
  EXPECT_EQ(simplify(tree, 0).clusters, tree.clusters);
  EXPECT_EQ(simplify(tree, 2).clusters, tree.clusters);  // the least difference of a child: 6 - 4
  const CondensedTree once = simplify(tree, 2.5);        // 3 - 1 of cluster 1 too: everything is one
  EXPECT_EQ(once.clusters.size(), 1U);
  EXPECT_EQ(once.cluster_of, std::vector<std::uint32_t>(9));
  EXPECT_EQ(once.lambda, tree.lambda);
  EXPECT_THROW((void)simplify(tree, -1), UsageError);
  EXPECT_THROW((void)simplify(tree, std::nan("")), UsageError);
}

TEST(ClusterScores, a_child_that_is_dropped_beside_one_that_splits_leaves_at_the_split) {
  CondensedTree tree = small_tree();
  tree.lambda[1] = tree.lambda[2] = tree.lambda[3] = 1.5;
  const CondensedTree found = simplify(tree, 1);
  EXPECT_EQ(found.clusters.size(), 3U);  // the root, and the children of cluster 2, which are its own now
  EXPECT_EQ(found.clusters[1].parent, 0U);
  EXPECT_EQ(found.clusters[2].birth, 4);
  EXPECT_EQ(found.cluster_of, (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(found.lambda, (std::vector<double>{0.5, 1, 1, 1, 2, 8, 8, 5, 6}));
}

TEST(ClusterScores, simplified_trees_have_only_clusters_that_persist) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const CondensedTree tree = random_tree(seed, 31);
    for (const double least : {0.25, 1.0, 2.5, 100.0}) {
      const CondensedTree found = simplify(tree, least);
      ASSERT_EQ(found.lambda.size(), tree.lambda.size());
      std::vector<double> deepest(found.clusters.size());
      std::vector<std::uint32_t> children(found.clusters.size());
      for (std::size_t p = 0; p < found.lambda.size(); ++p) {
        double& of = deepest[found.cluster_of[p]];
        of = std::max(of, found.lambda[p]);
      }
      for (std::size_t c = found.clusters.size(); c-- > 1;) {
        ASSERT_LT(found.clusters[c].parent, c);
        ++children[found.clusters[c].parent];
        double& of = deepest[found.clusters[c].parent];
        of = std::max(of, deepest[c]);
        ASSERT_GE(deepest[c] - found.clusters[c].birth, least);
      }
      for (const auto count : children) ASSERT_TRUE(count == 0 || count == 2);
    }
  }
}

TEST(ClusterScores, weights_whose_sums_would_overflow_are_refused) {
  const Dendrogram d{5, {{0, 1, 1, 2}, {2, 3, 1, 2}, {4, 6, 3, 3}, {5, 7, 10, 5}}};
  EXPECT_THROW((void)condense(d, 2, HdbscanTies::together, std::vector<double>(5, 1e308)), InputError);
  EXPECT_THROW((void)condense(d, 2, HdbscanTies::sequential, std::vector<double>(5, 1e150)), InputError);
  const CondensedTree tree = condense(d, 2, HdbscanTies::together, std::vector<double>(5, 1e149));
  EXPECT_EQ(tree.clusters.size(), 3U);
  for (const double stable : stabilities(tree)) EXPECT_TRUE(std::isfinite(stable));
}

TEST(ClusterScores, weights_count_in_sizes_and_stabilities) {
  // Two pairs of points at distance 1, 10 apart; a fifth one 3 from the second pair.
  Dendrogram d{5, {{0, 1, 1, 2}, {2, 3, 1, 2}, {4, 6, 3, 3}, {5, 7, 10, 5}}};
  const std::vector<double> weights{3, 3, 1, 1, 2};
  EXPECT_EQ(condense(d, 3).clusters.size(), 1U);
  for (const double persistence : {-1.0, std::nan("")}) {
    HdbscanOptions options;
    options.persistence = persistence;
    EXPECT_THROW((void)condense(d, options), UsageError) << persistence;
  }
  const CondensedTree tree = condense(d, 3, HdbscanTies::together, weights);
  ASSERT_EQ(tree.clusters.size(), 3U);  // 6 and 4 by weight
  EXPECT_EQ(tree.cluster_of, (std::vector<std::uint32_t>{1, 1, 2, 2, 2}));
  EXPECT_EQ(cluster_weights(tree), (std::vector<double>{10, 6, 4}));
  const auto stable = stabilities(tree);
  EXPECT_DOUBLE_EQ(stable[1], 6 * (1 - 0.1));
  EXPECT_DOUBLE_EQ(stable[2], 4 * (1.0 / 3 - 0.1));  // the pair weighs less than 3: it falls out with the fifth point
  for (const auto ties : {HdbscanTies::together, HdbscanTies::sequential}) {
    EXPECT_EQ(condense(d, 2, ties, std::vector<double>(5, 1)).clusters, condense(d, 2, ties).clusters);
    const auto doubled = condense(d, 4, ties, std::vector<double>(5, 2));
    EXPECT_EQ(doubled.clusters, condense(d, 2, ties).clusters);
    EXPECT_EQ(doubled.lambda, condense(d, 2, ties).lambda);
  }
  EXPECT_EQ(condense(d, 50, HdbscanTies::together, std::vector<double>{100, 0, 0, 0, 100}).clusters.size(), 3U);
  const std::vector<double> lone{100, 100, 0, 0, 0};
  EXPECT_EQ(condense(d, 50, HdbscanTies::together, lone).clusters.size(), 1U);  // a single point is no cluster
  EXPECT_THROW((void)condense(d, 2, HdbscanTies::together, std::vector<double>{1}), InputError);
  EXPECT_THROW((void)condense(d, 2, HdbscanTies::together, std::vector<double>{1, 1, -1, 1, 1}), InputError);
}

}  // namespace
