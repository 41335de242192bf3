/// Decompositions by cells: owners, neighbours, balancing, shapes of least area, errors, by random cases.
#include "merganser/geometry/decomposition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/geometry/boxes.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

using Shape = std::array<int, 3>;
using Weights = std::array<std::vector<std::int64_t>, 3>;

Grid unit_grid(std::array<std::int64_t, 3> cells, std::array<bool, 3> periodic = {true, true, false}) {
  return {{{0, 0, 0}, {1, 1, 1}, periodic}, cells};
}

/// Returns all factorisations of `ranks` into three numbers that are at most the cells of each axis.
std::vector<Shape> shapes_that_fit(const Grid& grid, int ranks) {
  std::vector<Shape> found;
  for (int x = 1; x <= ranks; ++x)
    for (int y = 1; x * y <= ranks; ++y)
      if (ranks % (x * y) == 0 && x <= grid.cells[0] && y <= grid.cells[1] && ranks / x / y <= grid.cells[2])
        found.push_back({x, y, ranks / x / y});
  return found;
}

int axes_cut(const Shape& s) { return (s[0] > 1) + (s[1] > 1) + (s[2] > 1); }

/// Returns the total area of the faces between blocks, including those across the boundary of divided periodic axes.
double area_between_blocks(const Decomposition& d) {
  double area = 0;
  for (int a = 0; a < 3; ++a) {
    const int parts = d.shape()[a];
    if (parts == 1) continue;
    const Vec3& e = d.grid().box.extent;
    area += (d.grid().box.periodic[a] ? parts : parts - 1) * (e[0] * e[1] * e[2] / e[a]);
  }
  return area;
}

Weights any_weights(const Grid& grid) {
  Weights weights;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t most = *rc::gen::element<std::int64_t>(0, 1, 100, std::int64_t{1} << 50);
    for (std::int64_t c = 0; c < grid.cells[a]; ++c)
      weights[a].push_back(*rc::gen::inRange<std::int64_t>(0, 4) == 0 ? 0
                                                                      : *rc::gen::inRange<std::int64_t>(0, most + 1));
  }
  return weights;
}

/// Draws a decomposition by cells of at most 64 ranks, half of the time balanced by random weights.
Decomposition any_decomposition(std::int64_t most_cells = 9) {
  const Grid grid = any_grid(most_cells);
  const int ranks = *rc::gen::inRange(1, 65);
  const auto shapes = shapes_that_fit(grid, ranks);
  RC_PRE(!shapes.empty());
  const Shape s = *rc::gen::elementOf(shapes);
  const std::string text = std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]);
  const Decomposition d(grid, ranks, text);
  RC_ASSERT(d.describe() == text);
  return *rc::gen::arbitrary<bool>() ? d.balanced(any_weights(grid)) : d;
}

TEST(Cuts, cover_every_cell_once) {
  EXPECT_TRUE(rc::check("cover", [] {
    const Decomposition d = any_decomposition();
    for (int a = 0; a < 3; ++a) {
      const int parts = d.shape()[a];
      RC_ASSERT(d.cut(a, 0) == 0);
      RC_ASSERT(d.cut(a, parts) == d.grid().cells[a]);
      for (int i = 0; i < parts; ++i) {
        RC_ASSERT(d.cut(a, i) < d.cut(a, i + 1));
        for (std::int64_t c = d.cut(a, i); c < d.cut(a, i + 1); ++c) RC_ASSERT(d.part_of_cell(a, c) == i);
      }
    }
    std::set<Shape> coordinates;
    for (int r = 0; r < d.ranks(); ++r) {
      RC_ASSERT(d.rank_at(d.coordinates(r)) == r);
      coordinates.insert(d.coordinates(r));
    }
    RC_ASSERT(coordinates.size() == static_cast<std::size_t>(d.ranks()));
  }));
}

TEST(Cuts, differ_by_at_most_one_cell_per_axis_where_not_balanced) {
  for (int ranks = 1; ranks <= 64; ++ranks) {
    const Decomposition d(unit_grid({64, 67, 61}), ranks);
    for (int a = 0; a < 3; ++a) {
      const std::int64_t least = d.grid().cells[a] / d.shape()[a];
      for (int i = 0; i < d.shape()[a]; ++i) {
        const std::int64_t cells = d.cut(a, i + 1) - d.cut(a, i);
        EXPECT_TRUE(cells == least || cells == least + 1) << ranks << " ranks, axis " << a;
        EXPECT_TRUE(i == 0 || cells <= d.cut(a, i) - d.cut(a, i - 1)) << "the first ones get the extra cells";
      }
    }
  }
}

TEST(Cuts, end_at_the_faces_of_the_box_and_touch) {
  EXPECT_TRUE(rc::check("blocks", [] {
    const Decomposition d = any_decomposition();
    const Box& box = d.grid().box;
    for (int r = 0; r < d.ranks(); ++r) {
      const auto b = d.block(r);
      for (int a = 0; a < 3; ++a) {
        auto c = d.coordinates(r);
        RC_ASSERT(b.lower[a] < b.upper[a]);
        if (c[a] == 0) RC_ASSERT(bits(b.lower[a]) == bits(box.lower[a]));
        if (c[a] + 1 == d.shape()[a]) {
          RC_ASSERT(b.upper[a] == box.lower[a] + box.extent[a]);
        } else {
          ++c[a];
          RC_ASSERT(bits(d.block(d.rank_at(c)).lower[a]) == bits(b.upper[a]));
        }
      }
    }
  }));
}

TEST(Owner, is_the_one_rank_whose_block_has_the_points_cell) {
  EXPECT_TRUE(rc::check("owner", [] {
    const Decomposition d = any_decomposition();
    const Vec3 p = any_point(d.grid().box);
    const int owner = d.owner(p);
    RC_ASSERT(owner >= 0 && owner < d.ranks());
    const auto c = d.coordinates(owner);
    for (int a = 0; a < 3; ++a) {
      const std::int64_t cell = d.grid().cell(a, p[a]);
      RC_ASSERT(cell >= d.cut(a, c[a]) && cell < d.cut(a, c[a] + 1));
    }
    RC_ASSERT(d.distance2_to_block(p, owner) == 0);
  }));
}

TEST(Owner, does_not_change_with_the_parts_of_the_other_axes) {
  const Grid grid = unit_grid({8, 6, 4});
  for (const Vec3 p : {Vec3{0, 0, 0}, Vec3{0.99, 0.5, 1}, Vec3{0.5, 1.0 / 3, 0.25}}) {
    const auto along_x = Decomposition(grid, 2, "2x1x1").owner(p);
    EXPECT_EQ(Decomposition(grid, 6, "2x3x1").owner(p) / 3, along_x);
    EXPECT_EQ(Decomposition(grid, 8, "2x1x4").owner(p) / 4, along_x);
  }
}

/// Returns true if two blocks touch: on every axis their indices differ by at most one, or by the period less one.
bool touch(const Decomposition& d, int r, int s) {
  for (int a = 0; a < 3; ++a) {
    const int parts = d.shape()[a];
    const int gap = std::abs(d.coordinates(r)[a] - d.coordinates(s)[a]);
    if (std::min(gap, d.grid().box.periodic[a] ? parts - gap : gap) > 1) return false;
  }
  return true;
}

TEST(Neighbours, are_all_blocks_that_touch_and_symmetric) {
  EXPECT_TRUE(rc::check("neighbours", [] {
    const Decomposition d = any_decomposition();
    for (int r = 0; r < d.ranks(); ++r) {
      std::vector<int> expected;
      for (int s = 0; s < d.ranks(); ++s)
        if (s != r && touch(d, r, s)) expected.push_back(s);
      RC_ASSERT(d.neighbours(r) == expected);
      RC_ASSERT(expected.size() <= 26U);
    }
  }));
}

TEST(Neighbours, do_not_reach_through_a_wall) {
  const Decomposition walls(unit_grid({4, 1, 1}, {false, false, false}), 4);
  EXPECT_EQ(walls.neighbours(0), (std::vector<int>{1}));
  const Decomposition around(unit_grid({4, 1, 1}, {true, false, false}), 4);
  EXPECT_EQ(around.neighbours(0), (std::vector<int>{1, 3}));
  EXPECT_TRUE(Decomposition(unit_grid({4, 4, 4}), 1).neighbours(0).empty());
}

std::int64_t part_weight(const Decomposition& d, int axis, int part, const Weights& weights) {
  const auto begin = weights[axis].begin();
  return std::accumulate(begin + d.cut(axis, part), begin + d.cut(axis, part + 1), std::int64_t{0});
}

TEST(Balanced, keeps_the_shape_the_sum_and_a_cell_for_everybody) {
  EXPECT_TRUE(rc::check("balanced", [] {
    const Decomposition even = any_decomposition(30);
    const Weights weights = any_weights(even.grid());
    const Decomposition d = even.balanced(weights);
    RC_ASSERT(d.shape() == even.shape());
    for (int a = 0; a < 3; ++a) {
      std::int64_t sum = 0;
      for (int i = 0; i < d.shape()[a]; ++i) {
        RC_ASSERT(d.cut(a, i + 1) > d.cut(a, i));
        sum += part_weight(d, a, i, weights);
      }
      RC_ASSERT(sum == std::accumulate(weights[a].begin(), weights[a].end(), std::int64_t{0}));
    }
  }));
}

/// If no single slab of cells weighs more than an equal share, no part differs from its share by more than the heaviest slab.
TEST(Balanced, misses_an_equal_share_by_at_most_one_slab) {
  EXPECT_TRUE(rc::check("share", [] {
    const int parts = *rc::gen::inRange(1, 9);
    const Grid grid = unit_grid({8 * parts, 1, 1});
    Weights weights{std::vector<std::int64_t>{}, {1}, {1}};
    for (std::int64_t c = 0; c < grid.cells[0]; ++c) weights[0].push_back(*rc::gen::inRange<std::int64_t>(50, 151));
    const Decomposition d = Decomposition(grid, parts, "1d").balanced(weights);
    const std::int64_t total = std::accumulate(weights[0].begin(), weights[0].end(), std::int64_t{0});
    for (int i = 0; i < d.shape()[0]; ++i) RC_ASSERT(std::abs(part_weight(d, 0, i, weights) - total / parts) <= 151);
  }));
}

TEST(Balanced, cuts_where_the_parcels_are) {
  const Decomposition d(unit_grid({8, 1, 1}), 2);
  const auto cut = [&](std::vector<std::int64_t> x) { return d.balanced(Weights{std::move(x), {1}, {1}}).cut(0, 1); };
  EXPECT_EQ(cut({9, 1, 1, 1, 1, 1, 1, 1}), 1);
  EXPECT_EQ(cut({1, 1, 1, 1, 1, 1, 1, 9}), 7);
  EXPECT_EQ(cut({1, 1, 1, 1, 1, 1, 1, 1}), 4);
  EXPECT_EQ(cut({0, 0, 0, 5, 5, 0, 0, 0}), 4);
  EXPECT_EQ(cut({0, 0, 0, 0, 0, 0, 0, 100}), 7) << "a part is never empty";
  const std::int64_t many = std::int64_t{1} << 60;
  EXPECT_EQ(cut({many, many, many, 0, 0, 0, 0, many}), 2) << "nothing overflows";
}

TEST(Balanced, refuses_weights_that_do_not_fit_the_grid) {
  const Decomposition d(unit_grid({8, 1, 1}), 2);
  EXPECT_THROW((void)d.balanced({std::vector<std::int64_t>(7), {1}, {1}}), UsageError);
  EXPECT_EQ(test::refusal([&] {
              (void)d.balanced({std::vector<std::int64_t>(8), {1}, {}});
            }),
            "balance: axis z has 0 weights; allowed: one for each of its 1 cells");
}

TEST(Shape, auto_has_the_least_surface_of_all_that_fit) {
  for (const auto& cells : {std::array<std::int64_t, 3>{64, 64, 64}, {64, 64, 4}, {5, 100, 7}, {64, 1, 1}}) {
    for (int mask = 0; mask < 8; ++mask) {
      Grid grid{{{0, 0, 0}, {2, 3, 1}, {(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0}}, cells};
      for (int ranks = 1; ranks <= 64; ++ranks) {
        for (const auto& [name, axes] :
             {std::pair{"1d", 1}, std::pair{"2d", 2}, std::pair{"3d", 3}, std::pair{"auto", 3}}) {
          double least = std::numeric_limits<double>::infinity();
          for (const Shape& s : shapes_that_fit(grid, ranks))
            if (axes_cut(s) <= axes)
              least = std::min(
                  least,
                  area_between_blocks(Decomposition(
                      grid, ranks, std::to_string(s[0]) + "x" + std::to_string(s[1]) + "x" + std::to_string(s[2]))));
          if (least == std::numeric_limits<double>::infinity()) {
            EXPECT_THROW(Decomposition(grid, ranks, name), InputError);
            continue;
          }
          const Decomposition d(grid, ranks, name);
          EXPECT_EQ(d.ranks(), ranks);
          EXPECT_LE(axes_cut(d.shape()), axes);
          EXPECT_DOUBLE_EQ(area_between_blocks(d), least) << d.describe();
        }
      }
    }
  }
}

TEST(Shape, of_a_cube_is_known) {
  const Grid walls = unit_grid({8, 8, 8}, {false, false, false});
  EXPECT_EQ(Decomposition(walls, 8).describe(), "2x2x2");
  EXPECT_EQ(Decomposition(walls, 8, "2d").describe(), "1x2x4");
  EXPECT_EQ(Decomposition(walls, 8, "1d").describe(), "1x1x8");
  EXPECT_EQ(Decomposition(unit_grid({8, 8, 8}), 2).describe(), "1x1x2")
      << "a periodic axis has a second face to pay for";
}

TEST(Errors, say_what_is_wrong_and_what_is_allowed) {
  const Grid grid = unit_grid({4, 3, 2});
  const auto error = [&](int ranks, const std::string& shape) {
    return test::refusal([&] { Decomposition d(grid, ranks, shape); });
  };
  EXPECT_EQ(error(25, "auto"), "25 ranks for 4x3x2 cells; allowed: at most one rank per cell");
  EXPECT_NE(error(5, "auto").find("4x3x2 cells cannot be split into 5 blocks"), std::string::npos);
  EXPECT_NE(error(6, "1d").find("(1d)"), std::string::npos);
  EXPECT_EQ(error(0, "auto"), "ranks: 0; allowed: at least 1");
  EXPECT_EQ(error(-3, "auto"), "ranks: -3; allowed: at least 1");
  EXPECT_EQ(error(2, "slabs"), "decomposition slabs; allowed: auto, 1d, 2d, 3d, or a shape like 2x2x1");
  EXPECT_NE(error(4, "2x1x1").find("as many parts as there are ranks; allowed: shapes of 4 parts"), std::string::npos);
  EXPECT_EQ(error(3, "1x1x3"), "decomposition 1x1x3: axis z has 2 cells only; allowed: as many parts at most");
  for (const char* shape :
       {"", "2", "2x1", "2x1x1x1", "2x1x1 ", "-2x-1x1", "0x1x2", "2x1x", "99999999999999999999x1x1"})
    EXPECT_THROW(Decomposition(grid, 2, shape), UsageError) << shape;
  EXPECT_EQ(error(2, "1x4294967298x1"), "decomposition 1x4294967298x1: 4294967298 parts; allowed: 1 to 2147483647");
  EXPECT_EQ(error(2, "2x1x99999999999999999999"),
            "decomposition 2x1x99999999999999999999: 99999999999999999999 parts; allowed: 1 to 2147483647");
  EXPECT_EQ(error(2, "2x0x1"), "decomposition 2x0x1: 0 parts; allowed: 1 to 2147483647");
  EXPECT_EQ(error(2, "2x1xz"), "decomposition 2x1xz; allowed: auto, 1d, 2d, 3d, or a shape like 2x2x1");
  for (const char* shape : {"65536x65536x65537", "2147483647x2147483647x2147483647"})
    EXPECT_THROW(Decomposition(grid, 1, shape), UsageError) << "the product does not wrap around";
}

TEST(Errors, name_the_axis_of_an_impossible_grid) {
  const auto error = [](const Grid& grid) { return test::refusal([&] { Decomposition d(grid, 1); }); };
  EXPECT_EQ(error(unit_grid({4, 0, 2})), "grid: axis y: 0 cells; allowed: 1 to 16777216");
  EXPECT_EQ(error(unit_grid({1, 1, kMaxAxisCells + 1})), "grid: axis z: 16777217 cells; allowed: 1 to 16777216");
  EXPECT_EQ(error(unit_grid({1 << 14, 1 << 13, 1 << 13})),
            "grid: 16384x8192x8192 cells; allowed: fewer than 2^40 in all");
  EXPECT_EQ(error(unit_grid({1 << 14, 1 << 13, (1 << 13) - 1})), "nothing was thrown");
  for (const double extent : {0.0, -1.0, double{NAN}, double{INFINITY}}) {
    Grid grid = unit_grid({4, 3, 2});
    grid.box.extent[2] = extent;
    EXPECT_NE(error(grid).find("grid: axis z from 0, extent "), std::string::npos) << error(grid);
  }
  Grid grid = unit_grid({4, 3, 2});
  grid.box.lower[0] = NAN;
  EXPECT_NE(error(grid).find("axis x"), std::string::npos) << error(grid);
}

TEST(Errors, cells_that_doubles_at_the_corners_do_not_tell_apart_are_refused_by_every_kind_of_blocks) {
  const auto grid = [](double lower, double extent, std::int64_t cells) {
    return Grid{{{lower, 0, 0}, {extent, 1, 1}, {true, true, true}}, {cells, 1, 1}};
  };
  const std::string what =
      "grid: axis x from 1e+17, extent 1, 4 cells: their edges, 0.25, cannot be told apart there, "
      "where doubles are 16 apart; allowed: edges of at least 4 times that";
  EXPECT_EQ(test::refusal([&] { Decomposition d(grid(1e17, 1, 4), 1); }), what);
  EXPECT_EQ(test::refusal([&] { static_cast<void>(Decomposition::from_cuts(grid(1e17, 1, 4), {})); }), what);
  EXPECT_EQ(test::refusal([&] { static_cast<void>(Decomposition::from_boxes(grid(1e17, 1, 4), {})); }), what);
  EXPECT_EQ(test::refusal([&] { check_grid(grid(-1e17, 64, 1), "in.nc"); }), "nothing was thrown");
  EXPECT_EQ(test::refusal([&] { check_grid(grid(-1e17, 64, 2), "in.nc"); }).find("in.nc: axis x from -1e+17"), 0U);
  EXPECT_EQ(test::refusal([&] { check_grid(grid(-1, 1, kMaxAxisCells)); }), "nothing was thrown");
}

TEST(Decomposition, a_box_whose_distances_would_not_be_numbers_is_refused) {
  const auto grid = [](double lower, double extent) {
    return Grid{{{0, lower, 0}, {1, extent, 1}, {true, true, true}}, {4, 4, 4}};
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double extent : {0.0, -1.0, 1e-101, 1e101, nan, infinity})
    EXPECT_THROW(Decomposition(grid(0, extent), 2), InputError) << extent;
  for (const double lower : {nan, infinity, -infinity})
    EXPECT_THROW(Decomposition(grid(lower, 1), 2), InputError) << lower;
  for (const double extent : {1e-100, 1.0, 1e100}) EXPECT_NO_THROW(Decomposition(grid(-extent, extent), 2)) << extent;
}

}  // namespace
