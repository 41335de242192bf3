#pragma once
/// Nearest neighbours among points that lie in leaves of a tree: one leaf's points against another leaf's.
///
/// Distances are the canonical ones, which have the same bits on every processor: s is |a - b| on an axis, or the period
/// less that where it is smaller, and axes are added from the left, ((s0 s0 + s1 s1) + s2 s2) + ... (or see Norm).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "merganser/geometry/box.hpp"

namespace merganser::nearest {

/// What is compared: the sum of squares from the left, the sum from the left, or the greatest of the separations.
enum class Norm : std::uint8_t { squares, sum, most };

/// Points of the unit sphere compare by the squared chord |a - b|^2 up to 3, an angle of 120 degrees. Beyond, where chords
/// hardly differ, by 4 - |a + b|: it grows with the angle too, from 3 to 4, and keeps its digits at antipodes.
inline constexpr double kFarChord2 = 3;
/// What is compared where the squared chord is above kFarChord2. @param sum2  |a + b|^2, added as the chord is
inline double far_on_sphere(double sum2) { return std::max(4 - std::sqrt(sum2), kFarChord2); }
/// No more than what is compared where the squared chord, as rounded, is at least `chord2`: |a - b|^2 + |a + b|^2 is 4 to
/// within 5e-15.
inline double least_on_sphere(double chord2) {
  if (!(chord2 > kFarChord2)) return chord2;
  return std::max(4 - std::sqrt(std::max(4 - chord2, 0.0) + 1e-14) - 1e-15, kFarChord2);
}

/// Points as separate coordinates, each array with 16 more that are infinite or any numbers.
struct LeafPoints {
  static constexpr int kMaxAxes = 16;
  std::array<const double*, kMaxAxes> axis{};
  int axes = 3;                        ///< 3 to kMaxAxes
  const double* core = nullptr;        ///< least distance of each point to anything, as compared; null: none
  const std::uint64_t* ids = nullptr;  ///< smaller ones win ties
  const double* period = nullptr;      ///< of each axis; infinite: none
  bool periodic = false;               ///< some period is finite
  Norm norm = Norm::squares;
  bool sphere = false;  ///< three axes, on the unit sphere: see kFarChord2
};

/// The points that look for neighbours, `first` .. `first + count` - 1, and the best of each found so far, in order:
/// row q of `keep` numbers, a multiple of 8. Not yet found: an infinite distance and any point. limit[q] is the last
/// distance of row q; `limit` has 16 more numbers, all negative.
struct LeafLists {
  std::uint32_t first;
  std::uint32_t count;
  std::uint32_t keep;
  double* distance2;
  std::uint64_t* point;
  double* limit;
};

/// Takes the points from `begin` to `end` - 1, which lie in a box, into the lists, by (what is compared, id): the canonical
/// distance, or the core of either point if that is greater.
/// @param lower  of the box, one number per axis
/// @return the greatest limit
/// Cost: O(count) if the box is beyond all limits, else the points of the box for each list that it may improve.
double scan_leaf(const LeafPoints& points, const LeafLists& lists, const double* lower, const double* upper,
                 std::uint32_t begin, std::uint32_t end);

/// Canonical distances of a place to the points from `begin` to `end` - 1, without their cores; for those above `most` any
/// number above it.
/// @param place  one coordinate per axis
/// @param to     room for 8 more numbers than points
void leaf_distances(const LeafPoints& points, const double* place, double most, std::uint32_t begin, std::uint32_t end,
                    double* to);

}  // namespace merganser::nearest
