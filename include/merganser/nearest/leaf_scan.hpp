#pragma once
/// Nearest neighbours among points that lie in leaves of a tree: one leaf's points against another leaf's.
#include <cstdint>

#include "merganser/geometry/box.hpp"

namespace merganser::nearest {

/// Points as separate coordinates, each array with 16 more that are infinite or any numbers.
struct LeafPoints {
  const double* x;
  const double* y;
  const double* z;
  const double* core;        ///< least squared distance of each point to anything; null: none
  const std::uint64_t* ids;  ///< smaller ones win ties
  Vec3 period;               ///< infinite: none
  bool periodic;             ///< some period is finite
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

/// Takes the points from `begin` to `end` - 1, which lie in a box, into the lists, by (squared distance, id). The
/// squared distance is the canonical one (Box::distance2), or the core of either point if that is greater.
/// @return the greatest limit
/// Cost: O(count) if the box is beyond all limits, else the points of the box for each list that it may improve.
double scan_leaf(const LeafPoints& points, const LeafLists& lists, const Vec3& lower, const Vec3& upper,
                 std::uint32_t begin, std::uint32_t end);

}  // namespace merganser::nearest
