#pragma once
/// k-d trees over crowded runs of sorted parcels, so that a search among thousands of near ones looks at a few.
///
/// A tree is an order and boxes: its run is sorted so that each half of a part is a part again, and the box of each part
/// is kept, nothing else. Boxes are exact, and the least separation from a box is computed with the operations of the
/// canonical distance, each of them monotonic: no parcel of a part is nearer than its bound, not by rounding either.
#include <cstdint>
#include <vector>

#include "src/nearest/best_so_far.hpp"

namespace merganser::nearest {

class CrowdedTrees {
 public:
  static constexpr std::uint32_t kCrowded = 64;  ///< runs longer than this have a tree

  /// Vertices begin .. end - 1: parcels of one cell and kind.
  struct Run {
    std::uint32_t begin;
    std::uint32_t end;
  };

  /// Room for the trees of all `runs`, each longer than kCrowded, of n vertices.
  CrowdedTrees(std::size_t n, const std::vector<Run>& runs);

  /// Sorts a run. `order` tells the container positions of `sites`, and is sorted along.
  /// Cost: O(m log m) time for m parcels, 6 to 12 bytes of memory each.
  void grow(const Run& run, Site* sites, std::uint32_t* order, const PointSet& points);
  /// Offers all that could win. Cost: O(log m) where few parcels are equally near.
  void search(const Run& run, const Box& box, BestSoFar& best_so_far) const;

 private:
  struct Bounds {
    Vec3 lower;
    Vec3 upper;
  };
  struct Part;
  class Grower;
  static double distance2_to(const Bounds& b, const Box& box, const Vec3& q);

  std::vector<Bounds> bounds_;
  std::vector<std::size_t> first_box_;  // of the run that holds vertex kCrowded * i: runs are longer than kCrowded
};

}  // namespace merganser::nearest
