#pragma once
/// A domain cut into equal blocks: numbers, neighbours, and which rank holds which block.
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::blocks {

/// Coordinates of a block, or a direction between blocks, per axis.
using BlockIndex = std::array<int, 3>;

/// Up to three axes of blocks. Block (x, y, z) has the number x + nx * (y + ny * z). A plane of blocks has one block
/// along z, and z is not periodic.
struct BlockGrid {
  BlockIndex blocks{1, 1, 1};
  std::array<bool, 3> periodic{false, false, false};

  /// Refuses a grid that is none.
  /// @throws InputError unless every axis has at least one block and the total is below 2^40
  void check() const;
  /// Number of blocks.
  [[nodiscard]] std::int64_t count() const noexcept { return std::int64_t{blocks[0]} * blocks[1] * blocks[2]; }
  /// Number of the block at these coordinates, which are not checked.
  [[nodiscard]] std::int64_t number(const BlockIndex& at) const noexcept {
    return at[0] + std::int64_t{blocks[0]} * (at[1] + std::int64_t{blocks[1]} * at[2]);
  }
  /// Coordinates of a block.
  [[nodiscard]] BlockIndex index(std::int64_t block) const noexcept;
  /// The block that lies `by` blocks away, across periodic faces; kNoBlock outside. May be the block itself.
  [[nodiscard]] std::int64_t neighbour(std::int64_t block, const BlockIndex& by) const noexcept;
  /// Distinct blocks within `reach` blocks along every axis, without the block itself, ascending: at most 8 in a plane
  /// and 26 in space for reach 1, 24 and 124 for reach 2.
  [[nodiscard]] std::vector<std::int64_t> neighbours(std::int64_t block, int reach) const;
  /// Consecutive blocks along `axis` (round it, where it is periodic) that are needed to cover all of `members`.
  [[nodiscard]] int width(std::span<const std::int64_t> members, std::size_t axis) const;
  /// The coordinates of a block as text: "(1, 0, 2)".
  [[nodiscard]] std::string name(std::int64_t block) const;

  static constexpr std::int64_t kNoBlock = -1;
  friend bool operator==(const BlockGrid&, const BlockGrid&) = default;
};

/// Directions to all blocks within `reach`, without (0, 0, 0): (2 reach + 1)^3 - 1, x fastest.
[[nodiscard]] std::vector<BlockIndex> directions(int reach);

/// Who holds which block, as one rank sees it.
struct BlockPlacement {
  std::vector<std::int64_t> mine;          ///< blocks of this rank, ascending
  std::function<int(std::int64_t)> owner;  ///< rank of a block, -1 where there is no block
};

/// Consecutive numbers to each rank, as even as can be; ranks beyond the number of blocks hold none.
[[nodiscard]] BlockPlacement contiguous_placement(const BlockGrid& grid, int rank, int ranks);

}  // namespace merganser::blocks
