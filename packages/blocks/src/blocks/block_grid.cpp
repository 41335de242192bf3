// Grid of blocks: numbering, neighbours across periodic faces, extents of sets of blocks, and the contiguous placement on ranks.
#include "merganser/blocks/block_grid.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"

namespace merganser::blocks {

void BlockGrid::check() const {
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  std::int64_t total = 1;
  for (const int n : blocks) {
    if (n < 1) {
      throw InputError("block grid: " + std::to_string(n) + " blocks along an axis; allowed: at least 1");
    }
    total = total > kMax / n ? kMax : total * n;  // saturates, so that the product cannot overflow
  }
  if (total >= kMax) throw InputError("block grid: too many blocks; allowed: fewer than 2^40");
}

BlockIndex BlockGrid::index(std::int64_t block) const noexcept {
  const std::int64_t row = block / blocks[0];
  return {static_cast<int>(block % blocks[0]), static_cast<int>(row % blocks[1]), static_cast<int>(row / blocks[1])};
}

// Neighbouring block at an offset, across periodic faces.
std::int64_t BlockGrid::neighbour(std::int64_t block, const BlockIndex& by) const noexcept {
  BlockIndex at = index(block);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = blocks[axis];
    std::int64_t x = std::int64_t{at[axis]} + by[axis];
    if (x < 0 || x >= n) {
      if (!periodic[axis]) return kNoBlock;
      x = ((x % n) + n) % n;
    }
    at[axis] = static_cast<int>(x);
  }
  return number(at);
}

std::vector<std::int64_t> BlockGrid::neighbours(std::int64_t block, int reach) const {
  std::vector<std::int64_t> out;
  for (const auto& d : directions(reach)) {
    const std::int64_t other = neighbour(block, d);
    if (other != kNoBlock && other != block) out.push_back(other);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// Extent of an object over blocks: on a periodic axis, all blocks but the longest run without a member.
int BlockGrid::width(std::span<const std::int64_t> members, std::size_t axis) const {
  std::vector<int> at;
  for (const std::int64_t block : members) at.push_back(index(block)[axis]);
  std::sort(at.begin(), at.end());
  at.erase(std::unique(at.begin(), at.end()), at.end());
  if (at.empty()) return 0;
  int gap = 0;  // the longest run of consecutive blocks without a member
  if (periodic[axis]) {
    gap = at.front() + blocks[axis] - at.back() - 1;
    for (std::size_t i = 1; i < at.size(); ++i) gap = std::max(gap, at[i] - at[i - 1] - 1);
    return blocks[axis] - gap;
  }
  return at.back() - at.front() + 1;
}

std::string BlockGrid::name(std::int64_t block) const {
  const BlockIndex at = index(block);
  return "(" + std::to_string(at[0]) + ", " + std::to_string(at[1]) + ", " + std::to_string(at[2]) + ")";
}

std::vector<BlockIndex> directions(int reach) {
  std::vector<BlockIndex> out;
  for (int z = -reach; z <= reach; ++z)
    for (int y = -reach; y <= reach; ++y)
      for (int x = -reach; x <= reach; ++x)
        if (x != 0 || y != 0 || z != 0) out.push_back({x, y, z});
  return out;
}

// Placement of consecutive blocks on ranks, and its inverse as the owner function.
BlockPlacement contiguous_placement(const BlockGrid& grid, int rank, int ranks) {
  grid.check();
  if (ranks < 1 || rank < 0 || rank >= ranks) {
    throw UsageError("block placement: rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                     "; allowed: 0 <= rank < ranks");
  }
  const std::int64_t n = grid.count();
  BlockPlacement out;
  for (std::int64_t b = n * rank / ranks; b < n * (rank + 1) / ranks; ++b) out.mine.push_back(b);
  // Rank r holds [n r / ranks, n (r + 1) / ranks), rounded down; this is the inverse.
  out.owner = [n, ranks](std::int64_t b) { return static_cast<int>(((b + 1) * ranks - 1) / n); };
  return out;
}

}  // namespace merganser::blocks
