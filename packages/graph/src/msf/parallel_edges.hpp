#pragma once
/// Removal of parallel edges between components in Boruvka's algorithm.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "merganser/base/id_table.hpp"

namespace merganser::msf {

/// Drops parallel edges, most of those that are not the least between their two components, and keeps the order of the others if
/// edges ascend. Local.
///
/// Edges that stay cost time in later rounds of Boruvka's algorithm, and change no choice. A table has one slot for each hash, which
/// holds the last pair of components that fell into it: one access to memory for each edge, and no search.
/// @param edges  with members a < b, positions of the components at their ends, and an ordered `key`
/// @param components  number of components
template <class LiveEdge>
void drop_parallel(std::vector<LiveEdge>& edges, std::size_t components) {
  struct Slot {
    std::uint64_t pair;  // of components; 0 is none, since a < b
    std::size_t at;      // position of its edge
  };
  const auto bits = static_cast<unsigned>(std::bit_width(std::min(edges.size() / 2, 4 * components) | 1));
  std::vector<Slot> slots(std::size_t{1} << bits, Slot{0, 0});
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const LiveEdge e = edges[i];
    const std::uint64_t pair = std::uint64_t{e.a} << 32 | e.b;
    Slot& slot = slots[IdTable::first_slot(pair, bits)];
    if (slot.pair == pair) {
      if (e.key < edges[slot.at].key) edges[slot.at] = e;
      continue;
    }
    slot = {pair, kept};
    edges[kept++] = e;
  }
  edges.resize(kept);
}

}  // namespace merganser::msf
