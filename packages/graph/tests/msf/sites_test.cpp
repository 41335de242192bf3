/// Tests of the points that are gathered on one rank where all pairs are compared, and of the capacity of leaves of trees.
#include "src/msf/euclidean/sites.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf::euclidean;

TEST(LeafCapacityTest, is_the_option_or_grows_with_the_axes) {
  msf::EuclideanOptions options;
  const std::map<std::size_t, std::uint32_t> expected{{1, 48}, {3, 48}, {6, 48}, {7, 64}, {16, 64}};
  for (const auto& [axes, leaf] : expected) EXPECT_EQ(leaf_capacity(options, axes), leaf) << axes;
  options.leaf = 7;
  EXPECT_EQ(leaf_capacity(options, 3), 7U);
  EXPECT_EQ(leaf_capacity(options, 16), 7U);
}

TEST(SitesTest, gathered_points_compare_by_the_bits_of_the_trees_and_boxes_bound_them) {
  using msf::Distance;
  for (const auto metric : {Distance::euclidean, Distance::manhattan, Distance::chebyshev, Distance::great_circle})
    for (const bool periodic : {false, true}) {
      const bool sphere = metric == Distance::great_circle;
      if (sphere && periodic) continue;
      auto swarm = test::make_swarm("uniform", sphere ? 2 : 5, 60, 4);
      if (sphere)
        for (auto& p : swarm.at) p = {180 * p[0] - 90, 360 * p[1] - 180};
      swarm.space.metric = metric;
      swarm.space.angle = msf::Angle::degrees;
      if (periodic) swarm.space.periods = {{3, 0, 1}};
      test::on_threads(3, [&](comm::Transport& t) {
        const auto points = test::distribute(swarm, t, 9);
        const msf::PointSet view = points;
        const CheckedPoints given(view, t);
        const Sites sites(given, t);
        ASSERT_EQ(sites.size(), t.rank() == 0 ? 60U : 0U);
        ASSERT_EQ(sites.axes(), sphere ? 3U : 5U);
        const auto m = given.metric<6>();
        const auto place = [&](std::size_t id) {
          Place<6> p{};
          std::copy_n(sites.at(id), sites.axes(), p.begin());
          return p;
        };
        for (std::size_t i = 0; i < sites.size(); ++i) {
          if (!sphere) {
            ASSERT_EQ(std::vector<double>(sites.at(i), sites.at(i) + 5), swarm.at[i]) << "point i has id i";
          }
          Bounds<6> box;
          for (std::size_t j = i / 4 * 4; j < i / 4 * 4 + 4; ++j) box.add(place(j));
          for (std::size_t j = 0; j < sites.size(); ++j) {
            const double compared = sites.compared(sites.at(i), sites.at(j));
            ASSERT_EQ(compared, m.distance2(place(i), place(j)));
            ASSERT_EQ(sites.weight(compared), m.weight(compared));
            ASSERT_LE(compared, sites.compared_above(sites.weight(compared)));
            const auto* const at = sites.at(j);
            const double bound = sites.compared_between_boxes(at, at, box.lower.data(), box.upper.data(), kInfinity);
            ASSERT_LE(bound, compared);
            ASSERT_EQ(bound, m.distance2(place(j), box));
            // Short of the limit the bound is whole; above it any number above it.
            const double limit = bound / 2;
            const double cut = sites.compared_between_boxes(at, at, box.lower.data(), box.upper.data(), limit);
            ASSERT_TRUE(bound == 0 ? cut == 0 : cut > limit);
            // No pair of points of two boxes is nearer than the boxes.
            Bounds<6> other;
            for (std::size_t k = j / 4 * 4; k < j / 4 * 4 + 4; ++k) other.add(place(k));
            const double apart = sites.compared_between_boxes(other.lower.data(), other.upper.data(), box.lower.data(),
                                                              box.upper.data(), kInfinity);
            ASSERT_LE(apart, bound);
          }
        }
      });
    }
}

}  // namespace
