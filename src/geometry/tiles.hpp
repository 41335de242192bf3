#pragma once
/// Blocks that tile a box in no order.
#include <vector>

#include "merganser/geometry/decomposition.hpp"

namespace merganser {

struct Decomposition::Tiles {
  std::vector<Block> blocks;                 ///< by rank; faces at the box's own have exactly its coordinates
  std::vector<std::vector<int>> neighbours;  ///< by rank, ascending

  [[nodiscard]] int owner(const Decomposition& d, const Vec3& p) const;
  [[nodiscard]] int next_hop(int rank, int owner) const;
};

}  // namespace merganser
