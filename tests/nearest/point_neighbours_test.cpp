/// Tests of the lists of nearest points that a tree of boxes finds, against all pairs.
#include "merganser/nearest/point_neighbours.hpp"

#include <gtest/gtest.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <cmath>
#include <map>
#include <mutex>

#include "merganser/base/random.hpp"
#include "tests/nearest/tree_shapes.hpp"
#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using namespace merganser::nearest;

template <std::size_t D>
void expect_neighbours(const std::vector<std::vector<double>>& points, const Metric<D>& metric, std::uint32_t keep,
                       bool with_cores, int threads, std::uint32_t fold = 3, std::uint32_t leaf = 5) {
  auto items = make_items<D>(points);
  const PointTree<D> tree(items, metric, leaf, fold);
  std::vector<double> cores(tree.size() + 16, 0);
  Random random(keep, 4, 0);
  for (std::uint32_t v = 0; v < tree.size(); ++v) cores[v] = 0.1 * std::floor(random.uniform() * 4);
  std::mutex guard;
  std::vector<int> times(tree.size());
  find_neighbours(tree, {keep, with_cores ? cores.data() : nullptr, threads}, [&](const LeafResult& found) {
    const std::lock_guard lock(guard);
    ASSERT_GE(found.row, keep);
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::uint32_t v = found.first + q;
      ++times[v];
      std::vector<std::tuple<double, std::uint64_t, std::uint64_t>> expected;
      for (std::uint32_t u = 0; u < tree.size(); ++u) {
        if (u == v) continue;
        const double d2 = metric.distance2(tree.at(v), tree.at(u));
        expected.emplace_back(with_cores ? std::max({d2, cores[u], cores[v]}) : d2, tree.id(u), u);
      }
      std::sort(expected.begin(), expected.end());
      for (std::uint32_t i = 0; i < keep; ++i) {
        const std::size_t at = static_cast<std::size_t>(q) * found.row + i;
        if (i >= expected.size()) {
          ASSERT_EQ(found.distance2[at], kInfinity) << "missing";
        } else {
          ASSERT_EQ(found.distance2[at], std::get<0>(expected[i])) << "neighbour " << i;
          ASSERT_EQ(found.point[at], std::get<2>(expected[i])) << "neighbour " << i;
        }
      }
    }
  });
  ASSERT_EQ(times, std::vector<int>(tree.size(), 1)) << "each point once";
}

/// Compares the lists of points of a shape in a box, which is periodic on its last axis or not.
template <std::size_t D>
void expect_neighbours_of(const TreeShape& shape, int dimension, Norm norm, bool with_cores, std::uint64_t seed) {
  Metric<D> metric;
  metric.norm = norm;
  metric.any_period = seed % 2 == 0;
  if (metric.any_period) metric.period[static_cast<std::size_t>(dimension) - 1] = 1;
  const auto points = test::make_points(shape.shape, dimension, shape.points, seed);
  expect_neighbours<D>(points, metric, static_cast<std::uint32_t>(1 + seed % 11), with_cores, 1);
}

#if defined(__x86_64__)
// Code compiled with -ffast-math sets this mode for a whole process. Keys of equal points would be denormal numbers.
TEST(FindNeighboursTest, equal_points_are_found_where_the_processor_takes_denormal_numbers_as_0) {
  constexpr unsigned kDenormalsAreZero = 0x40;
  const unsigned mode = _mm_getcsr();
  auto points = test::make_points("uniform", 3, 600, 1);
  for (std::size_t i = 0; i + 2 < points.size(); i += 10) points[i + 2] = points[i + 1] = points[i];
  _mm_setcsr(mode | kDenormalsAreZero);
  for (const std::uint32_t keep : {5U, 8U, 13U}) expect_neighbours<3>(points, Metric<3>(), keep, false, 1, 1'000);
  _mm_setcsr(mode);
}
#endif

TEST(FindNeighboursTest, lists_are_the_nearest_of_all_points_by_distance_then_id) {
  std::uint64_t seed = 0;
  for (const TreeShape& shape : kTrees)
    for (const auto norm : {Norm::squares, Norm::sum, Norm::most})
      for (const bool with_cores : {false, true}) {
        SCOPED_TRACE(std::string(shape.shape) + " of " + std::to_string(shape.points));
        expect_neighbours_of<3>(shape, 2, norm, with_cores, ++seed);
        expect_neighbours_of<3>(shape, 3, norm, with_cores, ++seed);
        expect_neighbours_of<8>(shape, 8, norm, with_cores, ++seed);
      }
}

// Keys are of single precision, relative to a leaf.
TEST(FindNeighboursTest, lists_are_exact_where_single_precision_tells_little) {
  using Points = std::vector<std::vector<double>>;
  const auto changed = [](const char* shape, int axes, const auto& change) {
    Points points = test::make_points(shape, axes, 300, 9);
    Random random(9, 1, 0);
    for (std::size_t i = 0; i < points.size(); ++i)
      for (double& x : points[i]) x = change(x, random.uniform(), i);
    return points;
  };
  for (const int axes : {2, 3}) {
    const std::map<std::string, Points> sets{
        {"near ties", changed("lattice", axes, [](double x, double r, std::size_t) { return x + 1e-9 * r; })},
        {"far from 0", changed("uniform", axes, [](double x, double, std::size_t) { return x + 1e9; })},
        {"tiny", changed("uniform", axes, [](double x, double, std::size_t) { return x * 1e-120; })},
        {"small", changed("uniform", axes, [](double x, double, std::size_t) { return x * 1e-90; })},
        {"large", changed("uniform", axes, [](double x, double, std::size_t) { return x * 1e90; })},
        {"huge", changed("uniform", axes, [](double x, double, std::size_t) { return x * 1e120; })},
        {"heaps", changed("uniform", axes,
                          [](double x, double r, std::size_t i) {
                            return std::floor(3 * x) + 1e-7 * r / (1 + static_cast<double>(i % 5));
                          })},
        {"one far away", changed("uniform", axes, [](double x, double, std::size_t i) { return i == 7 ? 1e20 : x; })},
        {"many scales", changed("uniform", axes, [](double x, double, std::size_t i) {
           return std::ldexp(x, -static_cast<int>(i % 200));
         })}};
    test::with_all_vectors([&] {
      for (const auto& [name, points] : sets)
        for (const std::uint32_t leaf : {5U, 48U})
          for (const std::uint32_t keep : {1U, 8U, 13U, 16U}) {
            SCOPED_TRACE(name + ", leaf " + std::to_string(leaf) + ", keep " + std::to_string(keep));
            expect_neighbours<3>(points, Metric<3>(), keep, false, 1, 1000, leaf);
          }
    });
  }
}

// Points with heavy tails: to the queries of some leaves more candidates are near than a key can number.
TEST(FindNeighboursTest, lists_are_exact_where_many_points_are_near_a_leaf) {
  Random random(5, 1, 0);
  std::vector<std::vector<double>> points(4000, std::vector<double>(3));
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * 3.14159265 * random.uniform());
  };
  for (auto& p : points) {
    for (double& x : p) x = std::exp(6 * normal()) * normal();
  }
  expect_neighbours<3>(points, Metric<3>(), 16, false, 1, 1000, 64);
}

TEST(FindNeighboursTest, threads_share_the_leaves_and_the_caller_hears_of_progress) {
  expect_neighbours<3>(test::make_points("uniform", 3, 2000, 5), {}, 4, true, 4);
  auto items = make_items<3>(test::make_points("uniform", 3, 1009, 6));
  const PointTree<3> tree(items, {}, 4, 2);
  std::vector<double> shares;
  const auto caller = std::this_thread::get_id();
  find_neighbours(tree,
                  {1, nullptr, 1,
                   [&](double share) {
                     EXPECT_TRUE(std::this_thread::get_id() == caller);
                     shares.push_back(share);
                   }},
                  [](const LeafResult&) {});
  EXPECT_EQ(shares.size(), (tree.leaves().size() + 511) / 512);
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.front(), 0);
  EXPECT_LT(shares.back(), 1);
}

}  // namespace
