/// Box and grid: periodic wrapping, distances with equal bits from both ends, cells and nodes, by random cases.
#include "merganser/geometry/box.hpp"

#include <gtest/gtest.h>

#include "tests/geometry/boxes.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr Box kBox{{-1, 2, 0}, {4, 8, 1}, {true, true, false}};

TEST(BoxWrap, brings_a_coordinate_inside_on_periodic_axes_only) {
  EXPECT_EQ(kBox.wrap(0, 3), -1);
  EXPECT_EQ(kBox.wrap(0, -1.5), 2.5);
  EXPECT_EQ(kBox.wrap(0, 3 + 4 * 1000.0), -1);
  EXPECT_EQ(kBox.wrap(1, 1.75), 9.75);
  EXPECT_EQ(kBox.wrap(2, 7), 7);
}

TEST(BoxWrap, leaves_what_is_inside_and_brings_everything_else_inside) {
  EXPECT_TRUE(rc::check("wrap", [] {
    const Box box = any_box();
    for (int a = 0; a < 3; ++a) {
      const double inside = any_point(box)[a];
      RC_ASSERT(bits(box.wrap(a, inside)) == bits(inside));
      const double far = inside + box.extent[a] * *rc::gen::inRange(-5, 6);
      const double y = box.wrap(a, far);
      RC_ASSERT(!box.periodic[a] || (y >= box.lower[a] && y < box.lower[a] + box.extent[a]));
      RC_ASSERT(bits(box.wrap(a, y)) == bits(y));
    }
  }));
}

TEST(BoxWrap, a_coordinate_a_rounding_error_below_the_box_stays_below_its_upper_face) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {true, true, true}};
  EXPECT_EQ(box.wrap(0, -1e-20), 0);
  EXPECT_EQ(box.wrap(0, -5e-324), 0);
}

TEST(BoxDistance, is_the_least_over_all_periodic_images) {
  EXPECT_EQ(kBox.separation(0, -0.5, 2.5), 1);
  EXPECT_EQ(kBox.separation(0, 1, -1), 2);
  EXPECT_EQ(kBox.separation(2, 0, 1), 1);
  EXPECT_EQ(kBox.distance2({-0.5, 2, 0}, {2.5, 9, 1}), 1 + 1 + 1);
}

TEST(BoxDistance, has_the_same_bits_from_both_ends) {
  EXPECT_TRUE(rc::check("distance2", [] {
    const Box box = any_box();
    const Vec3 a = any_point(box);
    const Vec3 b = any_point(box);
    RC_ASSERT(bits(box.distance2(a, b)) == bits(box.distance2(b, a)));
    RC_ASSERT(box.distance2(a, a) == 0);
    for (int axis = 0; axis < 3; ++axis) {
      RC_ASSERT(box.separation(axis, a[axis], b[axis]) >= 0);
      const double most = box.periodic[axis] ? 0.5 * box.extent[axis] : box.extent[axis];
      RC_ASSERT(box.separation(axis, a[axis], b[axis]) <= most * (1 + 1e-12));
    }
  }));
}

TEST(BoxDistance, is_the_length_of_the_displacement) {
  EXPECT_TRUE(rc::check("displacement", [] {
    const Box box = any_box();
    const Vec3 a = any_point(box);
    const Vec3 b = any_point(box);
    for (int axis = 0; axis < 3; ++axis) {
      const double d = box.displacement(axis, a[axis], b[axis]);
      RC_ASSERT(std::fabs(d) == box.separation(axis, a[axis], b[axis]));
      RC_ASSERT(d == -box.displacement(axis, b[axis], a[axis]));
    }
  }));
}

TEST(BoxContains, counts_faces_as_inside_and_nothing_beyond) {
  EXPECT_TRUE(kBox.contains({-1, 2, 0}));
  EXPECT_TRUE(kBox.contains({3, 10, 1}));
  EXPECT_FALSE(kBox.contains({-1, 2, 1.0000001}));
  EXPECT_FALSE(kBox.contains({-1.0000001, 2, 0}));
  EXPECT_FALSE(kBox.contains({NAN, 2, 0}));
}

TEST(GridCell, is_clamped_to_the_grid) {
  const Grid grid{kBox, {4, 4, 5}};
  EXPECT_EQ(grid.cell(0, -1), 0);
  EXPECT_EQ(grid.cell(0, 0), 1);
  EXPECT_EQ(grid.cell(0, 3), 3);
  EXPECT_EQ(grid.cell(2, 1), 4);
  EXPECT_EQ(grid.cell(2, -1e-9), 0);
  EXPECT_EQ(grid.cell(2, 1e300), 4);
}

TEST(GridCell, holds_its_points_between_its_faces) {
  EXPECT_TRUE(rc::check("cell", [] {
    const Grid grid = any_grid(50);
    const Vec3 p = any_point(grid.box);
    for (int a = 0; a < 3; ++a) {
      const auto c = static_cast<double>(grid.cell(a, p[a]));
      const double slack = 1e-12 * (grid.box.extent[a] + std::fabs(grid.box.lower[a]));
      RC_ASSERT(p[a] >= grid.box.lower[a] + c * grid.spacing(a) - slack);
      RC_ASSERT(p[a] <= grid.box.lower[a] + (c + 1) * grid.spacing(a) + slack);
    }
  }));
}

TEST(GridNode, is_a_corner_of_the_cell) {
  EXPECT_TRUE(rc::check("node", [] {
    const Grid grid = any_grid(50);
    const Vec3 p = any_point(grid.box);
    for (int a = 0; a < 3; ++a) {
      const std::int64_t node = grid.node(a, p[a]);
      RC_ASSERT(node == grid.cell(a, p[a]) || node == grid.cell(a, p[a]) + 1);
    }
  }));
  const Grid grid{kBox, {4, 4, 4}};
  EXPECT_EQ(grid.node(0, -0.5), 1);  // halfway: away from zero
  EXPECT_EQ(grid.node(0, -0.75), 0);
  EXPECT_EQ(grid.node(0, 2.75), 4);
}

TEST(GridVolume, is_the_product_of_the_spacings) {
  const Grid grid{kBox, {4, 4, 2}};
  EXPECT_EQ(grid.cell_volume(), 1 * 2 * 0.5);
  EXPECT_EQ(grid.cell_count(), 32);
}

}  // namespace
