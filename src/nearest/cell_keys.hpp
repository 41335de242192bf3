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

/// Last sweep of sorting parcels into a CellList: computes their coordinates for the single-precision filter of block_search(),
/// (position - lower) * scale, rounded; to[a] for axis a.
void filter_coordinates(const Vec3& lower, double scale, const Site* sites, std::size_t count, float* const (&to)[3]);

/// Map from filter coordinates to the nodes of the search grid, the corners of its cells: on each axis the nearest one, trunc(coordinate
/// * inverse_width + 1/2), cut to 0 .. cells. Numbers of nodes grow along x, then y, then z.
struct NodeMap {
  const float* at[3];      ///< filter coordinates by axis and vertex
  float inverse_width[3];  ///< reciprocal edges of a cell in filter coordinates, by axis
  std::int32_t cells[3];   ///< number of cells by axis; there is one node more
};

/// Sweep before block_search(): computes the node nearest to each of the first `count` vertices. Reads up to 16 coordinates beyond the
/// last, which must be there.
void nearest_nodes(const NodeMap& map, std::size_t count, std::uint32_t* node);

/// Finds which vertices from `begin` to `end` - 1 are near a place, by single-precision squared distances up to `limit`. Local.
/// @param filter  coordinates of the filter, x by vertex; y and z follow after `stride` and 2 * `stride` numbers. Reads up to 16 numbers
///                beyond the last vertex, which must be there
/// @param place  x, y, z
/// @param to  output, ascending; room for end - begin numbers
/// @return how many there are
std::uint32_t near_in_run(const float* filter, std::size_t stride, const float* place, float limit, std::uint32_t begin,
                          std::uint32_t end, std::uint32_t* to);

}  // namespace merganser::nearest
