/// Nearest neighbours of all points of a tree, which a single-precision filter finds where it can, against sorted lists of all
/// points, with every kind of vectors.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "merganser/base/numbers.hpp"
#include "merganser/base/random.hpp"
#include "merganser/nearest/filter_points.hpp"
#include "tests/support/vectors.hpp"

namespace filter_test {

using namespace merganser;
using test::with_all_vectors;

/// How points of a cloud are made: uniform, on a lattice of few steps, with equal points, on many scales, or tiny.
enum class Kind : std::uint8_t { uniform, lattice, equal, scales, tiny, far };

/// Returns a cloud of n points with coordinates on `axes` of D axes.
template <std::size_t D>
std::vector<nearest::IdentifiedPoint<D>> make_cloud(Kind kind, std::size_t n, std::size_t axes, std::uint64_t seed) {
  std::vector<nearest::IdentifiedPoint<D>> points(n);
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i, 0);
    points[i].id = (i * 7919) % 10007;
    points[i].at = {};
    const double scale = kind == Kind::scales ? std::ldexp(1.0, -static_cast<int>(random.below(60))) : 1;
    for (std::size_t a = 0; a < axes; ++a) {
      double x = random.uniform();
      if (kind == Kind::lattice) x = std::floor(3 * x);
      if (kind == Kind::equal) x = i % 3 == 0 ? x : std::floor(2 * x) / 8;
      if (kind == Kind::scales) x *= scale;
      if (kind == Kind::tiny) x = 1 + x * 0x1p-48;
      if (kind == Kind::far && i == 0) x = 1e12;
      points[i].at[a] = x;
    }
  }
  return points;
}

/// Point of a sorted list.
struct Neighbour {
  double distance2;
  std::uint64_t id;
  friend bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : a.id < b.id;
  }
};

/// Expects the `keep` nearest neighbours of every point of a cloud as sorting all points gives them.
template <std::size_t D>
void expect_nearest(Kind kind, std::size_t n, std::size_t axes, std::uint32_t keep, std::uint64_t seed) {
  auto items = make_cloud<D>(kind, n, axes, seed);
  const nearest::PointTree<D> tree(items, {}, 8 + static_cast<std::uint32_t>(seed % 56), 4096);
  ASSERT_EQ(tree.size(), n);
  std::size_t seen = 0;
  nearest::find_neighbours(tree, {keep, nullptr, 1}, [&](const nearest::LeafResult& found) {
    for (std::uint32_t q = 0; q < found.count; ++q, ++seen) {
      const std::uint32_t v = found.first + q;
      std::vector<Neighbour> all;
      for (std::uint32_t u = 0; u < tree.size(); ++u)
        if (u != v) all.push_back({tree.distance2(v, u), tree.id(u)});
      std::sort(all.begin(), all.end());
      for (std::uint32_t i = 0; i < keep; ++i) {
        const std::size_t at = std::size_t{q} * found.row + i;
        if (i >= all.size()) {
          ASSERT_EQ(found.distance2[at], kInfinity);
          continue;
        }
        ASSERT_EQ(found.distance2[at], all[i].distance2) << D << " axes, point " << v << ", neighbour " << i;
        ASSERT_EQ(tree.id(static_cast<std::uint32_t>(found.point[at])), all[i].id);
      }
    }
  });
  EXPECT_EQ(seen, n);
}

constexpr Kind kKinds[] = {Kind::uniform, Kind::lattice, Kind::equal, Kind::scales, Kind::tiny, Kind::far};

TEST(Filter, finds_the_nearest_of_all_points_with_any_kind_of_vectors) {
  with_all_vectors([] {
    std::uint64_t seed = 0;
    for (const Kind kind : kKinds)
      for (const std::uint32_t keep : {1U, 8U, 13U, 15U, 16U, 20U}) {
        expect_nearest<3>(kind, 150, 2, keep, ++seed);
        expect_nearest<3>(kind, 300, 3, keep, ++seed);
        expect_nearest<4>(kind, 250, 4, keep, ++seed);
        expect_nearest<8>(kind, 250, 7, keep, ++seed);
        expect_nearest<16>(kind, 200, 13, keep, ++seed);
      }
  });
}

/// Expects that a search with the filter finds the bits of one without, and compares at most a fifth more pairs of leaves.
void expect_no_more_visits(std::vector<nearest::IdentifiedPoint<4>> items, std::uint32_t keep) {
  const nearest::PointTree<4> tree(items, {}, 48, 4096);
  const std::vector<double> zeros(tree.size() + 16);  // core distances, with which the filter is not used
  std::vector<double> distances[2];
  std::vector<std::uint64_t> points[2];
  std::atomic<std::int64_t> visits[2] = {0, 0};
  for (const std::size_t filtered : {0U, 1U}) {
    distances[filtered].resize(std::size_t{tree.size()} * keep);
    points[filtered].resize(distances[filtered].size());
    nearest::NeighbourSearch search{keep, filtered == 0 ? zeros.data() : nullptr, 1};
    search.visits = &visits[filtered];
    nearest::find_neighbours(tree, search, [&](const nearest::LeafResult& found) {
      for (std::uint32_t q = 0; q < found.count; ++q)
        for (std::uint32_t i = 0; i < keep; ++i) {
          const std::size_t to = std::size_t{found.first + q} * keep + i;
          distances[filtered][to] = found.distance2[std::size_t{q} * found.row + i];
          points[filtered][to] = found.point[std::size_t{q} * found.row + i];
        }
    });
  }
  EXPECT_EQ(distances[0], distances[1]);
  EXPECT_EQ(points[0], points[1]);
  EXPECT_GT(visits[0], 0);
  EXPECT_LE(visits[1] * 10, visits[0] * 12);
}

TEST(Filter, is_given_up_where_points_are_too_near_each_other_for_it) {
  for (const std::uint32_t keep : {1U, 10U}) {
    auto items = make_cloud<4>(Kind::uniform, 20000, 4, keep);
    expect_no_more_visits(items, keep);
    items[5].at = {1e20, 1e20, 1e20, 1e20};
    expect_no_more_visits(items, keep);
    for (std::size_t i = 0; i < items.size(); ++i)  // on scales from 1e-25 to 1
      for (double& x : items[i].at) x = (x - 0.5) * std::pow(10.0, -25.0 * static_cast<double>(i % 1000) / 1000);
    items[5].at = {};
    expect_no_more_visits(items, keep);
  }
}

TEST(Filter, leaves_room_in_lists_of_few_points) {
  for (const std::size_t n : {1U, 2U, 8U, 9U, 10U, 15U, 17U})
    for (const std::uint32_t keep : {1U, 8U, 15U}) expect_nearest<8>(Kind::uniform, n, 8, keep, n);
}

}  // namespace filter_test
