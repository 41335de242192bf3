#pragma once
/// Grids of blocks, and placements on ranks, for tests.
#include <algorithm>
#include <set>
#include <vector>

#include "merganser/blocks/block_grid.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::test {

/// Placement of blocks: in consecutive runs, cyclic, all on the last rank, or by a hash.
enum class Placing { runs, turns, last, hash };

/// Returns the placement of the blocks of a grid on the ranks, for one rank. Local.
inline blocks::BlockPlacement place_blocks(const blocks::BlockGrid& grid, int rank, int ranks, Placing how) {
  if (how == Placing::runs) return blocks::contiguous_placement(grid, rank, ranks);
  blocks::BlockPlacement out;
  out.owner = [how, ranks](std::int64_t b) {
    if (how == Placing::last) return ranks - 1;
    if (how == Placing::turns) return static_cast<int>(b % ranks);
    return static_cast<int>((static_cast<std::uint64_t>(b) * 0x9E3779B97F4A7C15U >> 33) % static_cast<unsigned>(ranks));
  };
  for (std::int64_t b = 0; b < grid.count(); ++b)
    if (out.owner(b) == rank) out.mine.push_back(b);
  return out;
}

/// Returns the offsets along one axis of a grid of blocks that lead from block `from` to block `to`, at most `most` long, the
/// shortest first.
inline std::vector<int> offsets(const blocks::BlockGrid& grid, std::size_t axis, int from, int to, int most) {
  std::vector<int> out;
  for (int d = -most; d <= most; ++d) {
    int x = from + d;
    if (grid.periodic[axis]) {
      const int n = grid.blocks[axis];
      x = ((x % n) + n) % n;
    }
    if (x == to) out.push_back(d);
  }
  return out;
}

/// Brute force: returns true if some window of `length` consecutive blocks along every axis covers all members.
inline bool fits(const blocks::BlockGrid& grid, const std::set<std::int64_t>& members, int length) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    bool found = false;
    for (int start = 0; start < grid.blocks[axis] && !found; ++start) {
      found = std::all_of(members.begin(), members.end(), [&](std::int64_t b) {
        for (int i = 0; i < length; ++i) {
          const int x = start + i;
          if ((grid.periodic[axis] ? x % grid.blocks[axis] : x) == grid.index(b)[axis]) return true;
        }
        return false;
      });
    }
    if (!found) return false;
  }
  return true;
}

/// Returns true under a launcher, where tests of one process are skipped, since every rank would repeat them.
inline bool elsewhere() { return comm::launched(); }

/// Returns grids of blocks of every kind for tests; one in three under a launcher, where ranks share few cores.
inline const std::vector<blocks::BlockGrid>& grids() {
  static const std::vector<blocks::BlockGrid> few{{{1, 1, 1}, {true, true, true}},
                                                  {{3, 3, 1}, {true, true, false}},
                                                  {{5, 4, 1}, {false, false, false}},
                                                  {{4, 3, 3}, {true, false, true}}};
  static const std::vector<blocks::BlockGrid> all{
      {{1, 1, 1}, {true, true, true}},    {{1, 1, 1}, {false, false, false}}, {{2, 1, 1}, {true, false, false}},
      {{2, 2, 2}, {true, true, true}},    {{3, 3, 1}, {true, true, false}},   {{3, 2, 1}, {false, true, false}},
      {{5, 4, 1}, {false, false, false}}, {{4, 5, 1}, {true, true, false}},   {{4, 3, 3}, {true, false, true}},
      {{7, 1, 1}, {true, false, false}},  {{1, 1, 6}, {false, false, true}}};
  return elsewhere() ? few : all;
}

}  // namespace merganser::test
