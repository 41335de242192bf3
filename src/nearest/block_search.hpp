#pragma once
/// The vectorised inner loop of the exact search, chosen at run time for the CPU.
#include <cstdint>
#include <vector>

namespace merganser::nearest {

/// What the kernel sees. Filter coordinates are single precision, relative to the cells' lower corner, scaled so that
/// the widest cell edge is 1. A node is a corner of cells; small parcels are listed under their nearest node.
struct BlockSearch {
  const float* x;
  const float* y;
  const float* z;
  const std::uint32_t*
      cell_start;  ///< by cell and kind: all parcels of cell c are cell_start[2c] .. cell_start[2c + 2]
  const std::uint32_t*
      node_start;  ///< small parcels of node j are by_node[node_start[j]] .. by_node[node_start[j + 1]]
  const std::uint32_t* by_node;
  int cells[3];            ///< nodes: cells + 1
  float width[3];          ///< of a cell, scaled
  float far[3][2];         ///< lower and upper face of the region, scaled; +-infinity at walls
  float coordinate_error;  ///< bound of twice the rounding of one filter coordinate
  std::uint32_t* target;   ///< out: by vertex, nearest vertex
  /// A vertex whose nearest is not certain, and its nearest in the block if that is beyond doubt.
  struct Open {
    std::uint32_t vertex;
    std::uint32_t candidate;  ///< links::kNone: unknown
  };
  std::vector<Open>* open;  ///< out
};

/// Settles what it can for all small parcels: the nearest in the 2x2x2 cells around the node, where it is nearer than
/// anything outside of them can be.
void block_search(const BlockSearch& s);
const char* block_search_target();

}  // namespace merganser::nearest
