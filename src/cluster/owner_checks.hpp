#pragma once
/// Checks before a step: parcels and points lie in the block of their rank, and volumes are within bounds.
#include <cmath>
#include <cstddef>

#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Checks that the volume of parcel i of this rank is within the bounds of limits.hpp. Local. @throws InputError naming the
/// parcel
void check_volume(const Parcels& parcels, std::size_t i);
/// Checks before a merge step (of the default policy with the decorator `checked` alone) that this rank owns the positions of its
/// parcels and that their volumes are within bounds. Local. @throws InputError naming the first parcel that is not
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank);
/// Checks before StarFinder's search, with the decorator `checked`, that this rank's points lie in its block, up to rounding.
/// Local. @throws InputError naming the first point outside
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank);
/// Returns how far beyond a face of the box rounding may have moved a position on one axis, in units of the box.
[[nodiscard]] inline double rounding_bound(const Box& box, int axis) {
  return 1e-12 * (box.extent[axis] + std::fabs(box.lower[axis]));
}

}  // namespace merganser::cluster
