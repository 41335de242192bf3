#pragma once
/// Who owns a point: a box dealt to ranks in rectangular blocks.
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"

namespace merganser {

/// One block per rank; together they tile the box. Three kinds: by cells (each axis is cut into consecutive runs of cells),
/// by cuts (each axis is cut where the caller says) and by boxes (any that tile the box). The first two are tensor
/// products: rank = (ix * py + iy) * pz + iz, as in a Cartesian communicator.
class Decomposition {
 public:
  /// Lower and upper corner of a rank's block.
  struct Block {
    Vec3 lower;
    Vec3 upper;
  };

  /// Splits `grid` over `ranks`. `shape`: "auto" (least surface of all factorisations that fit), "1d", "2d", "3d"
  /// (least surface with at most that many axes split) or "AxBxC".
  /// @throws UsageError for a bad shape; InputError if there are more ranks than cells or no factorisation fits
  Decomposition(const Grid& grid, int ranks, const std::string& shape = "auto");

  /// Cuts each axis at the caller's coordinates, strictly ascending inside the box; none leaves the axis whole. What lies
  /// on a cut belongs to the part above it. `grid` gives the box, and cells for those who ask for their volume (one cell
  /// where nobody does: Grid{box}).
  /// @throws InputError for a cut that is not inside the box or not above the one before it
  [[nodiscard]] static Decomposition from_cuts(const Grid& grid, const std::array<std::vector<double>, 3>& cuts);
  /// Blocks of any kind that tile the box, blocks[r] for rank r. What lies on a face belongs to the block above it.
  /// @throws InputError for a block that is empty, reaches out of the box or overlaps another, or for room that no block
  /// holds; faces that differ by rounding (1e-9 of the box's edge) are taken as one
  /// Cost: O(ranks^2) once.
  [[nodiscard]] static Decomposition from_boxes(const Grid& grid, std::vector<Block> blocks);

  /// The same shape with cuts that balance `weight`: per axis, weight[axis][cell] parcels in that slab of cells.
  /// @throws UsageError unless it is by cells
  [[nodiscard]] Decomposition balanced(const std::array<std::vector<std::int64_t>, 3>& weight) const;

  /// As given.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  /// Whether blocks are runs of cells, so that cut() and part_of_cell() may be asked.
  [[nodiscard]] bool by_cells() const noexcept { return kind_ == Kind::cells; }
  /// Asks for blocks of cells on behalf of `what`. @throws UsageError naming it, unless they are
  void require_cells(const std::string& what) const;
  /// Number of blocks along each axis; by boxes: ranks() along the first.
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return shape_; }
  /// Position of a rank among the blocks.
  [[nodiscard]] std::array<int, 3> coordinates(int rank) const;
  /// Rank of the block at a position.
  [[nodiscard]] int rank_at(const std::array<int, 3>& c) const { return (c[0] * shape_[1] + c[1]) * shape_[2] + c[2]; }
  /// First cell of part i of an axis; cut(axis, parts) is the number of cells.
  [[nodiscard]] std::int64_t cut(int axis, int part) const { return cuts_[axis][static_cast<std::size_t>(part)]; }
  /// Part of an axis that a cell belongs to.
  [[nodiscard]] int part_of_cell(int axis, std::int64_t cell) const;

  /// Owner of a point inside the box, whose periodic axes are wrapped (Box::wrap). Cost: O(log ranks), by boxes O(ranks).
  [[nodiscard]] int owner(const Vec3& p) const;
  /// Where the block of a rank lies in the box.
  [[nodiscard]] Block block(int rank) const;
  /// Lower bound (rounded down) of the distance squared from any point to a rank's block.
  [[nodiscard]] double distance2_to_block(const Vec3& p, int rank) const;

  /// Lower bound of the distance squared between any two points of two ranks' blocks.
  [[nodiscard]] double distance2_between(int rank, int other) const;
  /// Ranks whose blocks lie within `distance` of this rank's, without itself, ascending; at least neighbours().
  [[nodiscard]] std::vector<int> within(int rank, double distance) const;

  /// Ranks whose blocks touch this rank's (tensor products: up to 26; periodic axes wrap), without itself, ascending.
  [[nodiscard]] std::vector<int> neighbours(int rank) const;
  /// The neighbour of `rank` to which a parcel goes on its way to `owner`, another rank: each hop brings it nearer, by one
  /// block along every axis that differs, or by one neighbour of the shortest way (by boxes).
  [[nodiscard]] int next_hop(int rank, int owner) const;
  /// Which faces of a rank's block are walls of the box: lower and upper, by axis.
  [[nodiscard]] std::array<std::array<bool, 2>, 3> walls(int rank) const;

  [[nodiscard]] std::string describe() const;  ///< the shape as text: "2x1x1", "7 boxes"
  /// What decides who owns a point, as text: equal on ranks whose decompositions are.
  [[nodiscard]] std::string identity() const;

 private:
  enum class Kind : std::uint8_t { cells, cuts, boxes };
  struct Tiles;
  explicit Decomposition(const Grid& grid) : grid_(grid) {}

  Grid grid_;
  Kind kind_ = Kind::cells;
  std::array<int, 3> shape_{1, 1, 1};
  std::array<std::vector<std::int64_t>, 3> cuts_;  // by cells
  std::array<std::vector<double>, 3> faces_;       // by cuts: parts + 1 of each axis
  std::shared_ptr<const Tiles> tiles_;             // by boxes
};

}  // namespace merganser
