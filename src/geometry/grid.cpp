// Validation of grids: numbers of cells, extents, and cells that double precision can tell apart.
#include <algorithm>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/geometry/box.hpp"

namespace merganser {
namespace {

/// Returns the distance from the greater of two magnitudes to the next double above it: the greatest spacing of doubles between
/// them.
double spacing_of_doubles(double a, double b) {
  const double x = std::max(std::fabs(a), std::fabs(b));
  return std::nextafter(x, std::numeric_limits<double>::infinity()) - x;
}

/// Checks number of cells, extent and origin of a grid on one axis, and that doubles tell its cells apart. @throws InputError
void check_axis(const Grid& grid, int axis, const std::string& name) {
  const std::string where = name + ": axis " + "xyz"[axis];
  const std::int64_t cells = grid.cells[static_cast<std::size_t>(axis)];
  const double extent = grid.box.extent[static_cast<std::size_t>(axis)];
  const double lower = grid.box.lower[static_cast<std::size_t>(axis)];
  if (cells < 1 || cells > kMaxAxisCells)
    throw InputError(where + ": " + std::to_string(cells) + " cells; allowed: 1 to " + std::to_string(kMaxAxisCells));
  if (!(extent >= 1e-100 && extent <= 1e100 && std::isfinite(lower)))
    throw InputError(where + " from " + number_text(lower) + ", extent " + number_text(extent) +
                     "; allowed: extents from 1e-100 to 1e100, a finite origin");
  // The coarsest doubles on this axis are at the corner that is farthest from 0.
  const double finest = spacing_of_doubles(lower, lower + extent);
  if (grid.spacing(axis) < kMinCellSpacings * finest)
    throw InputError(where + " from " + number_text(lower) + ", extent " + number_text(extent) + ", " +
                     std::to_string(cells) + " cells: their edges, " + number_text(grid.spacing(axis)) +
                     ", cannot be told apart there, where doubles are " + number_text(finest) +
                     " apart; allowed: edges of at least " + number_text(kMinCellSpacings) + " times that");
}

}  // namespace

// Checks a grid axis by axis, then its number of cells.
void check_grid(const Grid& grid, const std::string& name) {
  for (int axis = 0; axis < 3; ++axis) check_axis(grid, axis, name);
  const auto& n = grid.cells;
  if (static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]) >= kMaxCells)
    throw InputError(name + ": " + std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]) +
                     " cells; allowed: fewer than 2^40 in all");
}

}  // namespace merganser
