#pragma once
/// Who owns a point: the cells of a grid dealt to ranks in rectangular blocks.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"

namespace merganser {

/// Tensor-product decomposition: each axis is cut into consecutive runs of cells, rank = (ix * py + iy) * pz + iz.
class Decomposition {
 public:
  /// Splits `grid` over `ranks`. `shape`: "auto" (least surface of all factorisations that fit), "1d", "2d", "3d"
  /// (least surface with at most that many axes split) or "AxBxC".
  /// @throws UsageError for a bad shape; InputError if there are more ranks than cells or no factorisation fits
  Decomposition(const Grid& grid, int ranks, const std::string& shape = "auto");

  /// The same shape with cuts that balance `weight`: per axis, weight[axis][cell] parcels in that slab of cells.
  [[nodiscard]] Decomposition balanced(const std::array<std::vector<std::int64_t>, 3>& weight) const;

  /// As given.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return shape_[0] * shape_[1] * shape_[2]; }
  /// Number of blocks along each axis.
  [[nodiscard]] const std::array<int, 3>& shape() const noexcept { return shape_; }
  /// Position of a rank among the blocks.
  [[nodiscard]] std::array<int, 3> coordinates(int rank) const;
  /// Rank of the block at a position.
  [[nodiscard]] int rank_at(const std::array<int, 3>& c) const { return (c[0] * shape_[1] + c[1]) * shape_[2] + c[2]; }
  /// First cell of part i of an axis; cut(axis, parts) is the number of cells.
  [[nodiscard]] std::int64_t cut(int axis, int part) const { return cuts_[axis][static_cast<std::size_t>(part)]; }
  /// Part of an axis that a cell belongs to.
  [[nodiscard]] int part_of_cell(int axis, std::int64_t cell) const;

  /// Owner of a point inside the box.
  [[nodiscard]] int owner(const Vec3& p) const;
  /// Lower and upper corner of a rank's block.
  struct Block {
    Vec3 lower;
    Vec3 upper;
  };
  /// Where the block of a rank lies in the box.
  [[nodiscard]] Block block(int rank) const;
  /// Lower bound (rounded down) of the distance squared from any point to a rank's block.
  [[nodiscard]] double distance2_to_block(const Vec3& p, int rank) const;

  /// Lower bound of the distance squared between any two points of two ranks' blocks.
  [[nodiscard]] double distance2_between(int rank, int other) const;
  /// Ranks whose blocks lie within `distance` of this rank's, without itself, ascending; at least neighbours().
  [[nodiscard]] std::vector<int> within(int rank, double distance) const;

  /// Ranks whose blocks touch this rank's (up to 26, periodic axes wrap), without itself, ascending.
  [[nodiscard]] std::vector<int> neighbours(int rank) const;

  [[nodiscard]] std::string describe() const;  ///< the shape as text: "2x1x1"

 private:
  Grid grid_;
  std::array<int, 3> shape_{1, 1, 1};
  std::array<std::vector<std::int64_t>, 3> cuts_;
};

}  // namespace merganser
