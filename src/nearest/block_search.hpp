#pragma once
/// Vectorised inner loop of the exact nearest-neighbour search, dispatched at run time to the vector instructions of
/// the CPU: a single-precision filter that decides a query only where rounding cannot change the result.
#include <cstdint>
#include <vector>

namespace merganser::nearest {

/// Arguments of block_search(), the inner loop of the exact nearest-neighbour search. Filter coordinates are single
/// precision, relative to the cells' lower corner, scaled so that the widest cell edge is 1. A node is a corner of
/// cells; small parcels are listed under their nearest node.
struct BlockSearch {
  const float* x;  ///< x coordinates of the filter by vertex
  const float* y;  ///< y coordinates of the filter by vertex
  const float* z;  ///< z coordinates of the filter by vertex
  const std::uint32_t*
      cell_start;  ///< by cell and kind: all parcels of cell c are cell_start[2c] .. cell_start[2c + 2]
  const std::uint32_t*
      node_start;                ///< small parcels of node j are by_node[node_start[j]] .. by_node[node_start[j + 1]]
  const std::uint32_t* by_node;  ///< vertices of small parcels, node after node
  int cells[3];                  ///< number of cells by axis; there are cells + 1 nodes
  float width[3];                ///< edges of a cell, scaled
  float far[3][2];               ///< lower and upper face of the region, scaled; +-infinity at walls
  float coordinate_error;        ///< bound of twice the rounding of one filter coordinate
  std::uint32_t* target;         ///< out, by vertex: nearest vertex of small parcels
  /// Small parcel whose nearest neighbour block_search() could not decide, with its nearest within the 2x2x2 cells if
  /// that is certain.
  struct Open {
    std::uint32_t vertex;     ///< vertex of the small parcel
    std::uint32_t candidate;  ///< its nearest parcel in the 2x2x2 cells; links::kNone: unknown
  };
  std::vector<Open>* open;  ///< out: undecided small parcels are appended
};

/// Finds the nearest neighbour of every small parcel within the 2x2x2 cells around the parcel's node. A result is
/// certain if no rounding can change it and no parcel outside these cells can be nearer; parcels without a certain
/// result are appended to `open`. Local.
void block_search(const BlockSearch& s);
/// Returns the name of the vector instructions that block_search() uses on this CPU.
const char* block_search_target();

}  // namespace merganser::nearest
