/// Tests of spanning trees whose distances are divided by alpha where they are compared with core distances.
#include <gtest/gtest.h>

#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/prim.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Weights of all pairs by their definition, max(d / alpha, core, core).
struct Weights {
  std::size_t count;
  std::vector<double> weight;

  Weights(const Swarm& swarm, int samples, double alpha) : count(swarm.at.size()), weight(count * count) {
    const auto cores = compute_cores(swarm, samples);
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t q = 0; q < count; ++q)
        weight[p * count + q] =
            std::max({swarm.weight(swarm.compared(p, q)) / alpha, swarm.weight(cores[p]), swarm.weight(cores[q])});
  }
  [[nodiscard]] double at(std::size_t p, std::size_t q) const { return weight[p * count + q]; }
  /// The ascending weights of a minimum spanning tree, which are those of all of them.
  [[nodiscard]] std::vector<double> of_tree() const {
    Edges all;
    for (std::size_t p = 0; p < count; ++p)
      for (std::size_t q = p + 1; q < count; ++q) all.push_back({p, q, graphs::ordered_bits(at(p, q))});
    std::vector<double> weights;
    for (const auto& e : plain_kruskal(std::move(all), count))
      weights.push_back(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight));
    return weights;
  }
  /// Prim's algorithm from point 0: the nearest point to the tree, of equal ones the lowest.
  [[nodiscard]] std::vector<msf::GrownEdge> prim() const {
    std::vector<double> least(count, std::numeric_limits<double>::infinity());
    std::vector<std::uint32_t> from(count);
    std::vector<bool> inside(count);
    std::vector<msf::GrownEdge> edges;
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

/// Compares the weights of a tree with those by the definition, but for the rounding of alpha times a core distance by alpha.
void expect_weights(const Edges& edges, const std::vector<double>& expected) {
  std::vector<double> found;
  for (const auto& e : edges) found.push_back(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight));
  std::sort(found.begin(), found.end());
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 4e-16 * expected[i]);
}

TEST(AlphaTest, trees_have_the_weights_of_the_definition_and_one_answer_on_any_ranks) {
  std::uint64_t seed = 0;
  int differ = 0;
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {1, 3, 6, 19})
      for (const auto* shape : {"uniform", "lattice", "heaps"})
        for (const int samples : {1, 5, 20})
          for (const double alpha : {0.25, 0.8, 1.0, 1.3, 3.0}) {
            Swarm swarm = make_swarm(shape, dimension, 70, ++seed);
            swarm.space.metric = metric;
            if (dimension == 3) swarm.space.periods = {{1, 0, 1}};
            SCOPED_TRACE(swarm.name + " " + msf::distances().name(metric) + " " + std::to_string(samples) + " alpha " +
                         std::to_string(alpha));
            msf::EuclideanOptions options;
            options.min_samples = samples;
            Edges plain;
            Edges first;
            on_threads(1, [&](comm::Transport& t) {
              msf::Report report;
              plain = sorted(msf::euclidean_forest(distribute(swarm, t, seed), t, options, report).edges);
              first = sorted(msf::prim(distribute(swarm, t, 1), t, samples, alpha).edges);
            });
            options.alpha = alpha;
            expect_weights(first, Weights(swarm, samples, alpha).of_tree());
            differ += static_cast<int>(plain != first);
            const int ranks = std::array{1, 2, 3, 4, 7}[seed % 5];
            for (const int many : {1, ranks})
              on_threads(many, [&](comm::Transport& t) {
                msf::Report report;
                const auto forest = msf::euclidean_forest(distribute(swarm, t, seed), t, options, report);
                EXPECT_EQ(sorted(gathered(forest.edges, t)), first) << many << " ranks";
              });
          }
  EXPECT_GT(differ, 200);
}

TEST(AlphaTest, threads_that_share_rounds_find_the_tree_though_core_distances_are_far_from_those_of_neighbours) {
  // Times 0.25 a point's neighbours are farther than its core distance, times 3 all in its list may be nearer.
  std::uint64_t seed = 400;
  for (const int dimension : {3, 6})
    for (const auto* shape : {"uniform", "clusters", "lattice"})
      for (const int samples : {2, 5, 15})
        for (const double alpha : {0.25, 3.0}) {
          const Swarm swarm = make_swarm(shape, dimension, 1600, ++seed);
          SCOPED_TRACE(swarm.name + " " + std::to_string(samples) + " alpha " + std::to_string(alpha));
          on_threads(1, [&](comm::Transport& t) {
            const auto points = distribute(swarm, t, seed);
            msf::EuclideanOptions options;
            options.min_samples = samples;
            options.alpha = alpha;
            options.threads = 3;
            options.leaf = 4;
            msf::Report report;
            EXPECT_EQ(sorted(msf::euclidean_forest(points, t, options, report).edges),
                      sorted(msf::prim(points, t, samples, alpha).edges));
          });
        }
}

TEST(AlphaTest, edges_of_equal_weight_come_in_the_order_of_prims_algorithm_on_all_pairs) {
  // Powers of two, so that weights by the definition are those of the library to the last bit.
  std::uint64_t seed = 0;
  for (const double alpha : {0.5, 2.0})
    for (const int dimension : {1, 2, 3, 19})
      for (const auto* shape : {"lattice", "uniform"})
        for (const int samples : {1, 3, 6}) {
          const Swarm swarm = make_swarm(shape, dimension, 70, ++seed);
          SCOPED_TRACE(swarm.name + " " + std::to_string(samples) + " alpha " + std::to_string(alpha));
          const auto expected = Weights(swarm, samples, alpha).prim();
          for (const int ranks : {1, 3})
            on_threads(ranks, [&](comm::Transport& t) {
              msf::EuclideanOptions options;
              options.min_samples = samples;
              options.alpha = alpha;
              msf::Report report;
              const auto points = distribute(swarm, t, seed);
              std::vector<double> cores;
              const auto forest = gather_forest(msf::euclidean_forest(points, t, options, report, &cores), t);
              const auto kept = msf::gather_points(points, cores, t, options);
              const auto found = msf::gather_points(points, t, options, report);
              if (t.rank() != 0) return;
              const auto growth = msf::grow(forest, kept);
              EXPECT_TRUE(growth.exact);
              EXPECT_EQ(growth.edges, expected);
              EXPECT_EQ(msf::grow(forest, found).edges, expected);
            });
        }
}

TEST(AlphaTest, other_values_than_powers_of_two_find_all_edges_of_equal_weight) {
  // The core distances of the gathered points are rounded as the weights of the tree, or the search would miss its own edges.
  std::uint64_t seed = 70;
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::great_circle, msf::Distance::cosine})
    for (const double alpha : {0.7, 1.1, 1.9})
      for (const int samples : {2, 5}) {
        Swarm swarm = make_swarm("uniform", 2, 120, ++seed);
        swarm.space.metric = metric;
        for (auto& p : swarm.at) p[0] += 0.1;
        on_threads(2, [&](comm::Transport& t) {
          msf::EuclideanOptions options;
          options.min_samples = samples;
          options.alpha = alpha;
          msf::Report report;
          const auto points = distribute(swarm, t, seed);
          std::vector<double> cores;
          const auto forest = gather_forest(msf::euclidean_forest(points, t, options, report, &cores), t);
          const auto all = msf::gather_points(points, cores, t, options);
          if (t.rank() != 0) return;
          const auto growth = msf::grow(forest, all);
          EXPECT_TRUE(growth.exact);
          Edges grown;
          for (const auto& e : growth.edges)
            grown.push_back(graphs::make_edge<graphs::Edge24>(e.from, e.to, graphs::ordered_bits(e.weight)));
          std::vector<std::uint64_t> mine, theirs;
          for (const auto& e : grown) mine.push_back(e.weight);
          for (const auto& e : forest.edges) theirs.push_back(e.weight);
          std::sort(mine.begin(), mine.end());
          std::sort(theirs.begin(), theirs.end());
          EXPECT_EQ(mine, theirs) << msf::distances().name(metric) << ' ' << alpha;
        });
      }
}

TEST(AlphaTest, values_out_of_range_and_core_distances_beyond_the_sphere_are_refused) {
  for (const int ranks : {1, 2})
    on_threads(ranks, [&](comm::Transport& t) {
      msf::EuclideanOptions options;
      msf::Report report;
      const Swarm swarm = make_swarm("uniform", 3, 30, 1);
      for (const double alpha : {0.0, -1.0, 1001.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        options.alpha = alpha;
        const auto points = distribute(swarm, t, 1);
        EXPECT_THROW((void)msf::euclidean_forest(points, t, options, report), UsageError) << alpha;
        EXPECT_THROW((void)msf::prim(points, t, 1, alpha), UsageError) << alpha;
        EXPECT_THROW((void)msf::gather_points(points, t, options, report), UsageError) << alpha;
        EXPECT_THROW((void)msf::gather_points(points, std::vector<double>{}, t, options), UsageError) << alpha;
      }
      Swarm far{"poles", {}, {{1.5, 0}, {-1.5, 0}, {1.4, 1}}};
      far.space.dimension = 2;
      far.space.metric = msf::Distance::great_circle;
      options.alpha = 1.5;
      options.min_samples = 3;
      const auto poles = distribute(far, t, 1);
      EXPECT_THROW((void)msf::euclidean_forest(poles, t, options, report), InputError);
      EXPECT_THROW((void)msf::prim(poles, t, 3, 1.5), InputError);
      EXPECT_THROW((void)msf::gather_points(poles, t, options, report), InputError);
      Swarm huge{"huge", {}, {{-1e150}, {1e150}, {0}}};
      huge.space.dimension = 1;
      options.alpha = 1000;
      EXPECT_NO_THROW((void)msf::euclidean_forest(distribute(huge, t, 1), t, options, report));
      options.alpha = 1 + t.rank() * 0.5;
      if (t.size() > 1) {
        const auto points = distribute(swarm, t, 1);
        EXPECT_THROW((void)msf::euclidean_forest(points, t, options, report), Error);
        EXPECT_THROW((void)msf::prim(points, t, 1, options.alpha), Error);
        EXPECT_THROW((void)msf::gather_points(points, std::vector<double>{}, t, options), Error);
      }
    });
}

}  // namespace
