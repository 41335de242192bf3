#pragma once
/// Scan of the points of one leaf of a spatial tree for nearest neighbours of another leaf's points: the k-nearest
/// lists of spanning forests. Local.
///
/// Distances are the canonical ones, which have the same bits on every processor: s is |a - b| on an axis, or the
/// period less that where it is smaller, and axes are added from the left, ((s0 s0 + s1 s1) + s2 s2) + ... (or see
/// Norm).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "merganser/geometry/box.hpp"

namespace merganser::nearest {

/// Norm by which points compare: sum of the squared separations from the left, sum of the separations from the left, or
/// the greatest separation.
enum class Norm : std::uint8_t { squares, sum, most };

/// Points of the unit sphere compare by the squared chord |a - b|^2 up to 3, an angle of 120 degrees. Beyond, where chords
/// hardly differ, by 4 - |a + b|: it grows with the angle too, from 3 to 4, and keeps its digits at antipodes.
inline constexpr double kFarChord2 = 3;
/// Returns the measure by which points of the unit sphere compare where their squared chord is above kFarChord2: 4 - |a
/// + b|. @param sum2  |a + b|^2, added as the chord is
inline double sphere_far_distance(double sum2) { return std::max(4 - std::sqrt(sum2), kFarChord2); }
/// Returns a lower bound of the measure by which points of the unit sphere compare if their squared chord, as rounded,
/// is at least `chord2`. The margin covers rounding: |a - b|^2 + |a + b|^2 is 4 to within 5e-15.
inline double sphere_lower_bound(double chord2) {
  if (!(chord2 > kFarChord2)) return chord2;
  return std::max(4 - std::sqrt(std::max(4 - chord2, 0.0) + 1e-14) - 1e-15, kFarChord2);
}

/// Points of a spatial tree for scan_leaf() as a structure of arrays, one array per axis; each array has 16 more elements at its
/// end, infinite or any numbers.
struct LeafPoints {
  static constexpr int kMaxAxes = 16;
  std::array<const double*, kMaxAxes> axis{};  ///< coordinates by axis
  int axes = 3;                                ///< number of axes, 3 to kMaxAxes
  /// Core distance of each point, in the measure of the norm: no distance to it counts as less; null: none
  const double* core = nullptr;
  const std::uint64_t* ids = nullptr;  ///< id of each point; the lower one wins ties
  const double* period = nullptr;      ///< period of each axis; infinite: none
  bool periodic = false;               ///< whether some period is finite
  Norm norm = Norm::squares;           ///< measure of distances
  bool sphere = false;                 ///< whether the points lie on the unit sphere, on three axes: see kFarChord2
};

/// Lists of the k nearest points so far, for scan_leaf(), of the query points `first` .. `first + count` - 1, in ascending order of
/// (distance, id).
/// Query q has row q of `keep` entries; an entry not yet found has an infinite distance and any point.
struct LeafLists {
  std::uint32_t first;   ///< number of the first query point of the lists
  std::uint32_t count;   ///< number of query points, one list each
  std::uint32_t keep;    ///< length of each list, a multiple of 8
  double* distance2;     ///< count rows of `keep` distances, in the measure of the norm
  std::uint64_t* point;  ///< count rows of `keep` point numbers
  double* limit;         ///< last distance of each row; 16 more numbers at the end, all negative
};

/// Merges the points of a tree leaf, `begin` to `end` - 1, which lie in a box, into k-nearest lists, ordered by (distance, id): the
/// canonical distance, or the core distance of either point if that is greater. Local.
/// @param lower  lower corner of the box, one number per axis
/// @param upper  upper corner of the box, one number per axis
/// @return the greatest limit of all lists
/// Cost: O(count) if the box is beyond all limits, else the points of the box for each list that it may improve.
double scan_leaf(const LeafPoints& points, const LeafLists& lists, const double* lower, const double* upper,
                 std::uint32_t begin, std::uint32_t end);

/// Computes the canonical distances of a position to the points from `begin` to `end` - 1, without core distances; for
/// those above `most` any number above it.
/// @param place  one coordinate per axis
/// @param to     output; room for 8 more numbers than points
void leaf_distances(const LeafPoints& points, const double* place, double most, std::uint32_t begin, std::uint32_t end,
                    double* to);

}  // namespace merganser::nearest
