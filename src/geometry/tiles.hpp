#pragma once
/// Domain decomposition by boxes: blocks of the ranks that tile a box without being a tensor product.
#include <vector>

#include "merganser/geometry/decomposition.hpp"

namespace merganser {

/// Blocks and neighbour lists of the ranks in a domain decomposition by boxes, shared by its copies.
struct Decomposition::Tiles {
  std::vector<Block> blocks;                 ///< by rank; faces on the boundary of the box have exactly its coordinates
  std::vector<std::vector<int>> neighbours;  ///< by rank: ranks whose blocks touch, ascending

  /// Returns the rank whose box contains a point; of a point outside all by rounding the nearest. O(ranks).
  [[nodiscard]] int owner(const Decomposition& d, const Vec3& p) const;
  /// Returns the neighbour of `rank` on a shortest route to `owner` in the graph of neighbouring boxes. @throws InputError without
  /// one
  [[nodiscard]] int next_hop(int rank, int owner) const;
};

}  // namespace merganser
