#pragma once
/// Vectorised inner loop of the exact nearest-neighbour search, dispatched at run time to the vector instructions of
/// the CPU: a filter in 16-bit fixed-point numbers that decides a query only where rounding cannot change the result.
#include <cstdint>
#include <vector>

namespace merganser::nearest {

/// Units of filter coordinates in the widest edge of a cell.
inline constexpr double kFilterUnits = 32768;
/// Coordinates beside the position that the filter takes, at most.
inline constexpr std::uint32_t kMaxMoreFilter = 3;

/// Arguments of block_search(), the inner loop of the exact nearest-neighbour search. A filter coordinate is the distance from the
/// cells' lower corner in units of the widest cell edge / kFilterUnits, rounded to an integer, modulo 2^16: differences of less than
/// one cell edge are exact to a unit. A node is a corner of cells; small parcels are listed under their nearest node.
struct BlockSearch {
  const std::uint16_t* x;                     ///< x coordinates of the filter by vertex
  const std::uint16_t* y;                     ///< y coordinates of the filter by vertex
  const std::uint16_t* z;                     ///< z coordinates of the filter by vertex
  std::uint32_t more_axes;                    ///< several_search() alone: coordinates of the filter beside the position
  const std::uint16_t* more[kMaxMoreFilter];  ///< these, by vertex: differences are below 2^16 units
  const std::uint32_t*
      cell_start;  ///< by cell and kind: all parcels of cell c are cell_start[2c] .. cell_start[2c + 2]
  const std::uint32_t*
      node_start;                ///< small parcels of node j are by_node[node_start[j]] .. by_node[node_start[j + 1]]
  const std::uint32_t* by_node;  ///< vertices of small parcels, node after node
  int cells[3];                  ///< number of cells by axis; there are cells + 1 nodes
  double width[3];               ///< edges of a cell, in units of the filter, at most kFilterUnits
  double far[3][2];              ///< lower and upper face of the region, in units of the filter; +-infinity at walls
  double
      period[3];  ///< by axis: edge of the box in units of the filter, if the cells go round it without a gap; else 0
  std::uint32_t* target;  ///< out, by vertex: nearest vertex of small parcels that are in neither list
  /// Small parcel whose nearest neighbour block_search() could not decide.
  struct Open {
    std::uint32_t vertex;     ///< vertex of the small parcel
    std::uint32_t candidate;  ///< a near parcel, from which an exact search may start; links::kNone: unknown
  };
  std::vector<Open>* open;  ///< out: small parcels whose nearest neighbour may be any parcel are appended
  /// out: small parcels whose nearest neighbour is one of two or three are appended, once with each of these
  std::vector<Open>* contenders;
};

/// Finds the nearest neighbour of every small parcel within the 2x2x2 cells around the parcel's node. A result is
/// certain if no rounding can change it and no parcel outside these cells can be nearer; parcels without a certain
/// result are appended to `contenders` if rounding alone is the reason, else to `open`. Reads up to 32 coordinates beyond the last
/// vertex, which must be there. Local.
void block_search(const BlockSearch& s);
/// Returns the name of the vector instructions that block_search() uses on this CPU.
const char* block_search_target();

}  // namespace merganser::nearest
