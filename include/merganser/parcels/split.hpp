#pragma once
/// Splitting of long or large ellipsoidal parcels into two, which conserves volume and moments. Source: EPIC 0.14.3;
/// [frey2023].
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Parameters of split(): thresholds of the axes of parcels, and the ids of new parcels.
struct SplitOptions {
  double max_aspect_ratio = 4;  ///< split if a/c >= this, > 1, or ...
  double max_semi_axis = 0;     ///< ... a >= this, in units of the box; 0: radius of a sphere of one cell's volume
  std::int64_t next_id = 0;     ///< id of the first new child; 0: the largest id of this rank + 1 (one rank only)
  std::int64_t id_step = 1;     ///< difference of consecutive new ids: the number of ranks, with next_id = base + rank
  bool consecutive_ids =
      false;  ///< a new child has its parent's id + 1, which must be free; next_id and id_step are unused
};

/// Principal axes of an ellipsoid: eigenvalues a^2 >= b^2 >= c^2 of B and their unit vectors (rows), accurate to
/// rounding.
struct Axes {
  double square[3];     ///< squared semi-axes of the ellipsoid, descending
  double vector[3][3];  ///< unit vector of each semi-axis, by row
};
/// Computes the principal axes of the ellipsoid of a parcel.
/// @param b5  B11 B12 B13 B22 B23; B33 follows from the volume
[[nodiscard]] Axes principal_axes(const double* b5, double volume);

/// Splits one parcel of this rank along its longest axis, whatever its shape, as split() does. Local.
/// @param i       its index; one child stays there, the other is appended
/// @param new_id  id of the other child
/// @throws UsageError for a schema without an attribute of rule ellipsoid
void split_parcel(Parcels& parcels, std::size_t i, const Box& box, std::int64_t new_id);

/// Splits every parcel of this rank that is too long or too large, once. Children: centre +- sqrt(3/5)/2 a v1, B -
/// (3/4) a^2 v1 v1^T, V/2. Zeroth, first and second moments are those of the parent. One child replaces the parent, the
/// other is appended. Local.
/// @return number of splits
/// @throws UsageError for a schema without an attribute of rule ellipsoid, or max_aspect_ratio not above 1
std::int64_t split(Parcels& parcels, const Grid& grid, const SplitOptions& options = {});

}  // namespace merganser
