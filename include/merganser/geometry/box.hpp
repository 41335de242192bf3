#pragma once
/// Domain (periodic or walled box), its grid of cells, and the distance formulas, which give the same bits on every rank and
/// processor.
///
/// The library is compiled without floating-point contraction (-ffp-contract=off); do not add fused operations here.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Coordinates of a point, or components of a vector, in space: x, y, z.
using Vec3 = std::array<double, 3>;

/// Domain of the parcels: an axis-aligned box, each axis periodic or bounded by walls.
struct Box {
  Vec3 lower{0, 0, 0};                              ///< coordinates of the lower corner
  Vec3 extent{1, 1, 1};                             ///< edge lengths, > 0
  std::array<bool, 3> periodic{true, true, false};  ///< true: the axis is periodic; false: it is bounded by walls

  /// Returns true if corner, extents and periodicity of two boxes are equal.
  friend bool operator==(const Box&, const Box&) = default;

  /// Maps a coordinate into the box by periodicity: into [lower, lower + extent) on a periodic axis, unchanged on an axis with
  /// walls.
  /// @param axis  0, 1 or 2
  /// @param x     any finite coordinate; returned unchanged if it is inside already
  [[nodiscard]] double wrap(int axis, double x) const {
    if (!periodic[axis]) return x;
    const double lo = lower[axis];
    const double len = extent[axis];
    if (x >= lo && x < lo + len) return x;
    double y = x - len * std::floor((x - lo) / len);
    // Rounding may leave y outside by one unit; both faces of a periodic axis are the same plane, so `lo` is right for either.
    if (y < lo) y = lo;
    if (y >= lo + len) y = lo;
    return y;
  }

  /// Returns the distance of two coordinates on one axis: |a - b|, or on a periodic axis of length L the smaller of |a - b| and
  /// L - |a - b|. Exchanging a and b gives the same bits. a and b must be inside the box.
  [[nodiscard]] double separation(int axis, double a, double b) const {
    const double d = std::fabs(a - b);
    if (!periodic[axis]) return d;
    const double e = std::fabs(extent[axis] - d);
    return e < d ? e : d;
  }

  /// Returns the squared distance of two points inside the box, the least over all periodic images: (sx*sx + sy*sy) + sz*sz with
  /// s = separation(), added in this order on every rank. Exchanging the points gives the same bits.
  [[nodiscard]] double distance2(const Vec3& a, const Vec3& b) const {
    const double x = separation(0, a[0], b[0]);
    const double y = separation(1, a[1], b[1]);
    const double z = separation(2, a[2], b[2]);
    return (x * x + y * y) + z * z;
  }

  /// Returns the signed displacement from b to the nearest periodic image of a on one axis of length L: d = a - b, d - L if d >
  /// L/2, d + L if d < -L/2; a - b on an axis with walls. a and b must be inside the box.
  [[nodiscard]] double displacement(int axis, double a, double b) const {
    double d = a - b;
    if (periodic[axis]) {
      const double half = 0.5 * extent[axis];
      if (d > half) {
        d -= extent[axis];
      } else if (d < -half) {
        d += extent[axis];
      }
    }
    return d;
  }

  /// Returns true if a point lies in the box, its faces included; false for NaN.
  [[nodiscard]] bool contains(const Vec3& p) const {
    for (int a = 0; a < 3; ++a)
      if (!(p[a] >= lower[a] && p[a] <= lower[a] + extent[a])) return false;
    return true;
  }
};

/// Regular grid of the domain: a box divided into equal cells, in which the owner of a position is determined.
struct Grid {
  Box box;                                     ///< domain that the cells fill
  std::array<std::int64_t, 3> cells{1, 1, 1};  ///< number of cells along each axis, >= 1

  /// Returns true if boxes and numbers of cells of two grids are equal.
  friend bool operator==(const Grid&, const Grid&) = default;

  /// Returns the edge length of a grid cell along one axis, in units of the box.
  [[nodiscard]] double spacing(int axis) const { return box.extent[axis] / static_cast<double>(cells[axis]); }
  /// Returns the volume of a grid cell, in cubed units of the box.
  [[nodiscard]] double cell_volume() const { return spacing(0) * spacing(1) * spacing(2); }
  /// Returns the number of cells of the grid, along all axes together.
  [[nodiscard]] std::int64_t cell_count() const { return cells[0] * cells[1] * cells[2]; }

  /// Returns the index of the cell that contains a coordinate on one axis, clamped to [0, cells). Every rank uses this formula to
  /// determine the owner of a position, so all find the same one. Coordinates that are not finite are not allowed.
  [[nodiscard]] std::int64_t cell(int axis, double x) const {
    const double g = std::floor((x - box.lower[axis]) / spacing(axis));
    const auto top = static_cast<double>(cells[axis] - 1);
    return static_cast<std::int64_t>(g < 0 ? 0.0 : (g > top ? top : g));
  }
  /// Returns the index, in 0 .. cells, of the grid node nearest to a coordinate inside the box on one axis; ties are rounded up.
  [[nodiscard]] std::int64_t node(int axis, double x) const {
    return static_cast<std::int64_t>(std::round((x - box.lower[axis]) / spacing(axis)));
  }
};

/// Greatest number of grid cells along one axis: balancing stores a number for each.
inline constexpr std::int64_t kMaxAxisCells = std::int64_t{1} << 24;
/// Exclusive upper bound of the number of cells of a grid: cell numbers are 64-bit integers, and ranks store arrays by cell.
inline constexpr double kMaxCells = 0x1p40;
/// Least edge of a grid cell, in units of the distance between adjacent doubles at the corners of the box.
inline constexpr double kMinCellSpacings = 4;

/// Checks that the cells of a grid can be numbered, and told apart in double precision: 1 to kMaxAxisCells cells along each axis,
/// fewer than kMaxCells in all, a finite origin, extents from 1e-100 to 1e100 (squared distances neither underflow nor overflow),
/// and cell edges of at least kMinCellSpacings times the distance between adjacent doubles at the corners of the box. Local.
/// Constructors of decompositions, and readers and writers of files, call it.
/// @param name  beginning of the error message
/// @throws InputError, with the value and what is allowed
void check_grid(const Grid& grid, const std::string& name = "grid");

}  // namespace merganser
