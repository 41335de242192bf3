#pragma once
/// Distances between pairs of points of any number of axes, where no tree helps.
#include <cstddef>

#include "merganser/nearest/leaf_scan.hpp"

namespace merganser::nearest {

/// Points in blocks of eight: coordinate a of point i is data[(i / 8 * axes + a) * 8 + i % 8]. There is room for a multiple
/// of kPairGroup points; what is not a point may be any numbers.
struct PairPoints {
  const double* data = nullptr;
  std::size_t axes = 1;
  const double* period = nullptr;  ///< of each axis, infinite: none; null: no axis has one
  Norm norm = Norm::squares;
};

/// Points that are compared at once.
inline constexpr std::size_t kPairGroup = 32;

/// Canonical distances (see leaf_scan.hpp) of a place to the points from `begin` to `end` - 1, both multiples of kPairGroup;
/// for a point whose limit is lower, any number above that.
/// @param place  one coordinate per axis
/// @param most   the limit of each of these points
/// @param to     one number for each
/// Cost: O((end - begin) axes) at most; groups whose limits are passed by the first axes cost less.
void pair_distances(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                    std::size_t end, double* to);

}  // namespace merganser::nearest
