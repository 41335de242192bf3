#pragma once
/// Domain of equal blocks: numbering, neighbourhoods, and the placement of blocks on ranks.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::blocks {

/// Coordinates of a block, or an offset between blocks, per axis.
using BlockIndex = std::array<int, 3>;

/// Grid of blocks along up to three axes. Block (x, y, z) has the number x + nx * (y + ny * z). A plane of blocks has one
/// block along z, and z is not periodic.
struct BlockGrid {
  BlockIndex blocks{1, 1, 1};                         ///< number of blocks along each axis, at least 1
  std::array<bool, 3> periodic{false, false, false};  ///< axes whose last block neighbours the first

  /// Validates the numbers of blocks of the grid.
  /// @throws InputError unless every axis has at least one block and the total is below 2^40
  void check() const;
  /// Returns the number of blocks of the grid.
  [[nodiscard]] std::int64_t count() const noexcept { return std::int64_t{blocks[0]} * blocks[1] * blocks[2]; }
  /// Returns the number of the block at these coordinates, which are not checked.
  [[nodiscard]] std::int64_t number(const BlockIndex& at) const noexcept {
    return at[0] + std::int64_t{blocks[0]} * (at[1] + std::int64_t{blocks[1]} * at[2]);
  }
  /// Returns the coordinates of a block in the grid, by its number.
  [[nodiscard]] BlockIndex index(std::int64_t block) const noexcept;
  /// Returns the block at offset `by` from another, across periodic faces; kNoBlock outside. May be the block itself.
  [[nodiscard]] std::int64_t neighbour(std::int64_t block, const BlockIndex& by) const noexcept;
  /// Returns the distinct blocks within `reach` blocks along every axis, without the block itself, ascending: at most 8 in a
  /// plane and 26 in space for reach 1, 24 and 124 for reach 2.
  [[nodiscard]] std::vector<std::int64_t> neighbours(std::int64_t block, int reach) const;
  /// Returns the length of the shortest run of consecutive blocks along `axis` (across a periodic face, too) that covers all
  /// of `members`.
  [[nodiscard]] int width(std::span<const std::int64_t> members, std::size_t axis) const;
  /// Formats the coordinates of a block: "(1, 0, 2)".
  [[nodiscard]] std::string name(std::int64_t block) const;

  /// Result of neighbour() for a position outside the grid of blocks.
  static constexpr std::int64_t kNoBlock = -1;
  friend bool operator==(const BlockGrid&, const BlockGrid&) = default;
};

/// Returns the offsets from a block to all blocks within `reach`, without (0, 0, 0): (2 reach + 1)^3 - 1, x fastest.
[[nodiscard]] std::vector<BlockIndex> directions(int reach);

/// Placement of blocks on ranks, as one rank stores it.
struct BlockPlacement {
  std::vector<std::int64_t> mine;          ///< blocks of this rank, ascending
  std::function<int(std::int64_t)> owner;  ///< returns the rank of a block, -1 if it does not exist
};

/// Places consecutive blocks of a grid on each rank, their numbers differing by at most one; with fewer blocks than ranks some
/// hold none. Local. @throws UsageError unless 0 <= rank < ranks
[[nodiscard]] BlockPlacement contiguous_placement(const BlockGrid& grid, int rank, int ranks);

}  // namespace merganser::blocks
