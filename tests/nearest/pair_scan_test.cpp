// Tests of brute-force distances of a position to groups of points, and of the mask of those that are near.
#include "merganser/nearest/pair_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace merganser::nearest {
namespace {

/// Returns the distance of two positions as pair_distances() defines it, axis by axis.
double plain_distance(const std::vector<double>& a, const std::vector<double>& b, const double* period, Norm norm) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double s = std::fabs(a[i] - b[i]);
    if (period != nullptr) s = std::min(s, std::fabs(period[i] - s));
    sum = norm == Norm::squares ? sum + s * s : norm == Norm::sum ? sum + s : std::max(sum, s);
  }
  return sum;
}

TEST(PairScanTest, near_pairs_are_those_within_their_limits_with_the_bits_of_the_formula) {
  constexpr std::size_t kPoints = 2 * kPairGroup;
  std::mt19937_64 random(5);
  int near_ones = 0;
  std::uniform_int_distribution<int> place(0, 9);  // few places, so that some distances equal a limit
  for (const Norm norm : {Norm::squares, Norm::sum, Norm::most})
    for (const bool periodic : {false, true})
      for (const std::size_t axes : {1U, 3U, 17U, 40U}) {
        std::vector<std::vector<double>> at(kPoints + 1, std::vector<double>(axes));
        for (auto& point : at)
          for (double& x : point) x = place(random) / 10.0;
        std::vector<double> data(kPoints * axes);
        for (std::size_t i = 0; i < kPoints; ++i)
          for (std::size_t a = 0; a < axes; ++a) data[(i / 8 * axes + a) * 8 + i % 8] = at[i][a];
        std::vector<double> period(axes, 1);
        period[0] = std::numeric_limits<double>::infinity();
        const double* const periods = periodic ? period.data() : nullptr;
        const auto& from = at[kPoints];
        std::array<double, kPairGroup> most;
        for (double& limit : most)
          limit = plain_distance(from, at[static_cast<std::size_t>(random() % kPoints)], periods, norm);
        for (std::size_t begin = 0; begin < kPoints; begin += kPairGroup) {
          std::array<double, kPairGroup> found;
          const std::uint32_t near =
              near_pairs({data.data(), axes, periods, norm}, from.data(), most.data(), begin, found.data());
          for (std::size_t i = 0; i < kPairGroup; ++i) {
            const double expected = plain_distance(from, at[begin + i], periods, norm);
            ASSERT_EQ((near >> i & 1) != 0, expected <= most[i]) << axes << ' ' << i;
            if (expected > most[i]) continue;
            ASSERT_EQ(found[i], expected);
            ++near_ones;
          }
        }
      }
  EXPECT_GT(near_ones, 300) << "of 1,536";
  EXPECT_LT(near_ones, 1300);
}

}  // namespace
}  // namespace merganser::nearest
