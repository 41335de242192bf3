/// Tests of grow() against Prim's algorithm on all pairs, of sorted_like_numpy() against NumPy, of labels against scikit-learn.
#include "merganser/msf/grow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "src/msf/euclidean/core_neighbours.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/folders.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf;
using namespace merganser::test;

Swarm make_swarm_from_rows(const std::vector<double>& x, std::size_t dimension) {
  Swarm swarm;
  swarm.space.dimension = static_cast<int>(dimension);
  for (std::size_t i = 0; i < x.size(); i += dimension)
    swarm.at.emplace_back(x.begin() + static_cast<std::ptrdiff_t>(i),
                          x.begin() + static_cast<std::ptrdiff_t>(i + dimension));
  return swarm;
}

/// Mutual reachability distances of all pairs.
struct Reach {
  std::size_t count;
  std::vector<double> distance;

  Reach(const Swarm& swarm, int samples) : count(swarm.at.size()), distance(count * count) {
    const auto cores = compute_cores(swarm, samples);
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t q = 0; q < count; ++q)
        distance[p * count + q] = swarm.weight(std::max({swarm.compared(p, q), cores[p], cores[q]}));
  }
  [[nodiscard]] double at(std::size_t p, std::size_t q) const { return distance[p * count + q]; }
  [[nodiscard]] Forest forest() const {
    test::Edges all;
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t q = p + 1; q < count; ++q) all.push_back({p, q, graphs::ordered_bits(at(p, q))});
    return {count, graphs::WeightKind::float64, test::plain_kruskal(all, count)};
  }
  /// From point 0: the nearest point to the tree, of equal ones the lowest.
  [[nodiscard]] std::vector<GrownEdge> prim() const {
    std::vector<double> least(count, std::numeric_limits<double>::infinity());
    std::vector<std::uint32_t> from(count);
    std::vector<bool> inside(count);
    std::vector<GrownEdge> edges;
    for (std::uint32_t v = 0; edges.size() + 1 < count;) {
      inside[v] = true;
      std::uint32_t next = v;
      for (std::uint32_t q = 0; q < count; ++q) {
        if (inside[q]) continue;
        if (at(v, q) < least[q]) least[q] = at(v, q), from[q] = v;
        if (next == v || least[q] < least[next]) next = q;
      }
      edges.push_back({from[next], next, least[next]});
      v = next;
    }
    return edges;
  }
};

/// What the library grows on so many ranks from the points that it is given in another order.
/// @param lists  receives what the search for the forest has found about equal edges
Growth grown(const Swarm& swarm, int samples, int ranks = 1, std::uint64_t most_steps = kMaxGrowSteps,
             euclidean::NeighboursPointer* lists = nullptr) {
  Growth growth;
  on_threads(ranks, [&](comm::Transport& t) {
    EuclideanOptions options;
    options.min_samples = samples;
    Report report;
    const auto points = distribute(swarm, t, 5);
    std::vector<double> cores;
    euclidean::NeighboursPointer neighbours;
    const Forest forest = gather_forest(euclidean_forest(points, t, options, report, &cores, &neighbours), t);
    const GatheredPoints gathered = gather_points(points, t, options, report);
    EXPECT_EQ(static_cast<bool>(gathered), t.rank() == 0);
    if (t.rank() == 0) growth = grow(forest, gathered, most_steps);
    // What the forest has found is not searched again, with the same result.
    EXPECT_EQ(neighbours != nullptr,
              ranks == 1 && samples > 1 && samples < 15 && swarm.space.dimension <= kMaxTreeDimension);
    if (samples == 1) cores.clear();
    const GatheredPoints known = gather_points(points, cores, t, options, neighbours);
    if (t.rank() == 0) {
      EXPECT_EQ(grow(forest, known, most_steps).edges, growth.edges);
      if (lists != nullptr) *lists = neighbours;
    }
  });
  return growth;
}

struct Toys {
  std::string name;
  std::size_t dimension;
  std::vector<double> points;
  struct Case {
    std::int64_t least;
    int samples;
    bool leaf;
    std::string labels;
    double probabilities;
  };
  std::vector<Case> cases;
};

/// What tests/python/toys.py has written.
std::vector<Toys> toys(const std::string& name) {
  std::ifstream in(source_folder() / "packages/graph/tests/data/hdbscan" / name);
  std::vector<Toys> all;
  std::size_t count = 0;
  for (Toys t; in >> t.name >> count >> t.dimension; t = {}) {
    t.points.resize(count * t.dimension);
    for (double& x : t.points) in >> x;
    t.cases.resize(4);
    for (auto& c : t.cases) in >> c.least >> c.samples >> c.leaf >> c.labels >> c.probabilities;
    all.push_back(std::move(t));
  }
  return all;
}

TEST(GrowTest, edges_come_in_the_order_of_prims_algorithm_on_all_pairs) {
  for (const auto& t : toys("toys.txt")) {
    for (const auto& c : t.cases) {
      SCOPED_TRACE(t.name + " " + std::to_string(c.samples));
      const Swarm swarm = make_swarm_from_rows(t.points, t.dimension);
      const Growth growth = grown(swarm, c.samples);
      EXPECT_TRUE(growth.exact);
      EXPECT_EQ(growth.edges, Reach(swarm, c.samples).prim());
    }
  }
}

TEST(GrowTest, of_equal_distances_the_choice_is_among_all_pairs_on_any_ranks_in_any_dimension) {
  int differ_from_forest = 0;
  std::uint64_t seed = 0;
  for (const auto metric : {Distance::euclidean, Distance::manhattan, Distance::chebyshev})
    for (const int dimension : {1, 2, 3, 6, 19})
      for (const auto* shape : {"lattice", "heaps", "equal", "decimals", "uniform"})
        for (const int samples : {1, 2, 6}) {
          Swarm swarm = make_swarm(shape, dimension, 70, ++seed);
          swarm.space.metric = metric;
          if (dimension == 3) swarm.space.periods = {{1, 0, 1}};
          for (auto& p : swarm.at)
            for (double& x : p) x = swarm.name[0] == 'd' ? std::floor(x * 20) / 100 : x;
          SCOPED_TRACE(swarm.name + " " + distances().name(metric) + " " + std::to_string(samples));
          const Reach reach(swarm, samples);
          const Growth growth = grown(swarm, samples, 1 + static_cast<int>(seed % 3));
          EXPECT_TRUE(growth.exact);
          EXPECT_EQ(growth.edges, reach.prim());
          differ_from_forest += static_cast<int>(grow(reach.forest()) != growth.edges);
        }
  EXPECT_GT(differ_from_forest, 60);  // or there is nothing that the other edges decide
}

TEST(GrowTest, where_few_distances_are_equal_only_those_are_searched) {
  // Mirrored points have pairs of equal edges between both halves, which are the only ones where the halves are far apart.
  int closed = 0;
  int partly = 0;
  std::uint64_t seed = 0;
  for (const auto metric : {Distance::euclidean, Distance::manhattan, Distance::chebyshev})
    for (const int dimension : {1, 2, 3})
      for (const auto* shape : {"uniform", "mirrored", "apart", "thousandths", "copies", "pairs"})
        for (const int samples : {2, 3, 5, 9}) {
          Swarm swarm = make_swarm("uniform", dimension, 240, ++seed);
          swarm.name = shape;
          swarm.space.metric = metric;
          const auto half = swarm.at.size() / 2;
          Random random(seed, 0, 1);
          for (std::size_t i = 0; i < swarm.at.size(); ++i)
            for (std::size_t a = 0; a < swarm.at[i].size(); ++a) {
              double& x = swarm.at[i][a];
              const double twin = i < half ? 0 : swarm.at[i - half][a];
              if (swarm.name == "mirrored") x = i < half ? x + (a == 0 ? 0.125 : -0.5) : -twin;
              if (swarm.name == "apart") x = i < half ? x + (a == 0 ? 2 : -0.5) : -twin;
              if (swarm.name == "thousandths") x = std::floor(x * 1000) / 1000;
              if (swarm.name == "copies") x = i < half ? std::floor(x * 0x1p40) * 0x1p-40 : twin + (a == 0 ? 1.5 : 0);
              if (swarm.name == "pairs" && i >= half && i % 4 == 0) x = twin;
            }
          for (std::size_t i = swarm.at.size(); i > 1; --i) std::swap(swarm.at[i - 1], swarm.at[random.below(i)]);
          SCOPED_TRACE(swarm.name + " " + distances().name(metric) + " " + std::to_string(dimension) + " " +
                       std::to_string(samples));
          euclidean::NeighboursPointer lists;
          const Growth growth = grown(swarm, samples, 1, kMaxGrowSteps, &lists);
          EXPECT_TRUE(growth.exact);
          EXPECT_EQ(growth.edges, Reach(swarm, samples).prim());
          if (!lists->is_complete()) continue;
          closed += static_cast<int>(lists->open_weights().empty());
          partly += static_cast<int>(!lists->open_weights().empty());
        }
  EXPECT_GT(closed, 30);
  EXPECT_GT(partly, 30);
}

TEST(GrowTest, it_gives_up_after_so_many_steps_and_says_so) {
  const Swarm swarm = make_swarm("equal", 2, 200, 1);
  const Growth growth = grown(swarm, 1, 1, 100);
  EXPECT_FALSE(growth.exact);
  EXPECT_EQ(growth.edges, grow(Reach(swarm, 1).forest()));
  EXPECT_FALSE(grow(Reach(swarm, 1).forest(), GatheredPoints()).exact);
  // Where distances differ few steps are needed: here of 2 x 500,000 coordinates of pairs.
  EXPECT_TRUE(grown(make_swarm("uniform", 2, 1000, 1), 1, 1, 400'000).exact);
}

TEST(GrowTest, labels_numbers_and_probabilities_are_those_of_scikit_learn) {
  ASSERT_EQ(toys("toys.txt").size(), 8U);
  ASSERT_EQ(toys("ties.txt").size(), 12U);
  int equal_together = 0;
  for (const auto* file : {"toys.txt", "ties.txt"}) {
    for (const auto& t : toys(file)) {
      for (const auto& c : t.cases) {
        SCOPED_TRACE(t.name + " " + std::to_string(c.least) + " " + std::to_string(c.samples));
        const Swarm swarm = make_swarm_from_rows(t.points, t.dimension);
        HdbscanOptions options{.min_cluster_size = c.least, .ties = HdbscanTies::sequential};
        if (c.leaf) options.selection = Selection::leaf;
        const auto text = [&](const Dendrogram& d) {
          const auto found = hdbscan(condense(d, c.least, options.ties), options);
          std::string labels;
          for (const auto label : found.labels) labels += label < 0 ? '.' : static_cast<char>('a' + label);
          const double sum = std::accumulate(found.probabilities.begin(), found.probabilities.end(), 0.0);
          return labels + (std::abs(sum - c.probabilities) < 1e-8 ? "" : " " + std::to_string(sum));
        };
        EXPECT_EQ(text(grown_dendrogram(grown(swarm, c.samples).edges)), c.labels);
        options.ties = HdbscanTies::together;
        equal_together += text(dendrogram(Reach(swarm, c.samples).forest())) == c.labels ? 1 : 0;
      }
    }
  }
  EXPECT_LT(equal_together, 60);  // or there is nothing in these 80 cases that the order decides
}

TEST(GrowTest, without_points_the_edges_are_the_forests_and_components_follow_at_infinity) {
  Forest forest{7, graphs::WeightKind::unsigned_integer, {{1, 6, 2}, {0, 3, 4}, {3, 5, 4}, {0, 4, 4}, {1, 2, 9}}};
  std::sort(forest.edges.begin(), forest.edges.end());
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<GrownEdge> expected{{0, 3, 4}, {0, 4, 4}, {3, 5, 4}, {0, 1, infinite}, {1, 6, 2}, {1, 2, 9}};
  EXPECT_EQ(grow(forest), expected);
  const auto d = grown_dendrogram(grow(forest));
  EXPECT_EQ(d.components(), 1U);
  EXPECT_EQ(d.merges.back().size, 7U);
  EXPECT_TRUE(grow({1, graphs::WeightKind::float64, {}}).empty());
}

TEST(GrowTest, merges_undone_one_by_one_split_in_two_and_keep_the_sizes) {
  // A star of three groups of two around a point, all at one height: together three clusters, one by one always two.
  Forest star{
      7, graphs::WeightKind::unsigned_integer, {{1, 2, 1}, {3, 4, 1}, {5, 6, 1}, {0, 1, 5}, {0, 3, 5}, {0, 5, 5}}};
  std::sort(star.edges.begin(), star.edges.end());
  const auto together = condense(dendrogram(star), 2);
  EXPECT_EQ(together.clusters.size(), 4U);
  const auto tree = condense(grown_dendrogram(grow(star)), 2, HdbscanTies::sequential);
  ASSERT_EQ(tree.clusters.size(), 5U);
  std::vector<std::uint32_t> children(tree.clusters.size());
  for (std::size_t c = 1; c < tree.clusters.size(); ++c) ++children[tree.clusters[c].parent];
  for (const auto count : children) EXPECT_TRUE(count == 0 || count == 2);
  EXPECT_EQ(tree.clusters[1].size + tree.clusters[2].size, 7U);
  EXPECT_NE(tree.cluster_of[0], 0U);  // with a group, not out of all points
}

TEST(GrowTest, what_does_not_fit_is_refused) {
  const Forest loop{3, graphs::WeightKind::unsigned_integer, {{0, 1, 1}, {0, 2, 1}, {1, 2, 1}}};
  EXPECT_THROW((void)grow(loop), InputError);
  const auto refused = [](const graphs::Edge24& e) {
    return refusal<InputError>([&] { (void)grow({2, graphs::WeightKind::unsigned_integer, {e}}); });
  };
  for (const auto& e : {graphs::Edge24{0, 2, 1}, graphs::Edge24{1, 1, 1}})
    EXPECT_EQ(refused(e), "grow: edge " + std::to_string(e.low) + " - " + std::to_string(e.high) +
                              "; allowed: two vertices from 0 to below 2");
  on_threads(1, [](comm::Transport& t) {
    Report report;
    const msf::Points two{{1}, {0, 1}, {}};
    const auto points = gather_points(two, t, {}, report);
    EXPECT_THROW((void)grow({3, graphs::WeightKind::float64, {}}, points), InputError);  // another number of points
    const Forest nearer{2, graphs::WeightKind::float64, {{0, 1, graphs::ordered_bits(0.5)}}};
    EXPECT_THROW((void)grow(nearer, points), InputError);  // other points
    const Forest farther{2, graphs::WeightKind::float64, {{0, 1, graphs::ordered_bits(2.0)}}};
    EXPECT_THROW((void)grow(farther, points), InputError);
  });
  const std::vector<GrownEdge> edges{{0, 1, 2}, {0, 2, 1}};
  EXPECT_THROW((void)dendrogram_in_order(edges, std::vector<std::uint32_t>{0, 1}), InputError);
  EXPECT_THROW((void)dendrogram_in_order(edges, std::vector<std::uint32_t>{1, 1}), InputError);
  EXPECT_THROW((void)dendrogram_in_order(edges, std::vector<std::uint32_t>{1}), InputError);
  EXPECT_THROW((void)dendrogram_in_order(edges, std::vector<std::uint32_t>{1, 2}), InputError);
  EXPECT_THROW((void)sorted_like_numpy(std::vector<double>{1, std::nan("")}), InputError);
}

TEST(GrowTest, neighbours_that_do_not_fit_the_forest_are_refused) {
  const Swarm swarm = make_swarm("uniform", 3, 500, 7);
  const Swarm others = make_swarm("uniform", 3, 500, 8);
  on_threads(1, [&](comm::Transport& t) {
    EuclideanOptions options;
    options.min_samples = 5;
    Report report;
    const auto points = distribute(swarm, t, 1);
    std::vector<double> cores;
    euclidean::NeighboursPointer neighbours;
    const Forest forest = gather_forest(euclidean_forest(points, t, options, report, &cores, &neighbours), t);
    ASSERT_TRUE(neighbours->is_complete());
    const auto refused = [&](const Forest& of, const GatheredPoints& with) {
      return refusal<InputError>([&] { (void)grow(of, with); });
    };
    const auto fit = gather_points(points, cores, t, options, neighbours);
    EXPECT_EQ(grow(forest, fit).edges, grow(forest, gather_points(points, cores, t, options)).edges);
    Forest wrong = forest;
    wrong.edges[3].high = 5000;
    EXPECT_NE(refused(wrong, fit).find("5000; allowed: two vertices from 0 to below 500"), std::string::npos);
    wrong = forest;
    wrong.edges[3].high = wrong.edges[3].low;
    EXPECT_NE(refused(wrong, fit).find("allowed: two vertices"), std::string::npos);
    wrong = forest;
    for (int twice = 0; twice < 2; ++twice)
      wrong.edges.insert(wrong.edges.end(), forest.edges.begin(), forest.edges.end());
    EXPECT_NE(refused(wrong, fit).find("edges of a forest"), std::string::npos);
    EXPECT_NE(refused(forest, gather_points(points, {}, t, options, neighbours)).find("and 0 core distances"),
              std::string::npos);
    EXPECT_NE(refused(forest, gather_points(distribute(others, t, 1), cores, t, options, neighbours))
                  .find("are not those of the forest"),
              std::string::npos);
  });
}

TEST(GrowTest, a_forest_of_the_same_points_with_another_metric_or_other_options_is_refused) {
  Swarm swarm = make_swarm("uniform", 3, 120, 5);
  swarm.space.metric = msf::Distance::manhattan;
  for (const int ranks : {1, 3})
    on_threads(ranks, [&](comm::Transport& t) {
      Report report;
      msf::EuclideanOptions options;
      options.min_samples = 4;
      const auto points = distribute(swarm, t, 1);
      const auto forest = msf::gather_forest(msf::euclidean_forest(points, t, options, report), t);
      // Whether they are refused, on rank 0; the others take part. Collective.
      const auto refused = [&](const msf::PointSet& of, const msf::EuclideanOptions& how) {
        const auto gathered = gather_points(of, t, how, report);
        if (t.rank() > 0) return true;
        try {
          (void)grow(forest, gathered);
          return false;
        } catch (const InputError& e) {
          return std::string_view(e.what()).find("metric, min_samples or alpha") != std::string_view::npos;
        }
      };
      EXPECT_EQ(refused(points, options), t.rank() > 0);
      auto nearer = points;
      nearer.metric = msf::Distance::euclidean;  // every distance is at most that of the forest
      EXPECT_TRUE(refused(nearer, options));
      for (const double alpha : {0.5, 2.0}) {
        auto other = options;
        other.alpha = alpha;
        EXPECT_TRUE(refused(points, other)) << alpha;
      }
      for (const int samples : {1, 3, 5}) {
        auto other = options;
        other.min_samples = samples;
        EXPECT_TRUE(refused(points, other)) << samples;
      }
    });
}

TEST(GrowTest, weights_are_sorted_and_few_equal_ones_keep_their_order) {
  EXPECT_TRUE(sorted_like_numpy({}).empty());
  for (const std::size_t count : {1U, 2U, 16U, 17U, 100U, 5000U}) {
    for (const std::uint64_t kinds : {1U, 3U, 50U}) {
      Random random(count, kinds, 0);
      std::vector<double> weights(count);
      for (double& w : weights) w = static_cast<double>(random.below(kinds));
      const auto order = sorted_like_numpy(weights);
      auto places = order;
      std::sort(places.begin(), places.end());
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(places[i], i);
      for (std::size_t i = 1; i < count; ++i) {
        ASSERT_LE(weights[order[i - 1]], weights[order[i]]);
        const bool keeps = count > 16 || weights[order[i - 1]] < weights[order[i]] || order[i - 1] < order[i];
        ASSERT_TRUE(keeps) << i;
      }
    }
  }
}

TEST(GrowTest, equal_weights_lie_as_numpy_2_4_leaves_them_without_vector_instructions) {
  // np.argsort([i * 7 % 5 for i in range(40)]) with the CPU features of tests/python/toys.py switched off.
  std::vector<double> weights(40);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i * 7 % 5);
  const std::vector<std::uint32_t> expected{0,  20, 15, 30, 10, 25, 35, 5,  23, 8,  33, 28, 13, 3,
                                            38, 18, 6,  21, 1,  36, 16, 26, 11, 31, 34, 29, 19, 14,
                                            9,  4,  24, 39, 27, 22, 17, 12, 32, 7,  2,  37};
  EXPECT_EQ(sorted_like_numpy(weights), expected);
}

/// Of the result of np.argsort.
std::uint64_t hash_places(const std::vector<std::uint32_t>& places) {
  std::uint64_t digest = 0;
  for (const auto place : places) digest = digest * 1'000'003 + place;
  return digest;
}

TEST(GrowTest, many_equal_weights_lie_as_numpy_leaves_them_where_quicksort_goes_deep_too) {
  std::uint64_t state = 1;
  std::vector<double> random(200'000);
  for (double& w : random) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    w = static_cast<double>(state >> 52);
  }
  EXPECT_EQ(hash_places(sorted_like_numpy(random)), 10610577716544853372ULL);
  // The middle is nearly the least, again and again; three of each.
  std::vector<double> deep(4000);
  for (std::size_t i = 1; i <= 2000; ++i) {
    if (i % 2 == 1) deep[i - 1] = static_cast<double>(i), deep[i] = static_cast<double>(2000 + i);
    deep[2000 + i - 1] = static_cast<double>(2 * i);
  }
  for (double& w : deep) w = std::floor(w / 3);
  EXPECT_EQ(hash_places(sorted_like_numpy(deep)), 14327022160904941096ULL);
}

}  // namespace
