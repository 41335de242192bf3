/// Trees of points of any dimension and metric, for any number of ranks, against all pairs.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/prim.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

void expect_exact(const Swarm& swarm, const msf::EuclideanOptions& options, const std::vector<int>& numbers) {
  const Edges expected = tree_of(swarm, options.min_samples);
  for (const int ranks : numbers) {
    on_threads(ranks, [&](comm::Transport& t) {
      msf::Report report;
      const auto points = dealt(swarm, t, static_cast<std::uint64_t>(ranks));
      const auto forest = msf::euclidean_forest(points, t, options, report);
      EXPECT_EQ(sorted(gathered(forest.edges, t)), expected)
          << swarm.name << ", " << msf::distances().name(swarm.space.metric) << " on " << ranks
          << " ranks, min samples " << options.min_samples;
    });
  }
}

const std::vector<std::string> kShapes{"uniform", "lattice", "heaps", "equal", "line", "clusters"};

TEST(TreesOfAnyDimension, are_exact) {
  std::uint64_t seed = 0;
  for (const int dimension : {1, 2, 4, 5, 7, 8, 11, 16})
    for (const auto& shape : kShapes) expect_exact(swarm_of(shape, dimension, 110, ++seed), {}, {1, 2, 3});
}

TEST(TreesOfAnyDimension, are_exact_with_mutual_reachability) {
  std::uint64_t seed = 100;
  for (const int dimension : {1, 4, 6, 9, 16})
    for (const auto& shape : kShapes)
      for (const int min_samples : {2, 7}) {
        msf::EuclideanOptions options;
        options.min_samples = min_samples;
        options.neighbours = min_samples == 2 ? 3 : 8;
        expect_exact(swarm_of(shape, dimension, 90, ++seed), options, {1, 4});
      }
}

TEST(TreesOfAnyDimension, are_exact_on_many_ranks_and_with_many_points) {
  expect_exact(swarm_of("uniform", 8, 700, 1), {}, {1, 7});
  expect_exact(swarm_of("clusters", 5, 700, 2), {}, {2, 7});
  for (const std::size_t n : {0U, 1U, 2U, 5U}) expect_exact(swarm_of("uniform", 6, n, n), {}, {1, 2, 7});
}

TEST(TreesOfAnyDimension, go_around_periodic_axes) {
  for (const int dimension : {1, 4, 8})
    for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev}) {
      Swarm swarm = swarm_of("uniform", dimension, 120, 7);
      swarm.space.metric = metric;
      for (int a = 0; a < dimension; a += 3) swarm.space.periods.push_back({a, 0, 1});
      msf::EuclideanOptions options;
      options.min_samples = dimension == 4 ? 4 : 1;
      expect_exact(swarm, options, {1, 3});
    }
}

TEST(TreesOfOtherMetrics, are_exact) {
  std::uint64_t seed = 200;
  for (const auto metric : {msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {1, 2, 3, 4, 8, 13})
      for (const auto& shape : kShapes) {
        Swarm swarm = swarm_of(shape, dimension, 100, ++seed);
        swarm.space.metric = metric;
        expect_exact(swarm, {}, {1, 3});
        msf::EuclideanOptions options;
        options.min_samples = 5;
        expect_exact(swarm, options, {1, 2});
      }
}

TEST(TreesOfAnyDimension, are_those_of_the_slow_way_of_the_library) {
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {3, 9}) {
      Swarm swarm = swarm_of("lattice", dimension, 150, 3);
      swarm.space.metric = metric;
      const Edges expected = tree_of(swarm, 4);
      on_threads(2, [&](comm::Transport& t) {
        EXPECT_EQ(sorted(gathered(msf::prim(dealt(swarm, t, 1), t, 4).edges, t)), expected) << swarm.name;
      });
    }
}

TEST(CoreDistances, of_any_dimension_and_metric_are_those_of_all_pairs) {
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {1, 5, 12})
      for (const int ranks : {1, 3}) {
        Swarm swarm = swarm_of("clusters", dimension, 100, 4);
        swarm.space.metric = metric;
        const auto expected = cores_of(swarm, 6);
        on_threads(ranks, [&](comm::Transport& t) {
          const auto points = dealt(swarm, t, 2);
          msf::Report report;
          const auto cores = msf::core_distances(points, 6, t, {}, report);
          ASSERT_EQ(cores.size(), points.size());
          for (std::size_t i = 0; i < cores.size(); ++i)
            EXPECT_EQ(cores[i], swarm.weight(expected[points.ids[i]])) << dimension;
        });
      }
}

}  // namespace
