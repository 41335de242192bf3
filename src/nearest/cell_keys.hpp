#pragma once
/// Vectorised sweeps over all parcels for the cell list: cell numbers and filter coordinates, dispatched at run time.
#include <cstddef>
#include <cstdint>

#include "merganser/geometry/box.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::nearest {

/// Constants of the map from positions to cells of the search grid: cell = (x - lower) * inverse_width on each axis, cut to 0 ..
/// cells - 1.
struct CellArithmetic {
  Vec3 lower;             ///< lower corner of the cells
  Vec3 inverse_width;     ///< reciprocal edges of a cell, by axis
  std::int32_t cells[3];  ///< number of cells by axis
  Vec3 least;             ///< least position allowed, by axis
  Vec3 most;              ///< greatest position allowed, by axis
};

/// First sweep of binning points into a CellList: computes their half-cells in the search grid, key[i] = 2 * cell of point first +
/// i, + 1 if it is not small, for `count` points.
/// @return false if a position is not allowed or a volume not is_volume(); the keys are then invalid
bool cell_keys(const CellArithmetic& cells, const PointSet& points, std::size_t first, std::size_t count,
               std::uint32_t* key);

/// Map from positions to the coordinates of the filter of block_search(), round((position - lower) * scale) modulo 2^16, and to the
/// nodes of the search grid, the corners of its cells: on each axis the nearest one, trunc((position - lower) * inverse_width + 1/2),
/// cut to 0 .. cells. Numbers of nodes grow along x, then y, then z.
struct FilterMap {
  Vec3 lower;             ///< lower corner of the cells
  double scale;           ///< units of the filter in a unit of length
  Vec3 inverse_width;     ///< reciprocal edges of a cell, by axis
  std::int32_t cells[3];  ///< number of cells by axis; there is one node more
};

/// Arrays that filter_coordinates() writes.
struct FilterArrays {
  std::uint16_t* at[3];  ///< coordinates of the filter by axis
  std::uint32_t* node;   ///< number of the nearest node
};

/// Last sweep of sorting parcels into a CellList: computes filter coordinates and nodes of `count` sites.
void filter_coordinates(const FilterMap& map, const Site* sites, std::size_t count, const FilterArrays& to);

/// Place around which near_in_run() looks.
struct NearPlace {
  Vec3 at;
  double limit;  ///< greatest squared distance, which is computed without regard to rounding
};

/// Finds which sites from `begin` to `end` - 1 are near a place. Local.
/// @param count  number of sites, at least `end`
/// @param to  output, ascending; room for end - begin numbers
/// @return how many there are
std::uint32_t near_in_run(const Site* sites, std::size_t count, const NearPlace& place, std::uint32_t begin,
                          std::uint32_t end, std::uint32_t* to);

}  // namespace merganser::nearest
