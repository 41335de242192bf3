#pragma once
/// Brute-force distances between pairs of points of any number of axes, for dimensions in which trees prune nothing.
/// Local.
#include <cstddef>
#include <cstdint>

#include "merganser/nearest/leaf_scan.hpp"

namespace merganser::nearest {

/// Points for brute-force distances (pair_distances()) in blocks of eight, an array of structures of arrays: coordinate a of point
/// i is data[(i / 8 * axes + a) * 8 + i % 8]. There is room for a multiple of kPairGroup points; padding may be any numbers.
struct PairPoints {
  const double* data = nullptr;    ///< coordinates in that layout
  std::size_t axes = 1;            ///< number of axes, >= 1
  const double* period = nullptr;  ///< period of each axis, infinite: none; null: no axis has one
  Norm norm = Norm::squares;       ///< measure of distances
};

/// Number of points that pair_distances() compares at once: four vectors of eight.
inline constexpr std::size_t kPairGroup = 32;

/// Computes the canonical distances (see leaf_scan.hpp) of a position to the points from `begin` to `end` - 1, both
/// multiples of kPairGroup; for a point whose limit is lower, any number above that.
/// @param place  one coordinate per axis
/// @param most   limit of each of these points
/// @param to     output, one number for each
/// Cost: O((end - begin) axes) at most; groups beyond their limits after the first axes cost less.
void pair_distances(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                    std::size_t end, double* to);

/// Computes the canonical distances of a position to the kPairGroup points from `begin` on, a multiple of kPairGroup, as
/// pair_distances() does.
/// @param most  limit of each of these points
/// @param to    output, kPairGroup numbers
/// @return bit i is set if the distance to point begin + i is at most its limit; those of padding mean nothing
[[nodiscard]] std::uint32_t near_pairs(const PairPoints& points, const double* place, const double* most,
                                       std::size_t begin, double* to);

}  // namespace merganser::nearest
