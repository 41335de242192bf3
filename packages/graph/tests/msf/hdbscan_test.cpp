/// Tests of HDBSCAN* against its definition on small graphs, ties included, and against other programs on points.
#include "merganser/msf/hdbscan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/msf/hdbscan_cases.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;
using test::Edges;

using Points = std::set<std::size_t>;

/// A cluster of the hierarchy by its points at birth.
struct Born {
  double birth;
  Points points;
  friend auto operator<=>(const Born&, const Born&) = default;
};

/// The hierarchy by its definition: edges of the greatest weight go, all of one weight at once.
struct Definition {
  std::size_t least;  // points of a cluster
  Edges forest;
  std::vector<Born> clusters{};
  std::vector<double> lambda{};

  static double to_lambda(double weight) { return weight > 0 ? 1 / weight : std::numeric_limits<double>::infinity(); }
  [[nodiscard]] Edges inside(const Points& points) const {
    Edges edges;
    for (const auto& e : forest) {
      if (points.contains(e.low) && points.contains(e.high)) edges.push_back(e);
    }
    return edges;
  }
  static std::vector<Points> components(const Points& points, const Edges& edges, std::uint64_t below) {
    std::map<std::size_t, std::size_t> label;
    for (const auto p : points) label[p] = p;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& e : edges) {
        if (e.weight >= below || label[e.low] == label[e.high]) continue;
        label[e.low] = label[e.high] = std::min(label[e.low], label[e.high]);
        changed = true;
      }
    }
    std::map<std::size_t, Points> sets;
    for (const auto& [p, l] : label) sets[l].insert(p);
    std::vector<Points> all;
    for (auto& [l, set] : sets) all.push_back(std::move(set));
    return all;
  }
  void grow(Points points, double birth) {
    clusters.push_back({birth, points});
    for (Edges edges = inside(points); !edges.empty(); edges = inside(points)) {
      const auto greatest = std::max_element(edges.begin(), edges.end())->weight;
      const double l = to_lambda(static_cast<double>(greatest));
      std::vector<Points> large;
      for (const auto& part : components(points, edges, greatest)) {
        for (const auto p : part) lambda[p] = l;
        if (part.size() >= least) large.push_back(part);
      }
      if (large.size() != 1) {
        for (const auto& part : large) grow(part, l);
        return;
      }
      points = large.front();
    }
  }
};

std::vector<Born> find_clusters(const CondensedTree& tree) {
  std::vector<Born> all;
  for (const auto& cluster : tree.clusters) all.push_back({cluster.birth, {}});
  for (std::size_t p = 0; p < tree.cluster_of.size(); ++p) {
    for (std::uint32_t c = tree.cluster_of[p];; c = tree.clusters[c].parent) {
      all[c].points.insert(p);
      if (c == 0) break;
    }
  }
  return all;
}

struct TreeCase {
  std::size_t points;
  std::int64_t least;
  Forest forest;
  CondensedTree tree;
};

/// Random trees on few points, most with few different weights, some of them 0.
template <class Body>
void over_random_trees(const Body& body) {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    Random random(seed, 0, 0);
    const std::size_t points = 1 + seed % 24;
    const std::uint64_t weights = seed % 3 == 0 ? 1000 : 4;
    Forest forest{points, graphs::WeightKind::unsigned_integer, {}};
    for (std::uint64_t p = 1; p < points; ++p) forest.edges.push_back({random.below(p), p, random.below(weights)});
    std::sort(forest.edges.begin(), forest.edges.end());
    const auto least = static_cast<std::int64_t>(2 + seed % 3);
    SCOPED_TRACE("seed " + std::to_string(seed));
    body(TreeCase{points, least, forest, condense(dendrogram(forest, Apart::join), least)});
  }
}

TEST(CondenseTest, clusters_are_those_of_the_definition_ties_included) {
  over_random_trees([](const TreeCase& c) {
    Definition definition{static_cast<std::size_t>(c.least), c.forest.edges};
    definition.lambda.resize(c.points);
    Points all;
    for (std::size_t p = 0; p < c.points; ++p) all.insert(p);
    definition.grow(all, 0);
    auto found = find_clusters(c.tree);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].points.size(), c.tree.clusters[i].size);
    std::sort(found.begin(), found.end());
    std::sort(definition.clusters.begin(), definition.clusters.end());
    EXPECT_EQ(found, definition.clusters);
    EXPECT_EQ(c.tree.lambda, definition.lambda);
  });
}

TEST(CondenseTest, stability_is_what_points_stay_beyond_the_birth_of_their_cluster) {
  over_random_trees([](const TreeCase& c) {
    const auto sums = stabilities(c.tree);
    const auto clusters = find_clusters(c.tree);
    for (std::size_t i = 0; i < clusters.size(); ++i) {
      double expected = 0;
      for (const auto p : clusters[i].points) {
        double end = c.tree.lambda[p];
        for (std::uint32_t a = c.tree.cluster_of[p]; a != i; a = c.tree.clusters[a].parent) {
          end = c.tree.clusters[a].birth;
        }
        if (end > clusters[i].birth) expected += end - clusters[i].birth;
      }
      if (std::isinf(expected)) {
        EXPECT_EQ(sums[i], expected);
      } else {
        EXPECT_NEAR(sums[i], expected, 1e-9 * expected);
      }
    }
  });
}

/// The greatest sum of stabilities over sets of clusters, none in another, without the one of all points.
double best_mass(const CondensedTree& tree, const std::vector<double>& mass, std::uint32_t cluster) {
  double below = 0;
  for (std::uint32_t c = cluster + 1; c < mass.size(); ++c) {
    if (tree.clusters[c].parent == cluster) below += best_mass(tree, mass, c);
  }
  return cluster == 0 ? below : std::max(below, mass[cluster]);
}

TEST(HdbscanTest, the_excess_of_mass_is_the_greatest_there_is) {
  over_random_trees([](const TreeCase& c) {
    const auto mass = stabilities(c.tree);
    const auto found = hdbscan(c.tree, {.min_cluster_size = c.least});
    const double best = best_mass(c.tree, mass, 0);
    double sum = 0;
    for (const auto cluster : found.selected) sum += mass[cluster];
    if (std::isinf(best)) {
      EXPECT_EQ(sum, best);
    } else {
      EXPECT_NEAR(sum, best, 1e-9 * best);
    }
  });
}

TEST(HdbscanTest, labels_are_numbered_by_their_lowest_points_and_noise_has_no_probability) {
  over_random_trees([](const TreeCase& c) {
    for (const Selection selection : {Selection::excess_of_mass, Selection::leaf}) {
      const auto found = hdbscan(c.tree, {.min_cluster_size = c.least, .selection = selection});
      const auto clusters = find_clusters(c.tree);
      ASSERT_EQ(found.selected.size(), found.clusters);
      std::int32_t next = 0;
      for (std::size_t p = 0; p < c.points; ++p) {
        const std::int32_t label = found.labels[p];
        EXPECT_LE(label, next);
        next = std::max(next, label + 1);
        EXPECT_GE(found.probabilities[p], 0);
        EXPECT_LE(found.probabilities[p], 1);
        if (label < 0) {
          EXPECT_EQ(found.probabilities[p], 0);
        }
        for (std::uint32_t l = 0; l < found.clusters; ++l) {
          EXPECT_EQ(clusters[found.selected[l]].points.contains(p), label == static_cast<std::int32_t>(l));
        }
      }
      EXPECT_EQ(next, static_cast<std::int32_t>(found.clusters));
    }
  });
}

TEST(HdbscanTest, other_numbers_of_the_points_change_nothing_but_the_names) {
  over_random_trees([](const TreeCase& c) {
    Forest turned = c.forest;
    const std::uint64_t last = c.points - 1;
    for (auto& e : turned.edges) e = graphs::make_edge<graphs::Edge24>(last - e.low, last - e.high, e.weight);
    std::sort(turned.edges.begin(), turned.edges.end());
    const auto one = hdbscan(c.tree, {.min_cluster_size = c.least});
    const auto other = hdbscan(condense(dendrogram(turned), c.least), {.min_cluster_size = c.least});
    EXPECT_EQ(one.clusters, other.clusters);
    for (std::size_t p = 0; p < c.points; ++p) {
      EXPECT_EQ(one.probabilities[p], other.probabilities[last - p]);
      for (std::size_t q = 0; q < c.points; ++q) {
        EXPECT_EQ(one.labels[p] == one.labels[q], other.labels[last - p] == other.labels[last - q]);
      }
    }
  });
}

/// The tree of mutual reachability distances from all pairs of points.
Forest reachability(std::size_t min_samples) {
  const auto& points = test::kHdbscanPoints;
  const auto distance = [&](std::size_t a, std::size_t b) {
    return std::sqrt(std::pow(points[a][0] - points[b][0], 2) + std::pow(points[a][1] - points[b][1], 2));
  };
  std::vector<double> core;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<double> all;
    for (std::size_t q = 0; q < points.size(); ++q) all.push_back(distance(p, q));
    std::sort(all.begin(), all.end());
    core.push_back(all[min_samples - 1]);
  }
  Edges edges;
  for (std::size_t p = 0; p < points.size(); ++p) {
    for (std::size_t q = p + 1; q < points.size(); ++q) {
      edges.push_back({p, q, graphs::ordered_bits(std::max({distance(p, q), core[p], core[q]}))});
    }
  }
  return {points.size(), graphs::WeightKind::float64, test::plain_kruskal(edges, points.size())};
}

TEST(HdbscanTest, labels_and_probabilities_are_those_of_other_programs) {
  for (const auto& known : test::hdbscan_cases()) {
    SCOPED_TRACE(known.name);
    const auto tree = condense(dendrogram(reachability(known.min_samples)), known.options.min_cluster_size);
    const auto found = hdbscan(tree, known.options);
    std::string labels;
    for (const auto l : found.labels) labels += l < 0 ? '.' : static_cast<char>('a' + l);
    EXPECT_EQ(labels, known.labels);
    ASSERT_EQ(found.probabilities.size(), known.probabilities.size());
    for (std::size_t p = 0; p < known.probabilities.size(); ++p) {
      EXPECT_NEAR(found.probabilities[p], known.probabilities[p], 1e-5) << p;
    }
  }
}

TEST(HdbscanTest, points_at_one_place_and_a_lattice_are_no_clusters_of_their_own_making) {
  Forest same{50, graphs::WeightKind::float64, {}};
  for (std::uint64_t p = 1; p < 50; ++p) same.edges.push_back({0, p, graphs::ordered_bits(0.0)});
  for (const double distance : {0.0, 1.0}) {
    for (auto& e : same.edges) e.weight = graphs::ordered_bits(distance);
    const auto tree = condense(dendrogram(same), 5);
    EXPECT_EQ(tree.clusters.size(), 1U);
    EXPECT_EQ(hdbscan(tree, {}).clusters, 0U);
    const auto one = hdbscan(tree, {.allow_single_cluster = true});
    EXPECT_EQ(one.labels, std::vector<std::int32_t>(50, 0));
    EXPECT_EQ(one.probabilities, std::vector<double>(50, 1.0));
  }
}

TEST(HdbscanTest, components_are_clusters_of_their_own_and_a_long_chain_is_no_deep_recursion) {
  constexpr std::uint64_t kPoints = 100'000;
  Forest chain{kPoints + 1000, graphs::WeightKind::unsigned_integer, {}};
  for (std::uint64_t p = 1; p < kPoints; ++p) chain.edges.push_back({p - 1, p, p});
  for (std::uint64_t p = 1; p < 1000; ++p) chain.edges.push_back({kPoints, kPoints + p, kPoints});
  const auto tree = condense(dendrogram(chain, Apart::join), 5);
  ASSERT_EQ(tree.clusters.size(), 3U);
  EXPECT_EQ(tree.clusters[1].birth, 0);
  const auto found = hdbscan(tree, {});
  EXPECT_EQ(found.clusters, 2U);
  EXPECT_EQ(found.labels.front(), 0);
  EXPECT_EQ(found.labels.back(), 1);
}

TEST(HdbscanTest, nothing_and_one_point_are_no_clusters_and_bad_options_are_refused) {
  EXPECT_TRUE(hdbscan(condense(dendrogram({}), 5), {}).labels.empty());
  const auto one = hdbscan(condense(dendrogram({1, graphs::WeightKind::float64, {}}), 2), {});
  EXPECT_EQ(one.labels, std::vector<std::int32_t>{-1});
  EXPECT_THROW((void)condense(dendrogram({1, graphs::WeightKind::float64, {}}), 1), UsageError);
  EXPECT_THROW((void)condense(dendrogram({2, graphs::WeightKind::float64, {}}), 2), UsageError);
  const auto refused = [](const HdbscanOptions& options) {
    return test::refusal<UsageError>([&] { (void)hdbscan({}, options); });
  };
  EXPECT_EQ(refused({.min_cluster_size = 1}), "min_cluster_size: 1; allowed: from 2 to 2147483648");
  EXPECT_EQ(refused({.max_cluster_size = -1}), "max_cluster_size: -1; allowed: 0 and more; 0: any size");
  EXPECT_EQ(refused({.epsilon = -1}), "epsilon: -1; allowed: finite numbers from 0");
  EXPECT_EQ(refused({.epsilon = std::nan("")}), "epsilon: nan; allowed: finite numbers from 0");
  EXPECT_EQ(refused({.selection = static_cast<Selection>(7)}), "selection: 7; allowed: eom, leaf");
  EXPECT_EQ(refused({.ties = static_cast<HdbscanTies>(2)}), "ties: 2; allowed: together, sequential");
  EXPECT_EQ(test::refusal<UsageError>([] {
              check({.min_cluster_size = 0}, [](std::string_view field) { return "size, not " + std::string(field); });
            }),
            "size, not min_cluster_size: 0; allowed: from 2 to 2147483648");
}

}  // namespace
