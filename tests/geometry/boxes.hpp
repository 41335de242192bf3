#pragma once
/// Generators of random boxes, grids and points for property tests.
#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "merganser/geometry/box.hpp"

namespace merganser::test {

inline std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

/// Draws a fraction in [0, 1), often exactly 0 or a multiple of 1/8.
inline double any_fraction() {
  if (*rc::gen::inRange(0, 3) == 0) return *rc::gen::inRange(0, 8) / 8.0;
  return *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 53) * 0x1p-53;
}

/// Draws a box whose extents differ by axis, with a lower corner at 0 or up to a thousand extents away.
inline Box any_box() {
  Box box;
  const double unit = *rc::gen::element(1.0, 1e-30, 1e30, 0.1);
  for (int a = 0; a < 3; ++a) {
    box.extent[a] = unit * *rc::gen::element(1.0, 3.0, 0.7, 100.0);
    box.lower[a] = box.extent[a] * *rc::gen::element(0.0, -0.5, 1.0 / 3, -1000.0);
    box.periodic[a] = *rc::gen::arbitrary<bool>();
  }
  return box;
}

/// Draws a point inside a box: below lower + extent on a periodic axis, at most there on an axis with walls.
inline Vec3 any_point(const Box& box) {
  Vec3 p;
  for (int a = 0; a < 3; ++a) {
    p[a] = box.lower[a] + any_fraction() * box.extent[a];
    if (!box.periodic[a] && *rc::gen::inRange(0, 20) == 0) p[a] = box.lower[a] + box.extent[a];
    p[a] = box.wrap(a, p[a]);
  }
  return p;
}

inline Grid any_grid(std::int64_t most_cells_per_axis) {
  Grid grid{any_box(), {}};
  for (int a = 0; a < 3; ++a) grid.cells[a] = *rc::gen::inRange<std::int64_t>(1, most_cells_per_axis + 1);
  return grid;
}

}  // namespace merganser::test
