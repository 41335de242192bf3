/// Tests of the neighbour search over strips against brute force.
#include "merganser/graphs/detail/strips.hpp"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "merganser/base/random.hpp"

namespace {

using namespace merganser;
using namespace merganser::graphs::detail;

using Pair = std::tuple<int, std::uint32_t, int, std::uint32_t>;

struct Cloud {
  int strips;
  std::uint32_t per_strip;
  std::uint64_t seed;
  void fill(int s, std::vector<double>& x, std::vector<double>& y) const {
    for (std::uint32_t i = 0; i < per_strip; ++i) {
      Random random(seed, static_cast<std::uint64_t>(s), i);
      x[i] = random.uniform();
      y[i] = (s + random.uniform()) / strips;
    }
  }
};

/// Every pair, by roots, in one order.
std::set<Pair> by_brute_force(const Cloud& cloud, double radius) {
  std::vector<std::vector<double>> x, y;
  std::set<Pair> pairs;
  for (int s = 0; s < cloud.strips; ++s) {
    cloud.fill(s, x.emplace_back(cloud.per_strip), y.emplace_back(cloud.per_strip));
    for (int t = 0; t <= s; ++t)
      for (std::uint32_t i = 0; i < cloud.per_strip; ++i)
        for (std::uint32_t j = 0; j < (s == t ? i : cloud.per_strip); ++j) {
          const auto a = static_cast<std::size_t>(s), b = static_cast<std::size_t>(t);
          const double dx = x[a][i] - x[b][j], dy = y[a][i] - y[b][j];
          if (std::sqrt(dx * dx + dy * dy) <= radius) pairs.insert({s, i, t, j});
        }
  }
  return pairs;
}

TEST(Strips, find_every_close_pair_once) {
  int several = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    Random random(seed, 7, 0);
    const Cloud cloud{1 + static_cast<int>(random.below(12)), 1 + static_cast<std::uint32_t>(random.below(40)), seed};
    const double radius = random.uniform(0.001, random.below(2) == 1 ? 0.7 : 0.1);
    std::set<Pair> found;
    Strips strips(cloud.strips, cloud.per_strip, radius);
    several += strips.reach() > 1 ? 1 : 0;
    strips.for_each_pair(
        [&](int s, std::vector<double>& x, std::vector<double>& y) { cloud.fill(s, x, y); },
        [&](StripVertex a, StripVertex b) {
          EXPECT_LE(b.strip, a.strip);
          EXPECT_LE(a.strip - b.strip, strips.reach());
          const bool swap = a.strip == b.strip && a.index < b.index;
          const Pair pair = swap ? Pair{a.strip, b.index, b.strip, a.index} : Pair{a.strip, a.index, b.strip, b.index};
          EXPECT_TRUE(found.insert(pair).second) << "twice, seed " << seed;
        });
    EXPECT_EQ(found, by_brute_force(cloud, radius)) << "seed " << seed << ", radius " << radius;
  }
  EXPECT_GT(several, 10);  // strips lower than the radius were among them
}

TEST(Strips, squares_decide_as_roots_do) {
  Random random(3, 1, 0);
  for (int i = 0; i < 1000; ++i) {
    const double r = random.uniform(1e-5, 1), s = largest_square(r);
    EXPECT_LE(std::sqrt(s), r);
    EXPECT_GT(std::sqrt(std::nextafter(s, 2.0)), r);
  }
}

}  // namespace
