#pragma once
/// Domain decomposition: a box divided into one rectangular block per rank, which determines the owner of every point.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"

namespace merganser {

/// Partition of a box into one rectangular block per rank. Every rank holds the whole description, so all member functions are
/// local.
///
/// There are three kinds: by cells (each axis is divided into consecutive runs of cells), by cuts (each axis is divided at
/// coordinates of the caller) and by boxes (any boxes that tile the domain). The first two are tensor products with rank = (ix * py
/// + iy) * pz + iz, as in a Cartesian communicator of MPI.
class Decomposition {
 public:
  /// Rectangular block of the domain that one rank owns.
  struct Block {
    Vec3 lower;  ///< lower corner of the block, in units of the box
    Vec3 upper;  ///< upper corner of the block, in units of the box
  };

  /// Makes a decomposition by cells, with runs of cells whose lengths differ by at most one along each axis.
  /// @param ranks  number of blocks, from 1 to the number of cells
  /// @param shape  "auto" (the factorisation with the least area between blocks), "1d", "2d", "3d" (the least area with at most
  /// that many
  ///               axes divided) or numbers of blocks "AxBxC"
  /// @throws UsageError for an invalid shape; InputError if there are more ranks than cells or no factorisation fits the grid
  Decomposition(const Grid& grid, int ranks, const std::string& shape = "auto");

  /// Makes a decomposition by cuts. A point on a cut belongs to the block above it.
  /// @param grid  the domain, with the cells whose volume other functions use; Grid{box}, of one cell, if none does
  /// @param cuts  for each axis the coordinates of its cuts, strictly ascending, inside the box; empty: the axis is not divided
  /// @throws InputError for a cut that is not inside the box or not above the one before it
  [[nodiscard]] static Decomposition from_cuts(const Grid& grid, const std::array<std::vector<double>, 3>& cuts);
  /// Makes a decomposition by boxes. A point on a face belongs to the block above it. Faces that differ by rounding (1e-9 of the
  /// extent of the domain) are identified.
  /// @param grid    the domain, with the cells whose volume other functions use
  /// @param blocks  blocks[r] is the block of rank r; together they tile the domain
  /// @throws InputError for a block that is empty, extends beyond the domain or overlaps another, and for a part of the domain
  /// without a block; UsageError without blocks
  /// Cost: O(ranks^2) once.
  [[nodiscard]] static Decomposition from_boxes(const Grid& grid, std::vector<Block> blocks);

  /// Returns a decomposition by cells of the same shape whose cuts balance weights along each axis. Every block keeps at least one
  /// cell.
  /// @param weight  weight[axis][i]: number of parcels in the slab of cells with index i on that axis
  /// @throws UsageError if this decomposition is not by cells, or there is not one weight for each cell of an axis
  [[nodiscard]] Decomposition balanced(const std::array<std::vector<std::int64_t>, 3>& weight) const;

  /// Returns the grid of cells of the domain that the decomposition was made with.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Returns the number of ranks of the decomposition, which is the number of blocks.
  [[nodiscard]] int ranks() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  /// Returns true if blocks are runs of cells; only then may cut() and part_of_cell() be called.
  [[nodiscard]] bool is_by_cells() const noexcept { return kind_ == Kind::cells; }
  /// Checks that the blocks of the ranks are runs of cells. @throws UsageError, beginning with `what`, if they are not
  void require_cells(const std::string& what) const;
  /// Returns the number of blocks along each axis; of a decomposition by boxes {ranks(), 1, 1}.
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return shape_; }
  /// Returns the indices of a rank's block of the domain along the axes, from 0.
  [[nodiscard]] std::array<int, 3> coordinates(int rank) const;
  /// Returns the rank of the block with the given indices along the axes; the inverse of coordinates().
  [[nodiscard]] int rank_at(const std::array<int, 3>& c) const { return (c[0] * shape_[1] + c[1]) * shape_[2] + c[2]; }
  /// Returns the first cell of a part of an axis; for the part with the index shape()[axis] the number of cells. By cells only.
  /// @param part  index of a block along the axis, from 0
  [[nodiscard]] std::int64_t cut(int axis, int part) const { return cuts_[axis][static_cast<std::size_t>(part)]; }
  /// Returns the part of an axis (the index of a block along it) that a cell index belongs to. By cells only. Cost: O(log parts).
  [[nodiscard]] int part_of_cell(int axis, std::int64_t cell) const;

  /// Returns the rank that owns a point inside the box, whose coordinates on periodic axes are wrapped (Box::wrap). All ranks find
  /// the same owner. Cost: O(log ranks), by boxes O(ranks).
  [[nodiscard]] int owner(const Vec3& p) const;
  /// Returns the corners of the block of the domain that a rank owns.
  [[nodiscard]] Block block(int rank) const;
  /// Returns a lower bound of the squared distance from a point inside the box to any point that a rank owns, over all periodic
  /// images. It is below the exact distance to the block by rounding errors alone, and 0 for points that the rank owns.
  [[nodiscard]] double distance2_to_block(const Vec3& p, int rank) const;

  /// Returns a lower bound of the squared distance between any two points that two ranks own, over all periodic images. Exchanging
  /// the ranks gives the same bits.
  [[nodiscard]] double distance2_between(int rank, int other) const;
  /// Returns the ranks whose blocks lie within `distance` of a rank's block, and its neighbours(), ascending, without the rank
  /// itself.
  /// Cost: O(ranks).
  [[nodiscard]] std::vector<int> within(int rank, double distance) const;

  /// Returns the ranks whose blocks touch a rank's block at a face, an edge or a corner, across periodic boundaries too, ascending,
  /// without the rank itself. At most 26 unless by boxes.
  [[nodiscard]] std::vector<int> neighbours(int rank) const;
  /// Returns the neighbour of `rank` that is the next hop on a route to `owner`, another rank. Each hop shortens the route: by one
  /// block along every axis on which the two differ or, by boxes, by one edge of a shortest path in the graph of neighbours.
  [[nodiscard]] int next_hop(int rank, int owner) const;
  /// Returns, for each axis, whether the lower and the upper face of a rank's block are walls of the box.
  [[nodiscard]] std::array<std::array<bool, 2>, 3> walls(int rank) const;

  /// Describes the shape of the decomposition for reports: "2x1x1", "7 boxes".
  [[nodiscard]] std::string describe() const;
  /// Returns the cuts or blocks, which with the grid determine the owner of a point, as text. Equal for equal decompositions, for
  /// checks that all ranks have the same one.
  [[nodiscard]] std::string identity() const;

 private:
  enum class Kind : std::uint8_t { cells, cuts, boxes };
  struct Tiles;
  /// Makes a decomposition whose only block is the whole grid; the named constructors then set its cuts or blocks.
  explicit Decomposition(const Grid& grid) : grid_(grid) {}

  Grid grid_;                          // domain and its cells
  Kind kind_ = Kind::cells;            // way in which the domain is divided
  std::array<int, 3> shape_{1, 1, 1};  // blocks along each axis; by boxes {ranks, 1, 1}
  std::array<std::vector<std::int64_t>, 3>
      cuts_;                                  // by cells: first cell of each part of an axis, and the number of cells
  std::array<std::vector<double>, 3> faces_;  // by cuts: parts + 1 coordinates of each axis
  std::shared_ptr<const Tiles> tiles_;        // by boxes: the blocks and their neighbours
};

}  // namespace merganser
