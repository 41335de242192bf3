/// Tests of spanning trees by cosine, correlation and Hamming distances, on any number of ranks, against their definitions.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/prim.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const std::vector<std::string> kRowShapes{"uniform", "lattice", "heaps", "equal", "line", "clusters"};

/// 1 less the cosine of the angle between two rows, or of the rows less their means, as the definition has it.
double cosine_distance(std::vector<double> a, std::vector<double> b, bool centred) {
  long double dot = 0;
  long double aa = 0;
  long double bb = 0;
  long double ma = 0;
  long double mb = 0;
  const auto n = static_cast<long double>(a.size());
  for (std::size_t i = 0; centred && i < a.size(); ++i) ma += a[i] / n, mb += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    dot += (a[i] - ma) * (b[i] - mb);
    aa += (a[i] - ma) * (a[i] - ma);
    bb += (b[i] - mb) * (b[i] - mb);
  }
  return static_cast<double>(1 - dot / std::sqrt(aa * bb));
}

/// Rows of which each has two different numbers, so that all metrics take them.
Swarm rows_of(const std::string& shape, int dimension, std::size_t n, std::uint64_t seed) {
  Swarm swarm = make_swarm(shape, dimension, n, seed);
  for (auto& row : swarm.at) row[0] += 1 + std::fabs(row.back());
  return swarm;
}

TEST(TreesOfDirections, are_those_of_cosines_and_correlations) {
  for (const auto metric : {msf::Distance::cosine, msf::Distance::correlation})
    for (const int dimension : {3, 8, 20}) {
      Swarm swarm = rows_of("uniform", dimension, 60, static_cast<std::uint64_t>(dimension));
      Edges all;
      for (std::size_t a = 0; a < swarm.at.size(); ++a)
        for (std::size_t b = a + 1; b < swarm.at.size(); ++b) {
          const double d = cosine_distance(swarm.at[a], swarm.at[b], metric == msf::Distance::correlation);
          all.push_back({a, b, graphs::ordered_bits(d)});
        }
      const Edges expected = sorted(plain_kruskal(std::move(all), swarm.at.size()));
      swarm.space.metric = metric;
      for (const int ranks : {1, 2, 3})
        on_threads(ranks, [&](comm::Transport& t) {
          msf::Report report;
          const auto forest = msf::euclidean_forest(distribute(swarm, t, 5), t, {}, report);
          const Edges found = sorted(gathered(forest.edges, t));
          ASSERT_EQ(found.size(), expected.size());
          for (std::size_t i = 0; i < found.size(); ++i) {
            EXPECT_EQ(found[i].low, expected[i].low);
            EXPECT_EQ(found[i].high, expected[i].high);
            EXPECT_NEAR(graphs::weight_from_bits(graphs::WeightKind::float64, found[i].weight),
                        graphs::weight_from_bits(graphs::WeightKind::float64, expected[i].weight), 2e-15);
          }
        });
    }
}

TEST(TreesOfDirections, are_those_of_all_pairs_of_their_coordinates) {
  std::uint64_t seed = 500;
  for (const auto metric : {msf::Distance::cosine, msf::Distance::correlation, msf::Distance::hamming})
    for (const int dimension : {2, 3, 7, 16, 40})
      for (const auto& shape : kRowShapes)
        for (const int min_samples : {1, 4}) {
          Swarm swarm = rows_of(shape, dimension, 80, ++seed);
          swarm.space.metric = metric;
          Random random(seed, 7, 0);
          if (metric == msf::Distance::hamming)
            for (auto& row : swarm.at)
              for (auto& x : row) x = static_cast<double>(random.below(2));
          msf::EuclideanOptions options;
          options.min_samples = min_samples;
          Edges expected;
          on_threads(1, [&](comm::Transport& t) {
            expected = sorted(msf::prim(distribute(swarm, t, 1), t, min_samples).edges);
          });
          for (const int ranks : {1, 2, 3})
            on_threads(ranks, [&](comm::Transport& t) {
              msf::Report report;
              const auto forest = msf::euclidean_forest(distribute(swarm, t, seed), t, options, report);
              EXPECT_EQ(sorted(gathered(forest.edges, t)), expected)
                  << swarm.name << ", " << msf::distances().name(metric) << " on " << ranks << " ranks";
            });
        }
}

TEST(TreesOfDirections, of_many_points_are_found_with_the_single_precision_filter_too) {
  // Rows of nearly one direction, whose chords are far below their coordinates, and equal chords of bits.
  std::uint64_t seed = 900;
  for (const auto metric : {msf::Distance::cosine, msf::Distance::correlation, msf::Distance::hamming})
    for (const int dimension : {5, 16})
      for (const double spread : {1.0, 1e-4, 1e-9})
        for (const int min_samples : {1, 6}) {
          Swarm swarm = rows_of("clusters", dimension, 700, ++seed);
          swarm.space.metric = metric;
          Random random(seed, 3, 0);
          for (std::size_t i = 0; i < swarm.at.size(); ++i)
            for (std::size_t a = 0; a < swarm.at[i].size(); ++a) {
              double& x = swarm.at[i][a];
              x = (i % 2 == a % 2 ? 3.0 : 1.0) + spread * x;
              if (metric == msf::Distance::hamming) x = static_cast<double>(random.below(2));
            }
          msf::EuclideanOptions options;
          options.min_samples = min_samples;
          Edges expected;
          on_threads(1, [&](comm::Transport& t) {
            expected = sorted(msf::prim(distribute(swarm, t, 1), t, min_samples).edges);
          });
          for (const int ranks : {1, 3})
            on_threads(ranks, [&](comm::Transport& t) {
              msf::Report report;
              const auto forest = msf::euclidean_forest(distribute(swarm, t, seed), t, options, report);
              EXPECT_EQ(sorted(gathered(forest.edges, t)), expected)
                  << msf::distances().name(metric) << " of spread " << spread << " on " << ranks << " ranks";
            });
        }
}

TEST(TreesOfDirections, give_the_core_distances_that_they_are_made_of) {
  std::uint64_t seed = 700;
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::cosine,
                            msf::Distance::correlation, msf::Distance::hamming})
    for (const int dimension : {3, 8, 20})
      for (const int min_samples : {1, 5}) {
        Swarm swarm = rows_of("uniform", dimension, 90, ++seed);
        swarm.space.metric = metric;
        Random random(seed, 7, 0);
        if (metric == msf::Distance::hamming)
          for (auto& row : swarm.at)
            for (auto& x : row) x = static_cast<double>(random.below(2));
        msf::EuclideanOptions options;
        options.min_samples = min_samples;
        for (const int ranks : {1, 3})
          on_threads(ranks, [&](comm::Transport& t) {
            msf::Report report;
            const auto points = distribute(swarm, t, seed);
            std::vector<double> cores;
            (void)msf::euclidean_forest(points, t, options, report, &cores);
            EXPECT_EQ(cores, msf::core_distances(points, min_samples, t, options, report))
                << msf::distances().name(metric) << ", " << dimension << " axes on " << ranks << " ranks";
          });
      }
}

TEST(TreesOfDirections, of_bits_count_those_that_differ) {
  msf::Points points{{}, {0, 0, 0, 1, 0, 0, 1, 1, 1}, {}};
  points.metric = msf::Distance::hamming;
  on_threads(1, [&](comm::Transport& t) {
    msf::Report report;
    const auto forest = msf::euclidean_forest(points, t, {}, report);
    const Edges expected{{0, 1, graphs::ordered_bits(1.0 / 3)}, {1, 2, graphs::ordered_bits(2.0 / 3)}};
    EXPECT_EQ(sorted(gathered(forest.edges, t)), sorted(expected));
    EXPECT_EQ(msf::core_distances(points, 2, t, {}, report), (std::vector<double>{1.0 / 3, 1.0 / 3, 2.0 / 3}));
  });
}

TEST(TreesOfDirections, need_rows_with_one) {
  const auto refusal_of = [](msf::Distance metric, std::vector<double> rows, bool periodic) {
    msf::Points points{{}, std::move(rows), {}};
    points.metric = metric;
    if (periodic) points.periods = {{0, 0, 1}};
    std::string text;
    on_threads(2, [&](comm::Transport& t) {
      msf::Report report;
      const msf::Points none{points, {}, {}};
      try {
        (void)msf::euclidean_forest(t.rank() == 0 ? points : none, t, {}, report);
      } catch (const InputError& e) {
        if (t.rank() == 0) text = e.what();
      }
    });
    return text;
  };
  using D = msf::Distance;
  EXPECT_NE(refusal_of(D::cosine, {1, 2, 3, 0, 0, 0}, false)
                .find("point 1: all coordinates 0; allowed with cosine distances: rows with one that is not 0"),
            std::string::npos);
  EXPECT_NE(refusal_of(D::correlation, {1, 2, 3, 0.1, 0.1, 0.1}, false)
                .find("point 1: all coordinates equal; allowed with correlation distances: rows with two different "
                      "coordinates"),
            std::string::npos);
  EXPECT_NE(refusal_of(D::hamming, {1, 0, 0.5}, false)
                .find("coordinate 0.5 of point 0; allowed with Hamming distances: 0 and 1"),
            std::string::npos);
  for (const auto metric : {D::cosine, D::correlation, D::hamming})
    EXPECT_NE(refusal_of(metric, {1, 0, 1}, true).find("distances with periodic axes; allowed: none"),
              std::string::npos);
  EXPECT_EQ(refusal_of(D::cosine, {1e150, 1e150, 1e150, 1e-100, 0, 0}, false), "");
  for (const auto metric : {D::cosine, D::correlation})  // small rows have directions too
    EXPECT_EQ(refusal_of(metric, {1e-145, 2e-145, 0, 3e-310, 0, 1e-310}, false), "");
}

}  // namespace
