/// Lower bounds of distances to blocks, which select the ranks that receive queries: a bound that is too high would lose a nearest
/// parcel, so they are compared with distances to random points of the blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/geometry/decomposition.hpp"
#include "tests/geometry/boxes.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

Decomposition few_blocks() {
  const Grid grid = any_grid(6);
  const auto part = [&](int a) {
    return *rc::gen::inRange<std::int64_t>(1, std::min<std::int64_t>(grid.cells[a], 4) + 1);
  };
  const std::int64_t x = part(0);
  const std::int64_t y = part(1);
  const std::int64_t z = part(2);
  return {grid, static_cast<int>(x * y * z), std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z)};
}

/// Draws a point of a rank's block: a corner, a point on a face, or a point inside.
Vec3 any_block_point(const Decomposition& d, int rank) {
  const auto b = d.block(rank);
  Vec3 p;
  for (int a = 0; a < 3; ++a) {
    p[a] = b.lower[a] + any_fraction() * (b.upper[a] - b.lower[a]);
    if (*rc::gen::inRange(0, 3) == 0) p[a] = b.upper[a];
    p[a] = d.grid().box.wrap(a, p[a]);
  }
  return p;
}

/// Returns the exact distance on one axis from x to [lower, upper], the least over the box and its adjacent periodic images.
double gap_on_axis(const Box& box, int a, double x, double lower, double upper) {
  double least = std::numeric_limits<double>::infinity();
  for (int image = -1; image <= 1; ++image) {
    if (image != 0 && !box.periodic[a]) continue;
    const double shift = image * box.extent[a];
    least = std::min(least, std::max({lower + shift - x, x - (upper + shift), 0.0}));
  }
  return least;
}

TEST(DistanceToABlock, is_never_above_that_to_a_point_of_it_nor_far_below_that_to_its_nearest) {
  EXPECT_TRUE(rc::check("distance2_to_block", [] {
    const Decomposition d = few_blocks();
    const Box& box = d.grid().box;
    const int rank = *rc::gen::inRange(0, d.ranks());
    const Vec3 p = any_point(box);
    const double bound = d.distance2_to_block(p, rank);
    RC_ASSERT(bound <= box.distance2(p, any_block_point(d, rank)));
    const auto b = d.block(rank);
    double exact = 0;
    double slack = 0;
    for (int a = 0; a < 3; ++a) {
      const double gap = gap_on_axis(box, a, p[a], b.lower[a], b.upper[a]);
      exact += gap * gap;
      slack += 1e-11 * (box.extent[a] + std::fabs(box.lower[a]));
    }
    RC_ASSERT(bound <= exact);
    RC_ASSERT(std::sqrt(exact) - std::sqrt(bound) <= slack);
  }));
}

/// Owners are computed from rounded cell numbers, so a point beside a cut may lie a rounding error beyond the block of its owner.
TEST(DistanceToABlock, of_a_point_to_its_owner_is_zero_beside_every_cut) {
  int beyond = 0;
  for (const double lower : {0.0, 0.1, -7.3})
    for (const double extent : {1.0, 0.3, 2.7})
      for (int parts = 2; parts <= 40; ++parts) {
        const Decomposition d({{{lower, 0, 0}, {extent, 1, 1}, {false, false, false}}, {parts, 1, 1}}, parts, "1d");
        for (int rank = 1; rank < parts; ++rank) {
          const double cut = d.block(rank).lower[0];
          for (const double x : {std::nextafter(cut, -1e9), cut, std::nextafter(cut, 1e9)}) {
            const int owner = d.owner({x, 0, 0});
            EXPECT_EQ(d.distance2_to_block({x, 0, 0}, owner), 0);
            const auto b = d.block(owner);
            beyond += x < b.lower[0] || x > b.upper[0] ? 1 : 0;
          }
        }
      }
  EXPECT_GT(beyond, 0) << "no point tells the difference";
}

TEST(DistanceBetweenBlocks, is_symmetric_and_never_above_that_of_two_of_their_points) {
  EXPECT_TRUE(rc::check("distance2_between", [] {
    const Decomposition d = few_blocks();
    const int r = *rc::gen::inRange(0, d.ranks());
    const int s = *rc::gen::inRange(0, d.ranks());
    const double bound = d.distance2_between(r, s);
    RC_ASSERT(bits(bound) == bits(d.distance2_between(s, r)));
    RC_ASSERT(bound <= d.grid().box.distance2(any_block_point(d, r), any_block_point(d, s)));
    RC_ASSERT(bound <= d.distance2_to_block(any_block_point(d, r), s) * (1 + 1e-9) ||
              bound <= d.grid().box.distance2(any_block_point(d, r), any_block_point(d, s)));
  }));
}

TEST(DistanceBetweenBlocks, is_known_for_a_row) {
  const Grid row{{{0, 0, 0}, {8, 1, 1}, {false, false, false}}, {8, 1, 1}};
  const Decomposition walls(row, 8);
  EXPECT_EQ(walls.distance2_between(0, 0), 0);
  EXPECT_EQ(walls.distance2_between(0, 1), 0);
  EXPECT_NEAR(walls.distance2_between(0, 7), 36, 1e-9);
  Grid ring = row;
  ring.box.periodic[0] = true;
  const Decomposition around(ring, 8);
  EXPECT_EQ(around.distance2_between(0, 7), 0);
  EXPECT_NEAR(around.distance2_between(0, 6), 1, 1e-9);
  EXPECT_NEAR(around.distance2_between(0, 4), 9, 1e-9);
}

TEST(Within, finds_all_ranks_in_reach_sorted_and_at_least_the_neighbours) {
  EXPECT_TRUE(rc::check("within", [] {
    const Decomposition d = few_blocks();
    const int r = *rc::gen::inRange(0, d.ranks());
    const double reach = any_fraction() * (d.grid().box.extent[0] + d.grid().box.extent[1]);
    const auto found = d.within(r, reach);
    std::vector<int> expected;
    const auto neighbours = d.neighbours(r);
    for (int s = 0; s < d.ranks(); ++s) {
      const bool near = d.distance2_between(r, s) <= reach * reach;
      if (s != r && (near || std::binary_search(neighbours.begin(), neighbours.end(), s))) expected.push_back(s);
    }
    RC_ASSERT(found == expected);
    for (const int s : found) {
      const auto back = d.within(s, reach);
      RC_ASSERT(std::binary_search(back.begin(), back.end(), r));
    }
  }));
}

TEST(Within, reaches_as_far_as_told) {
  const Decomposition row({{{0, 0, 0}, {8, 1, 1}, {false, false, false}}, {8, 1, 1}}, 8);
  EXPECT_EQ(row.within(3, 0), (std::vector<int>{2, 4}));
  EXPECT_EQ(row.within(3, 1), (std::vector<int>{1, 2, 4, 5}));
  EXPECT_EQ(row.within(0, std::numeric_limits<double>::infinity()), (std::vector<int>{1, 2, 3, 4, 5, 6, 7}));
}

}  // namespace
