#pragma once
/// Decomposition by boxes: blocks that tile a box without being a tensor product.
#include <vector>

#include "merganser/geometry/decomposition.hpp"

namespace merganser {

/// Blocks and neighbour lists of a decomposition by boxes, shared by its copies.
struct Decomposition::Tiles {
  std::vector<Block> blocks;                 ///< by rank; faces on the boundary of the box have exactly its coordinates
  std::vector<std::vector<int>> neighbours;  ///< by rank: ranks whose blocks touch, ascending

  [[nodiscard]] int owner(const Decomposition& d, const Vec3& p) const;
  [[nodiscard]] int next_hop(int rank, int owner) const;
};

}  // namespace merganser
