/// Tests of spanning trees of points of any dimension and metric, on any number of ranks, against all pairs.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/prim.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

void expect_exact(const Swarm& swarm, const msf::EuclideanOptions& options, const std::vector<int>& numbers) {
  const Edges expected = compute_tree(swarm, options.min_samples);
  for (const int ranks : numbers) {
    on_threads(ranks, [&](comm::Transport& t) {
      msf::Report report;
      const auto points = distribute(swarm, t, static_cast<std::uint64_t>(ranks));
      msf::EuclideanOptions leaves = options;
      leaves.leaf = ranks % 2 == 0 ? 0 : 6;  // small ones make trees of these few points deep
      const auto forest = msf::euclidean_forest(points, t, leaves, report);
      EXPECT_EQ(sorted(gathered(forest.edges, t)), expected)
          << swarm.name << ", " << msf::distances().name(swarm.space.metric) << " on " << ranks
          << " ranks, min samples " << options.min_samples;
    });
  }
}

const std::vector<std::string> kSwarms{"uniform", "lattice", "heaps", "equal", "line", "clusters"};

TEST(TreesOfAnyDimension, are_exact) {
  std::uint64_t seed = 0;
  for (const int dimension : {1, 2, 4, 5, 7, 8, 11, 16})
    for (const auto& shape : kSwarms) expect_exact(make_swarm(shape, dimension, 110, ++seed), {}, {1, 2, 3});
}

TEST(TreesOfAnyDimension, are_exact_with_mutual_reachability) {
  std::uint64_t seed = 100;
  for (const int dimension : {1, 4, 6, 9, 16})
    for (const auto& shape : kSwarms)
      for (const int min_samples : {2, 7}) {
        msf::EuclideanOptions options;
        options.min_samples = min_samples;
        options.neighbours = min_samples == 2 ? 3 : 8;
        expect_exact(make_swarm(shape, dimension, 90, ++seed), options, {1, 4});
      }
}

TEST(TreesOfAnyDimension, are_exact_on_many_ranks_and_with_many_points) {
  expect_exact(make_swarm("uniform", 8, 700, 1), {}, {1, 7});
  expect_exact(make_swarm("clusters", 5, 700, 2), {}, {2, 7});
  for (const std::size_t n : {0U, 1U, 2U, 5U}) expect_exact(make_swarm("uniform", 6, n, n), {}, {1, 2, 7});
}

TEST(TreesOfAnyDimension, go_around_periodic_axes) {
  for (const int dimension : {1, 4, 8})
    for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev}) {
      Swarm swarm = make_swarm("uniform", dimension, 120, 7);
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
      for (const auto& shape : kSwarms) {
        Swarm swarm = make_swarm(shape, dimension, 100, ++seed);
        swarm.space.metric = metric;
        expect_exact(swarm, {}, {1, 3});
        msf::EuclideanOptions options;
        options.min_samples = 5;
        expect_exact(swarm, options, {1, 2});
      }
}

TEST(TreesOfVeryManyDimensions, are_exact) {
  std::uint64_t seed = 300;
  for (const int dimension : {17, 40, 65})
    for (const auto& shape : kSwarms)
      for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev}) {
        Swarm swarm = make_swarm(shape, dimension, 90, ++seed);
        swarm.space.metric = metric;
        if (shape == "uniform") swarm.space.periods = {{0, 0, 1}, {dimension - 1, 0, 1}};
        msf::EuclideanOptions options;
        options.min_samples = seed % 2 == 0 ? 1 : 4;
        expect_exact(swarm, options, {1, 3});
      }
  for (const std::size_t n : {0U, 1U, 2U, 700U}) expect_exact(make_swarm("uniform", 20, n, n), {}, {1, 2, 7});
}

TEST(TreesOfVeryManyDimensions, say_what_they_cost_and_can_be_refused) {
  const Swarm swarm = make_swarm("uniform", 20, 100, 1);
  on_threads(2, [&](comm::Transport& t) {
    const auto points = distribute(swarm, t, 1);
    msf::Report report;
    msf::EuclideanOptions options;
    options.min_samples = 3;
    std::vector<msf::PairsForecast> forecasts;
    options.forecast = [&](const msf::PairsForecast& f) { forecasts.push_back(f); };
    options.most_distances = 100 * 99 / 2 + 100 * 100;
    (void)msf::euclidean_forest(points, t, options, report);
    ASSERT_EQ(forecasts.size(), t.rank() == 0 ? 1U : 0U);
    if (t.rank() == 0) {
      EXPECT_EQ(forecasts[0].points, 100U);
      EXPECT_EQ(forecasts[0].dimension, 20);
      EXPECT_EQ(forecasts[0].distances, 100 * 99 / 2 + 100 * 100);
      EXPECT_GT(forecasts[0].seconds, 0);
      EXPECT_GT(forecasts[0].rank_bytes, 50 * 20 * 8);
    }
    --options.most_distances;
    try {
      (void)msf::euclidean_forest(points, t, options, report);
      ADD_FAILURE() << "not refused";
    } catch (const UsageError& e) {
      EXPECT_EQ(
          std::string(e.what()).substr(0, 88),
          std::string("14,950 distances of 100 points in 20 dimensions, which are compared pair by pair: about "));
      EXPECT_NE(std::string(e.what()).find("; allowed: up to 14,949, or more with most_distances"), std::string::npos);
    }
    options.most_distances = 1 << 20;
    options.forecast = [](const msf::PairsForecast&) { throw UsageError("not today"); };
    EXPECT_THROW((void)msf::core_distances(points, 3, t, options, report), UsageError);
    options.most_distances = 1;
    for (const double core : msf::core_distances(points, 1, t, options, report))
      EXPECT_EQ(core, 0) << "a point alone, without any distance";
  });
}

TEST(TreesOfVeryManyDimensions, tell_how_far_they_are) {
  const Swarm swarm = make_swarm("uniform", 18, 600, 1);
  on_threads(2, [&](comm::Transport& t) {
    msf::Report report;
    std::vector<double> shares;
    report.progress = [&](std::string_view what, double share) {
      if (what == "pairs") shares.push_back(share);
    };
    (void)msf::euclidean_forest(distribute(swarm, t, 1), t, {}, report);
    // After 0, 256 and 512 of 600 points: pairs of points that are still outside of the tree are left.
    std::vector<double> expected;
    for (const double open : {600.0, 344.0, 88.0}) expected.push_back(1 - open / 600 * (open / 600));
    ASSERT_EQ(shares.size(), t.rank() == 0 ? 3U : 0U);
    for (std::size_t i = 0; i < shares.size(); ++i) EXPECT_NEAR(shares[i], expected[i], 1e-12);
  });
}

/// Places on the sphere as the definition has it, from angles in degrees.
std::vector<std::array<double, 3>> on_sphere(const Swarm& swarm) {
  std::vector<std::array<double, 3>> out;
  for (const auto& p : swarm.at) {
    const double latitude = p[0] * (3.14159265358979323846 / 180);
    const double longitude = p[1] * (3.14159265358979323846 / 180);
    out.push_back(
        {std::cos(latitude) * std::cos(longitude), std::cos(latitude) * std::sin(longitude), std::sin(latitude)});
  }
  return out;
}

Swarm places_on_earth(std::size_t n, std::uint64_t seed) {
  Swarm swarm{"earth", {}, {}};
  swarm.space = {2, msf::Distance::great_circle, msf::Angle::degrees, {}};
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i, 0);
    swarm.at.push_back({random.uniform(-89, 89), random.uniform(-179, 179)});
  }
  return swarm;
}

TEST(TreesOnTheSphere, are_those_of_great_circles) {
  const Swarm swarm = places_on_earth(200, 1);
  // The order is that of squared chords, and weights are their angles.
  Swarm chords{"chords", {}, {}};
  for (const auto& p : on_sphere(swarm)) chords.at.push_back({p[0], p[1], p[2]});
  for (const int min_samples : {1, 5}) {
    Edges expected = compute_tree(chords, min_samples);
    for (auto& e : expected)
      e.weight =
          graphs::ordered_bits(2 * std::asin(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight) / 2));
    msf::EuclideanOptions options;
    options.min_samples = min_samples;
    for (const int ranks : {1, 3})
      on_threads(ranks, [&](comm::Transport& t) {
        msf::Report report;
        const auto forest = msf::euclidean_forest(distribute(swarm, t, 1), t, options, report);
        EXPECT_EQ(sorted(gathered(forest.edges, t)), sorted(expected)) << ranks << " ranks";
      });
  }
}

TEST(TreesOnTheSphere, have_angles_as_weights_and_one_pole) {
  on_threads(1, [](comm::Transport& t) {
    msf::Report report;
    const auto weights = [&](const std::vector<double>& angles, msf::Angle unit) {
      const msf::Points points{{2, msf::Distance::great_circle, unit, {}}, angles, {}};
      std::vector<double> all;
      for (const auto& e : msf::euclidean_forest(points, t, {}, report).edges)
        all.push_back(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight));
      std::sort(all.begin(), all.end());
      return all;
    };
    const double pi = 3.14159265358979323846;
    const auto quarter = weights({0, 0, 0, 90, 0, -180}, msf::Angle::degrees);
    EXPECT_NEAR(quarter[0], pi / 2, 1e-15);
    EXPECT_NEAR(quarter[1], pi / 2, 1e-15);
    EXPECT_NEAR(weights({0, 0, 0, pi}, msf::Angle::radians)[0], pi, 1e-15) << "opposite places";
    EXPECT_EQ(weights({90, 0, 90, 77}, msf::Angle::degrees)[0], 0) << "a pole is one place";
    EXPECT_EQ(weights({10, -180, 10, 180, 10, 540}, msf::Angle::degrees), (std::vector<double>{0, 0}));
    EXPECT_NEAR(weights({0.5, 1, 0.5, 1 + 1e-9}, msf::Angle::radians)[0], 1e-9 * std::cos(0.5), 1e-15);
  });
}

/// Angle between two places in radians, with more digits than doubles have, also where they are opposite.
long double angle_between(const double* a, const double* b) {
  const long double half_turn = std::sin((static_cast<long double>(b[1]) - a[1]) / 2);
  const long double rise = std::sin((static_cast<long double>(b[0]) - a[0]) / 2);
  const long double level = std::sin((static_cast<long double>(b[0]) + a[0]) / 2);
  const long double other = std::cos((static_cast<long double>(b[1]) - a[1]) / 2);
  const long double away = std::cos((static_cast<long double>(b[0]) - a[0]) / 2);
  const long double near =
      rise * rise * other * other + std::pow(std::cos((b[0] + static_cast<long double>(a[0])) / 2) * half_turn, 2);
  const long double far = away * away * other * other + level * level * half_turn * half_turn;
  return 2 * std::atan2(std::sqrt(near), std::sqrt(far));
}

TEST(TreesOnTheSphere, keep_their_digits_at_antipodes) {
  on_threads(1, [](comm::Transport& t) {
    msf::Report report;
    Random random(7, 0, 0);
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < 300; ++i) {
      const double gap = std::pow(10.0, random.uniform(-12, 0));
      const double turn = random.uniform(0, 2 * pi);
      const double a[2] = {random.uniform(-1.2, 1.2), random.uniform(-3, 3)};
      const double b[2] = {-a[0] + 0.3 * gap * std::cos(turn), a[1] + pi + gap * std::sin(turn)};
      for (const bool swap : {false, true}) {
        const std::vector<double> places =
            swap ? std::vector<double>{b[0], b[1], a[0], a[1]} : std::vector<double>{a[0], a[1], b[0], b[1]};
        const msf::Points points{{2, msf::Distance::great_circle, msf::Angle::radians, {}}, places, {}};
        const auto forest = msf::euclidean_forest(points, t, {}, report);
        const double weight = graphs::weight_from_bits(graphs::WeightKind::float64, forest.edges[0].weight);
        ASSERT_NEAR(weight, static_cast<double>(angle_between(a, b)), 4e-15) << gap;
        msf::EuclideanOptions options;
        options.min_samples = 2;
        EXPECT_EQ(msf::euclidean_forest(points, t, options, report).edges[0].weight, forest.edges[0].weight);
        EXPECT_EQ(msf::prim(points, t, 1).edges[0].weight, forest.edges[0].weight);
      }
    }
  });
}

TEST(TreesOnTheSphere, of_two_opposite_caps_have_the_shortest_way_between_them) {
  Swarm caps{"caps", {}, {}};
  caps.space = {2, msf::Distance::great_circle, msf::Angle::radians, {}};
  Random random(8, 0, 0);
  for (int i = 0; i < 60; ++i) {
    const double side = i % 2 == 0 ? 0 : 3.14159265358979323846;
    caps.at.push_back({random.uniform(-1, 1) * 1e-7, side + random.uniform(-1, 1) * 1e-7});
  }
  long double shortest = 4;
  for (std::size_t i = 0; i < caps.at.size(); i += 2)
    for (std::size_t j = 1; j < caps.at.size(); j += 2)
      shortest = std::min(shortest, angle_between(caps.at[i].data(), caps.at[j].data()));
  for (const int ranks : {1, 3})
    on_threads(ranks, [&](comm::Transport& t) {
      msf::Report report;
      const Edges edges = gathered(msf::euclidean_forest(distribute(caps, t, 1), t, {}, report).edges, t);
      double longest = 0;
      for (const auto& e : edges)
        longest = std::max(longest, graphs::weight_from_bits(graphs::WeightKind::float64, e.weight));
      EXPECT_NEAR(longest, static_cast<double>(shortest), 2e-15) << ranks << " ranks";
    });
}

TEST(TreesOfBadPoints, are_refused_by_the_axis) {
  const auto says = [&](const msf::PointSpace& space, const std::vector<double>& coordinates, const std::string& part) {
    comm::run({"threads", 2}, [&](comm::Transport& t) {
      const msf::Points points{space, t.rank() == 1 ? coordinates : std::vector<double>(), {}};
      msf::Report report;
      const std::string what = refusal<InputError>([&] { (void)msf::euclidean_forest(points, t, {}, report); });
      EXPECT_NE(what.find(part + "; allowed: finite, within +-1e150"), std::string::npos) << what;
    });
  };
  says({2}, {1, 2, 3, NAN}, "coordinate nan of point 1 on axis 1 (y)");
  says({1}, {1, 2, -INFINITY}, "coordinate -inf of point 2 on axis 0 (x)");
  says({3}, {1, 2, 1e151}, "coordinate 1e+151 of point 0 on axis 2 (z)");
  says({5}, {1, 2, 3, 4, 5, 6, 7, 8, NAN, 10}, "coordinate nan of point 1 on axis 3 of 0 to 4");
  says({2, msf::Distance::great_circle}, {0, NAN}, "coordinate nan of point 0 on axis 1 (longitude)");
}

TEST(TreesOfBadPoints, are_refused) {
  on_threads(2, [](comm::Transport& t) {
    msf::Report report;
    const auto refused = [&](const msf::PointSpace& space, const std::vector<double>& coordinates) {
      const msf::Points points{space, t.rank() == 1 ? coordinates : std::vector<double>(), {}};
      EXPECT_THROW((void)msf::euclidean_forest(points, t, {}, report), InputError);
    };
    refused({0}, {});
    refused({-3}, {});
    refused({1 << 20}, {});
    refused({4}, {1, 2, 3});
    refused({7}, {1, 2, 3, 4, 5, 6, INFINITY});
    refused({3, msf::Distance::great_circle}, {1, 2, 3});
    refused({2, msf::Distance::great_circle, msf::Angle::radians, {{0, 0, 1}}}, {1, 2});
    refused({2, msf::Distance::great_circle, msf::Angle::radians}, {2, 2});
    refused({2, msf::Distance::great_circle, msf::Angle::degrees}, {-91, 2});
  });
}

TEST(TreesOfAnyDimension, are_those_of_the_slow_way_of_the_library) {
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {3, 9}) {
      Swarm swarm = make_swarm("lattice", dimension, 150, 3);
      swarm.space.metric = metric;
      const Edges expected = compute_tree(swarm, 4);
      on_threads(2, [&](comm::Transport& t) {
        EXPECT_EQ(sorted(gathered(msf::prim(distribute(swarm, t, 1), t, 4).edges, t)), expected) << swarm.name;
      });
    }
}

TEST(CoreDistancesInAnyDimension, of_any_dimension_and_metric_are_those_of_all_pairs) {
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const int dimension : {1, 5, 12})
      for (const int ranks : {1, 3}) {
        Swarm swarm = make_swarm("clusters", dimension, 100, 4);
        swarm.space.metric = metric;
        const auto expected = compute_cores(swarm, 6);
        on_threads(ranks, [&](comm::Transport& t) {
          const auto points = distribute(swarm, t, 2);
          msf::Report report;
          const auto cores = msf::core_distances(points, 6, t, {}, report);
          ASSERT_EQ(cores.size(), points.size());
          for (std::size_t i = 0; i < cores.size(); ++i)
            EXPECT_EQ(cores[i], swarm.weight(expected[points.ids[i]])) << dimension;
        });
      }
}

}  // namespace
