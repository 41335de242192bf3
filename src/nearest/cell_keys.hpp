#pragma once
/// The two sweeps over all parcels that sort them by cell, chosen at run time for the CPU.
#include <cstddef>
#include <cstdint>

#include "merganser/geometry/box.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::nearest {

/// How positions become cells: cell = (x - lower) * inverse_width on each axis, cut to 0 .. cells - 1.
struct CellArithmetic {
  Vec3 lower;
  Vec3 inverse_width;
  std::int32_t cells[3];
  Vec3 least;  ///< positions allowed
  Vec3 most;
};

/// key[i] = 2 * cell of point first + i, + 1 if it is not small, for `count` points.
/// @return false if a position is not allowed or a volume not is_volume(); the keys are then of no use
bool cell_keys(const CellArithmetic& cells, const PointSet& points, std::size_t first, std::size_t count,
               std::uint32_t* key);

/// Coordinates of the filter: (position - lower) * scale, rounded to single precision; to[a] for axis a.
void filter_coordinates(const Vec3& lower, double scale, const Site* sites, std::size_t count, float* const (&to)[3]);

}  // namespace merganser::nearest
