/// Tests of spanning trees of points of many shapes, down to no points, for any number of ranks, threads and options.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/msf/euclidean.hpp"
#include "tests/msf/clouds.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

void expect_exact(const Cloud& cloud, const msf::EuclideanOptions& options, const std::vector<int>& numbers) {
  const Edges expected = compute_tree(cloud, options.min_samples);
  for (const int ranks : numbers) {
    on_threads(ranks, [&](comm::Transport& t) {
      msf::Report report;
      const auto forest =
          msf::euclidean_forest(distribute(cloud, t, static_cast<std::uint64_t>(ranks)), t, options, report);
      EXPECT_EQ(sorted(gathered(forest.edges, t)), expected)
          << cloud.name << " on " << ranks << " ranks, min samples " << options.min_samples;
    });
  }
}

const std::vector<std::string> kShapes{"uniform", "lattice", "heaps",    "line",   "steps",
                                       "equal",   "outlier", "clusters", "scales", "plates"};

TEST(EuclideanTrees, of_every_shape_are_exact) {
  std::uint64_t seed = 0;
  for (const auto& shape : kShapes)
    for (const int dimension : {2, 3})
      for (const int neighbours : {1, 3, 8}) {
        msf::EuclideanOptions options;
        options.neighbours = neighbours;
        options.leaf = neighbours == 3 ? 4 : 16;
        expect_exact(make_cloud(shape, dimension, 120, ++seed), options, {1, 2, 5});
      }
}

TEST(EuclideanTrees, of_every_shape_are_exact_with_mutual_reachability) {
  std::uint64_t seed = 100;
  for (const auto& shape : kShapes)
    for (const int min_samples : {2, 4, 20, 90}) {
      msf::EuclideanOptions options;
      options.min_samples = min_samples;
      options.neighbours = min_samples == 4 ? 2 : 8;
      expect_exact(make_cloud(shape, 2 + min_samples % 3 % 2, 90, ++seed), options, {1, 3});
    }
}

// Two ranks have a part each, whose points would all ask for the nearest point of the other part: one of them goes first.
TEST(EuclideanTrees, of_two_parts_far_apart_are_exact) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Cloud cloud = make_cloud("uniform", 3, 600, 900 + seed);
    for (std::size_t i = 0; i < cloud.at.size(); i += 2) cloud.at[i][seed % 3] += 1.5;
    msf::EuclideanOptions options;
    options.min_samples = seed % 2 == 0 ? 4 : 1;
    expect_exact(cloud, options, {2, 3});
  }
}

TEST(EuclideanTrees, in_boxes_periodic_along_any_axes_are_exact) {
  for (unsigned axes = 1; axes < 8; ++axes)
    for (const auto* shape : {"uniform", "lattice", "clusters"}) {
      Cloud cloud = make_cloud(shape, axes < 4 ? 2 : 3, 110, axes);
      cloud.periodic = {(axes & 1U) != 0, (axes & 2U) != 0, (axes & 4U) != 0};
      msf::EuclideanOptions options;
      options.min_samples = axes == 5 ? 3 : 1;
      expect_exact(cloud, options, {1, 2, 4});
    }
}

TEST(EuclideanTrees, of_few_points_on_many_ranks_are_exact) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 5U}) expect_exact(make_cloud("uniform", 3, n, n), {}, {1, 2, 7, 8});
}

TEST(EuclideanTrees, do_not_depend_on_the_order_of_points_or_on_threads) {
  const Cloud cloud = make_cloud("clusters", 3, 20000, 1);
  std::vector<std::string> digests;
  for (const int threads : {1, 3})
    for (const int ranks : {1, 3}) {
      msf::EuclideanOptions options;
      options.threads = threads;
      on_threads(ranks, [&](comm::Transport& t) {
        msf::Report report;
        const auto seed = static_cast<std::uint64_t>(threads);
        const auto all = msf::totals(msf::euclidean_forest(distribute(cloud, t, seed), t, options, report), t);
        if (t.rank() == 0) digests.push_back(all.digest);
        EXPECT_EQ(all.components, 1);
      });
    }
  for (const auto& digest : digests) EXPECT_EQ(digest, digests.front());
}

TEST(EuclideanTrees, take_coordinates_beyond_a_period_to_be_inside) {
  Cloud cloud = make_cloud("uniform", 2, 60, 3);
  for (auto& p : cloud.at)
    for (auto& x : p) x = std::floor(x * 1024) / 1024;
  cloud.periodic = {true, true, false};
  const Edges expected = compute_tree(cloud, 1);
  on_threads(2, [&](comm::Transport& t) {
    auto points = distribute(cloud, t, 1);
    points.periods[0].lower = -2;
    points.periods[1].lower = 3;
    for (std::size_t i = 0; i < points.coordinates.size(); ++i)
      points.coordinates[i] += static_cast<double>(points.ids[i / 2] % 7) - 3;
    msf::Report report;
    EXPECT_EQ(sorted(gathered(msf::euclidean_forest(points, t, {}, report).edges, t)), expected);
  });
}

/// The points of a rank as the numbers say: rank r has `counts[r]` of them.
msf::Points numbered(const Cloud& cloud, const std::vector<std::size_t>& counts, int rank) {
  msf::Points points;
  points.dimension = cloud.dimension;
  const auto r = static_cast<std::size_t>(rank);
  const std::size_t first = std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
  for (std::size_t i = first; i < first + counts[r]; ++i)
    for (std::size_t a = 0; a < static_cast<std::size_t>(cloud.dimension); ++a)
      points.coordinates.push_back(cloud.at[i][a]);
  return points;
}

TEST(EuclideanTrees, of_points_without_ids_number_them_by_rank_then_place) {
  const Cloud cloud = make_cloud("lattice", 3, 100, 5);
  const Edges expected = compute_tree(cloud, 2);
  msf::EuclideanOptions options;
  options.min_samples = 2;
  on_threads(3, [&](comm::Transport& t) {
    const auto points = numbered(cloud, {40, 0, 60}, t.rank());
    msf::Report report;
    EXPECT_EQ(sorted(gathered(msf::euclidean_forest(points, t, options, report).edges, t)), expected);
  });
}

TEST(EuclideanTrees, refuse_ids_on_some_ranks_only_and_bad_periods) {
  const Cloud cloud = make_cloud("uniform", 2, 60, 5);
  on_threads(2, [&](comm::Transport& t) {
    msf::Report report;
    const auto refused = [&](const msf::Points& points) {
      EXPECT_THROW((void)msf::euclidean_forest(points, t, {}, report), InputError);
    };
    auto points = numbered(cloud, {30, 30}, t.rank());
    if (t.rank() == 1)
      for (std::uint64_t id = 30; id < 60; ++id) points.ids.push_back(id);
    refused(points);
    points.ids.clear();
    for (const auto& periods : std::vector<std::vector<msf::Period>>{
             {{2, 0, 1}}, {{-1, 0, 1}}, {{0, 0, 0}}, {{0, 0, std::nan("")}}, {{1, 1e151, 1}}, {{0, 0, 1}, {0, 0, 2}}}) {
      points.periods = periods;
      refused(points);
    }
  });
}

TEST(CoreDistances, are_those_of_all_pairs_in_the_order_of_the_points) {
  for (const auto& shape : kShapes)
    for (const int k : {1, 2, 3, 7})
      for (const int ranks : {1, 4}) {
        const Cloud cloud = make_cloud(shape, 3, 90, 11);
        const auto expected = compute_core_squares(cloud, k);
        on_threads(ranks, [&](comm::Transport& t) {
          const auto points = distribute(cloud, t, 2);
          msf::Report report;
          const auto cores = msf::core_distances(points, k, t, {}, report);
          ASSERT_EQ(cores.size(), points.size());
          for (std::size_t i = 0; i < cores.size(); ++i)
            EXPECT_EQ(cores[i], std::sqrt(expected[points.ids[i]])) << shape << ", k " << k;
        });
      }
}

}  // namespace
