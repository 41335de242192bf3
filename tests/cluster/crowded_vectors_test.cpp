/// Vectorised passes of steps under a policy against plain loops, on every vector target of this machine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "src/cluster/crowded_vectors.hpp"
#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;

TEST(CrowdedVectors, numbers_of_cells_are_those_of_the_grid) {
  const Grid grid{{{-0.3, 0.1, 1e6}, {0.9, 1e-3, 0.7}, {true, false, true}}, {7, 49, 10}};
  NumberedCells cells{};
  for (std::size_t a = 0; a < 3; ++a) {
    cells.lower[a] = grid.box.lower[a];
    cells.spacing[a] = grid.spacing(static_cast<int>(a));
    cells.cells[a] = static_cast<std::int32_t>(grid.cells[a]);
  }
  test::with_all_vectors([&] {
    std::mt19937_64 random(5);
    for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 2000U}) {
      std::vector<Site> sites(n);
      for (Site& s : sites) {
        double p[3];
        for (std::size_t a = 0; a < 3; ++a) {
          // On a face of a cell or beside it, the least and the greatest coordinate included, or anywhere and outside.
          const auto face = static_cast<double>(random() % static_cast<std::uint64_t>(grid.cells[a] + 1));
          const double at = grid.box.lower[a] + face * grid.spacing(static_cast<int>(a));
          const double sides[] = {at, std::nextafter(at, 1e9), std::nextafter(at, -1e9),
                                  at + std::uniform_real_distribution<double>(-1, 1)(random) * grid.box.extent[a]};
          p[a] = sides[random() % 4];
        }
        s = {p[0], p[1], p[2], 1};
      }
      std::vector<std::int32_t> got(n + 1, -7);
      number_cells(cells, sites.data(), n, got.data());
      for (std::size_t i = 0; i < n; ++i) {
        const Site& s = sites[i];
        const auto want = (grid.cell(0, s.x) * grid.cells[1] + grid.cell(1, s.y)) * grid.cells[2] + grid.cell(2, s.z);
        ASSERT_EQ(got[i], want) << s.x << " " << s.y << " " << s.z;
      }
      EXPECT_EQ(got[n], -7);
    }
  });
}

TEST(CrowdedVectors, sites_are_within_bounds_that_a_loop_finds_them_within) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Site lower{-0.3, 0, 1e6, 1e-120};
  const Site upper{0.6, 1e-3, 1e6 + 0.7, 1e120};
  const auto value = [](Site& s, unsigned k) -> double& {
    return k == 0 ? s.x : k == 1 ? s.y : k == 2 ? s.z : s.volume;
  };
  test::with_all_vectors([&] {
    for (std::size_t n = 0; n <= 9; ++n) {
      std::vector<Site> sites(n + 1, lower);
      for (std::size_t i = 1; i < n; i += 2) sites[i] = upper;
      sites[n].x = kNan;  // behind the last
      ASSERT_TRUE(are_within(sites.data(), n, lower, upper)) << n;
      for (std::size_t i = 0; i < n; ++i)
        for (unsigned k = 0; k < 4; ++k) {
          Site low = lower;
          Site high = upper;
          for (const double out :
               {std::nextafter(value(low, k), -1e300), std::nextafter(value(high, k), 1e300), kNan}) {
            const Site kept = sites[i];
            value(sites[i], k) = out;
            ASSERT_FALSE(are_within(sites.data(), n, lower, upper)) << n << " sites, " << i << ", " << out;
            sites[i] = kept;
          }
        }
    }
  });
}

TEST(CrowdedVectors, the_least_members_are_those_of_a_sort) {
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  test::with_all_vectors([&] {
    std::mt19937_64 random(6);
    for (std::size_t n = 0; n <= kMaxRanked; ++n)
      for (const unsigned volumes : {1U, 2U, 1000U}) {  // values of volume: ids decide, or seldom
        RankedMembers members;
        std::vector<std::tuple<double, std::int64_t, std::size_t>> sorted;
        for (std::size_t i = 0; i < n; ++i) {
          members.volume[i] = std::ldexp(static_cast<double>(1 + random() % volumes), -20);
          members.id[i] = i == 3 ? kLowest : i == 5 ? kHighest : static_cast<std::int64_t>(random());
          sorted.emplace_back(members.volume[i], members.id[i], i);
        }
        std::sort(sorted.begin(), sorted.end());
        for (const std::size_t wanted : {std::size_t{0}, std::size_t{1}, n / 2, n, n + 1}) {
          mark_least(members, n, static_cast<std::int64_t>(wanted));
          for (std::size_t k = 0; k < n; ++k)
            ASSERT_EQ(members.least[std::get<2>(sorted[k])], k < wanted ? 1 : 0) << n << " members, " << k;
        }
      }
  });
}

}  // namespace
