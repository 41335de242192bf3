/// Lists of nearest neighbours, on every kind of vectors, against sorted lists of all points.
#include "merganser/nearest/leaf_scan.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "merganser/base/random.hpp"

namespace {

using namespace merganser;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Points {
  std::vector<double> x, y, z, core;
  std::vector<std::uint64_t> ids;
  Box box{{0, 0, 0}, {1, 1, 1}, {false, false, false}};

  [[nodiscard]] Vec3 at(std::size_t i) const { return {x[i], y[i], z[i]}; }
};

/// Places on a lattice of `steps` points per axis, so that few steps make many ties.
Points random_points(std::size_t n, double steps, bool periodic, bool core, std::uint64_t seed) {
  Points p;
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i, 0);
    for (auto* axis : {&p.x, &p.y, &p.z}) axis->push_back(std::floor(random.uniform() * steps) / steps);
    p.ids.push_back((i * 7919) % 10007);
    if (core) p.core.push_back(random.below(3) == 0 ? 0.25 : 0.0625 * random.uniform());
  }
  for (auto* axis : {&p.x, &p.y, &p.z}) axis->insert(axis->end(), 16, kInfinity);
  if (core) p.core.insert(p.core.end(), 16, 0);
  p.box.periodic = {periodic, false, periodic};
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

/// Neighbours of `first` .. `first + count` - 1 among all points, scanned run by run.
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
  const Vec3 period{p.box.periodic[0] ? 1 : kInfinity, kInfinity, p.box.periodic[2] ? 1 : kInfinity};
  const nearest::LeafPoints points{p.x.data(),   p.y.data(), p.z.data(),       p.core.empty() ? nullptr : p.core.data(),
                                   p.ids.data(), period,     p.box.periodic[0]};
  const nearest::LeafLists lists{first, count, keep, d2, point, limit.data()};
  double worst = kInfinity;
  for (std::uint32_t begin = 0; begin < n; begin += run) {
    const std::uint32_t end = std::min(begin + run, n);
    Vec3 lower{kInfinity, kInfinity, kInfinity};
    Vec3 upper{-kInfinity, -kInfinity, -kInfinity};
    for (std::uint32_t i = begin; i < end; ++i)
      for (std::size_t a = 0; a < 3; ++a) {
        lower[a] = std::min(lower[a], p.at(i)[a]);
        upper[a] = std::max(upper[a], p.at(i)[a]);
      }
    worst = nearest::scan_leaf(points, lists, lower, upper, begin, end);
  }
  EXPECT_EQ(worst, *std::max_element(limit.begin(), limit.end()));
  for (std::uint32_t q = 0; q < count; ++q) {
    std::vector<Neighbour> all;
    for (std::uint32_t i = 0; i < n; ++i) {
      double expected = p.box.distance2(p.at(first + q), p.at(i));
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

TEST(LeafScan, finds_the_nearest_of_all_points_with_any_kind_of_vectors) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    std::uint64_t seed = 0;
    for (const bool periodic : {false, true})
      for (const bool core : {false, true})
        for (const double steps : {4.0, 1e9})
          for (const std::uint32_t keep : {8U, 16U})
            expect_exact(random_points(90, steps, periodic, core, ++seed), 30, 13, keep, 11);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(LeafScan, leaves_room_in_lists_of_few_points) {
  for (const std::size_t n : {1U, 2U, 8U, 9U, 10U}) expect_exact(random_points(n, 4, false, false, n), 0, 1, 8, 3);
}

}  // namespace
