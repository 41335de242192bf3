#pragma once
/// k-d trees over crowded cells of the cell list, so that a search among thousands of near parcels reads only a few.
///
/// A tree has no nodes in memory: its run of vertices is sorted so that each half of a part of the run is a part again,
/// and only the bounding box of each part is stored. Boxes are exact, and the least distance from a box is computed
/// with the operations of the canonical distance, each of them monotonic. So no parcel of a part is nearer than the
/// bound of its box, even with rounding.
#include <cstdint>
#include <vector>

#include "src/nearest/best_so_far.hpp"

namespace merganser::nearest {

/// Implicit k-d trees of the crowded cells of one cell list.
class CrowdedTrees {
 public:
  static constexpr std::uint32_t kCrowded = 64;  ///< runs longer than this have a tree

  /// Range of vertices begin .. end - 1 of the cell list: parcels of one cell and kind (small or not).
  struct Run {
    std::uint32_t begin;
    std::uint32_t end;
  };

  /// Allocates the trees of all `runs`, each longer than kCrowded, of n vertices.
  CrowdedTrees(std::size_t n, const std::vector<Run>& runs);

  /// Builds the k-d tree of a run by sorting its sites. `order` holds the container positions of `sites`, and is permuted
  /// along.
  void build(const Run& run, Site* sites, std::uint32_t* order, const PointSet& points);
  /// Compares the parcels of a run, which has a tree, with the best candidate of a query so far. Cost: O(log m) for m
  /// parcels if few are equally near.
  void search(const Run& run, const Box& box, BestSoFar& best_so_far) const;

 private:
  /// Bounding box of the parcels in a part of a k-d tree.
  struct Bounds {
    Vec3 lower;
    Vec3 upper;
  };
  struct Part;
  class Builder;
  /// Returns a lower bound of the canonical squared distance from q to any parcel in a bounding box.
  static double distance2_to(const Bounds& b, const Box& box, const Vec3& q);

  std::vector<Bounds> bounds_;  // of all trees, one after another; within a tree by the number of the part
  // First box of each run, at its first vertex / kCrowded, rounded up: unique, since runs are longer than kCrowded.
  std::vector<std::size_t> first_box_;
};

}  // namespace merganser::nearest
