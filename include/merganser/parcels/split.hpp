#pragma once
/// Splitting of long or large ellipsoids. Source: EPIC 0.14.3; [frey2023].
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Which parcels are split, and the ids of what they become.
struct SplitOptions {
  double max_aspect_ratio = 4;  ///< split if a/c >= this, or ...
  double max_semi_axis = 0;     ///< ... a >= this; 0: radius of a sphere of one cell's volume
  std::int64_t next_id = 0;     ///< id of the first new child; 0: the largest id here + 1 (one rank only)
  std::int64_t id_step = 1;     ///< distance between new ids: the number of ranks, with next_id = base + rank
  bool consecutive_ids =
      false;  ///< a new child has its parent's id + 1, which must be free; next_id and id_step are unused
};

/// Eigenvalues a^2 >= b^2 >= c^2 of B and their unit vectors (rows). Symmetric 3x3, accurate to rounding.
struct Axes {
  double square[3];
  double vector[3][3];
};
/// The axes of an ellipsoid of this volume.
/// @param b5  B11 B12 B13 B22 B23; B33 follows from the volume
[[nodiscard]] Axes axes(const double* b5, double volume);

/// Splits every parcel that is too long, once. Children: centre +- sqrt(3/5)/2 a v1, B - (3/4) a^2 v1 v1^T, V/2.
/// Zeroth, first and second moments are those of the parent. Local. @return number of splits
std::int64_t split(Parcels& parcels, const Grid& grid, const SplitOptions& options = {});

}  // namespace merganser
