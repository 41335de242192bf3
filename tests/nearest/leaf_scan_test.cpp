/// Lists of nearest neighbours from scans of leaves, with every kind of vectors, against sorted lists of all points.
#include "merganser/nearest/leaf_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/numbers.hpp"
#include "merganser/base/random.hpp"
#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using test::with_all_vectors;

struct Points {
  std::vector<std::vector<double>> axis;
  std::vector<double> core;
  std::vector<std::uint64_t> ids;
  std::vector<double> period;
  nearest::Norm norm = nearest::Norm::squares;

  /// The canonical distance, without cores.
  [[nodiscard]] double distance(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t a = 0; a < axis.size(); ++a) {
      double s = std::fabs(axis[a][i] - axis[a][j]);
      if (period[a] < kInfinity) s = std::min(s, period[a] - s);
      if (norm == nearest::Norm::squares) s *= s;
      sum = norm == nearest::Norm::most ? std::max(sum, s) : sum + s;
    }
    return sum;
  }
  [[nodiscard]] nearest::LeafPoints leaves() const {
    nearest::LeafPoints points;
    for (std::size_t a = 0; a < axis.size(); ++a) points.axis[a] = axis[a].data();
    points.axes = static_cast<int>(axis.size());
    points.core = core.empty() ? nullptr : core.data();
    points.ids = ids.data();
    points.period = period.data();
    points.periodic = period[0] < kInfinity;
    points.norm = norm;
    return points;
  }
};

/// Kind of point set: numbers, axes, norm, ties.
struct Kind {
  std::size_t n = 90;
  std::size_t axes = 3;
  double steps = 4;
  bool periodic = false;
  bool core = false;
  nearest::Norm norm = nearest::Norm::squares;
};

/// Returns points on a lattice of `steps` points per axis, so that few steps make many ties. Every second axis may have
/// a period.
Points random_points(const Kind& kind, std::uint64_t seed) {
  Points p;
  p.norm = kind.norm;
  p.axis.resize(kind.axes);
  for (std::size_t i = 0; i < kind.n; ++i) {
    Random random(seed, i, 0);
    for (auto& axis : p.axis) axis.push_back(std::floor(random.uniform() * kind.steps) / kind.steps);
    p.ids.push_back((i * 7919) % 10007);
    if (kind.core) p.core.push_back(random.below(3) == 0 ? 0.25 : 0.0625 * random.uniform());
  }
  for (auto& axis : p.axis) axis.insert(axis.end(), 16, kInfinity);
  if (kind.core) p.core.insert(p.core.end(), 16, 0);
  for (std::size_t a = 0; a < kind.axes; ++a) p.period.push_back(kind.periodic && a % 2 == 0 ? 1 : kInfinity);
  return p;
}

struct Neighbour {
  double distance2;
  std::uint64_t id;
  std::uint64_t point;
  friend bool operator<(const Neighbour& a, const Neighbour& b) {
    return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : a.id < b.id;
  }
};

/// Eight numbers where a whole vector may be.
template <class T>
struct alignas(64) Aligned {
  T at[8];
};

/// Checks the neighbours of `first` .. `first + count` - 1 among all points, scanned run by run.
void expect_exact(const Points& p, std::uint32_t first, std::uint32_t count, std::uint32_t keep, std::uint32_t run) {
  const auto n = static_cast<std::uint32_t>(p.ids.size());
  const std::size_t rows = std::size_t{count} * keep;
  std::vector<Aligned<double>> distances(rows / 8);
  std::vector<Aligned<std::uint64_t>> numbers(rows / 8);
  auto* const d2 = distances[0].at;
  auto* const point = numbers[0].at;
  std::fill_n(d2, rows, kInfinity);
  std::fill_n(point, rows, 0);
  std::vector<double> limit(count + 16, -1);
  std::fill_n(limit.begin(), count, kInfinity);
  const nearest::LeafPoints points = p.leaves();
  const nearest::LeafLists lists{first, count, keep, d2, point, limit.data()};
  double worst = kInfinity;
  for (std::uint32_t begin = 0; begin < n; begin += run) {
    const std::uint32_t end = std::min(begin + run, n);
    std::vector<double> lower;
    std::vector<double> upper;
    for (const auto& axis : p.axis) {
      lower.push_back(*std::min_element(axis.begin() + begin, axis.begin() + end));
      upper.push_back(*std::max_element(axis.begin() + begin, axis.begin() + end));
    }
    worst = nearest::scan_leaf(points, lists, lower.data(), upper.data(), begin, end);
  }
  EXPECT_EQ(worst, *std::max_element(limit.begin(), limit.end()));
  for (std::uint32_t q = 0; q < count; ++q) {
    std::vector<Neighbour> all;
    for (std::uint32_t i = 0; i < n; ++i) {
      double expected = p.distance(first + q, i);
      if (!p.core.empty()) expected = std::max({expected, p.core[first + q], p.core[i]});
      if (i != first + q) all.push_back({expected, p.ids[i], i});
    }
    std::sort(all.begin(), all.end());
    for (std::uint32_t k = 0; k < keep; ++k) {
      const std::size_t at = std::size_t{q} * keep + k;
      ASSERT_EQ(d2[at], k < all.size() ? all[k].distance2 : kInfinity) << "point " << q << ", neighbour " << k;
      if (k >= all.size()) continue;
      ASSERT_EQ(point[at], all[k].point) << "point " << q << ", neighbour " << k;
    }
    EXPECT_EQ(limit[q], d2[std::size_t{q} * keep + keep - 1]);
  }
}

constexpr std::array kNorms{nearest::Norm::squares, nearest::Norm::sum, nearest::Norm::most};

TEST(LeafScan, finds_the_nearest_of_all_points_with_any_kind_of_vectors) {
  with_all_vectors([] {
    std::uint64_t seed = 0;
    for (const auto norm : kNorms)
      for (const std::size_t axes : {3U, 4U, 7U, 16U})
        for (const bool periodic : {false, true})
          for (const bool core : {false, true})
            for (const double steps : {4.0, 1e9})
              for (const std::uint32_t keep : {8U, 16U})
                expect_exact(random_points({90, axes, steps, periodic, core, norm}, ++seed), 30, 13, keep, 11);
  });
}

TEST(LeafScan, leaves_room_in_lists_of_few_points) {
  for (const std::size_t n : {1U, 2U, 8U, 9U, 10U}) expect_exact(random_points({n}, n), 0, 1, 8, 3);
}

TEST(LeafScan, tells_the_distances_of_a_place_up_to_a_limit) {
  with_all_vectors([] {
    for (const auto norm : kNorms)
      for (const std::size_t axes : {3U, 4U, 9U, 16U})
        for (const bool periodic : {false, true}) {
          const Points p = random_points({50, axes, 1e9, periodic, false, norm}, axes);
          std::vector<double> place;
          for (const auto& axis : p.axis) place.push_back(axis[7]);
          const double most = p.distance(7, 20);
          std::vector<double> to(41 + 8);
          nearest::leaf_distances(p.leaves(), place.data(), most, 5, 46, to.data());
          for (std::size_t i = 5; i < 46; ++i) {
            const double expected = p.distance(7, i);
            if (expected <= most)
              EXPECT_EQ(to[i - 5], expected) << axes << " axes, point " << i;
            else
              EXPECT_GT(to[i - 5], most) << axes << " axes, point " << i;
          }
        }
  });
}

}  // namespace
