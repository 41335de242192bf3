#pragma once
/// The domain, its grid of cells, and the canonical arithmetic that every rank and CPU must agree on bit for bit.
///
/// The library is compiled without floating-point contraction (-ffp-contract=off); do not add fused operations here.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser {

/// Three coordinates: x, y, z.
using Vec3 = std::array<double, 3>;

/// Axis-aligned box, each axis periodic or bounded by walls.
struct Box {
  Vec3 lower{0, 0, 0};
  Vec3 extent{1, 1, 1};  ///< > 0
  std::array<bool, 3> periodic{true, true, false};

  friend bool operator==(const Box&, const Box&) = default;

  /// Coordinate on a periodic axis brought into [lower, lower + extent); unchanged on a wall axis.
  /// Valid for any finite x; exact for x already inside.
  [[nodiscard]] double wrap(int axis, double x) const {
    if (!periodic[axis]) return x;
    const double lo = lower[axis];
    const double len = extent[axis];
    if (x >= lo && x < lo + len) return x;
    double y = x - len * std::floor((x - lo) / len);
    if (y < lo) y = lo;
    if (y >= lo + len) y = lo;
    return y;
  }

  /// One axis of the canonical separation: |a - b|, or L - |a - b| where that is smaller on a periodic axis. The same
  /// bits from both ends. a and b must be inside the box.
  [[nodiscard]] double separation(int axis, double a, double b) const {
    const double d = std::fabs(a - b);
    if (!periodic[axis]) return d;
    const double e = std::fabs(extent[axis] - d);
    return e < d ? e : d;
  }

  /// Canonical squared distance: (sx*sx + sy*sy) + sz*sz with s = separation.
  [[nodiscard]] double distance2(const Vec3& a, const Vec3& b) const {
    const double x = separation(0, a[0], b[0]);
    const double y = separation(1, a[1], b[1]);
    const double z = separation(2, a[2], b[2]);
    return (x * x + y * y) + z * z;
  }

  /// Signed displacement a - b with the period that makes it shortest: d, d - L if d > L/2, d + L if d < -L/2.
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

  /// True if a point lies in the box, its faces included. False for NaN.
  [[nodiscard]] bool contains(const Vec3& p) const {
    for (int a = 0; a < 3; ++a)
      if (!(p[a] >= lower[a] && p[a] <= lower[a] + extent[a])) return false;
    return true;
  }
};

/// Box cut into cells.
struct Grid {
  Box box;
  std::array<std::int64_t, 3> cells{1, 1, 1};  ///< >= 1 each

  friend bool operator==(const Grid&, const Grid&) = default;

  /// Edge of a cell along one axis.
  [[nodiscard]] double spacing(int axis) const { return box.extent[axis] / static_cast<double>(cells[axis]); }
  /// Volume of a cell.
  [[nodiscard]] double cell_volume() const { return spacing(0) * spacing(1) * spacing(2); }
  /// Number of cells.
  [[nodiscard]] std::int64_t cell_count() const { return cells[0] * cells[1] * cells[2]; }

  /// Cell index on one axis, clamped to [0, cells): the canonical rule that decides who owns a parcel.
  [[nodiscard]] std::int64_t cell(int axis, double x) const {
    const double g = std::floor((x - box.lower[axis]) / spacing(axis));
    const auto top = static_cast<double>(cells[axis] - 1);
    return static_cast<std::int64_t>(g < 0 ? 0.0 : (g > top ? top : g));
  }
  /// Nearest grid node on one axis (ties away from zero), in 0 .. cells.
  [[nodiscard]] std::int64_t node(int axis, double x) const {
    return static_cast<std::int64_t>(std::round((x - box.lower[axis]) / spacing(axis)));
  }
};

/// Cells along one axis at most, and in all fewer than: what balances blocks keeps a number for every cell of an axis, and
/// what numbers cells does so in 64-bit integers and in memory of the ranks.
inline constexpr std::int64_t kMaxAxisCells = std::int64_t{1} << 24;
inline constexpr double kMaxCells = 0x1p40;
/// Edge of a cell at least, in units of the spacing of doubles at the corners of the box.
inline constexpr double kMinCellSpacings = 4;

/// Checks that cells can be counted and told apart: from 1 to kMaxAxisCells along each axis, fewer than kMaxCells in all, a
/// finite origin, extents from 1e-100 to 1e100 (squared distances neither underflow nor overflow), and edges of cells that
/// are at least kMinCellSpacings times the distance between neighbouring doubles at the corners of the box. Decompositions
/// and the readers and writers of files call it. Local. @throws InputError beginning with `name`, with the value and what is
/// allowed
void check_grid(const Grid& grid, const std::string& name = "grid");

}  // namespace merganser
