#pragma once
/// Table of the lanes that a mask of eight lanes selects, with which AVX2 compresses a vector. Private to the library.
#include <array>
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser::detail {

/// Returns the table kSelectedLanes.
constexpr std::array<std::uint64_t, 256> make_selected_lanes() {
  std::array<std::uint64_t, 256> table{};
  for (std::uint64_t mask = 0; mask < 256; ++mask) {
    std::uint64_t count = 0;
    for (std::uint64_t lane = 0; lane < 8; ++lane)
      if ((mask >> lane & 1) != 0) table[mask] |= lane << (8 * count++);
  }
  return table;
}

/// Numbers of the lanes selected, by mask: one byte each in ascending order, the first in the lowest byte. Highway's Compress copies
/// a table of 1 KiB to the stack in every call for AVX2, as compiled by GCC 12; with this table it takes six instructions.
inline constexpr std::array<std::uint64_t, 256> kSelectedLanes = make_selected_lanes();

}  // namespace merganser::detail
