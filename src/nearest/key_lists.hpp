#pragma once
/// Lists of nearest points whose entries are one number each, for the points of a leaf with few axes: selection without branches.
///
/// A key is the canonical squared distance with the number of the point in place of its 32 lowest bits. Positive doubles have the
/// order of their bits, so that keys are ordered by the first 32 bits of the distance (the prefix, relative steps of 2^-20), then by
/// number, and a key enters a sorted list by minima and maxima alone. Where no point outside a list has the prefix of its last entry,
/// the list holds the nearest points, and exact distances order it.
#include <bit>
#include <cstdint>

#include "merganser/nearest/leaf_scan.hpp"
#include "merganser/nearest/metric.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kMaxKeySlots = 16;         // most neighbours that are looked for
inline constexpr double kNoKey = 0x1.fffffffffffffp1023;  // entry not yet found, above all keys

/// Lists of the keys of the points nearest to those of one leaf (queries). Queries are in groups of as many as a vector has lanes.
struct KeyLists {
  std::uint32_t first = 0;  ///< number of the first query in the tree
  std::uint32_t count = 0;  ///< number of queries, up to kMaxLeafPoints
  std::uint32_t slots = 0;  ///< entries of a list: as many as are looked for, or more
  std::uint32_t lanes = 0;  ///< queries of a group
  bool flat = false;        ///< all points have one coordinate on the third axis
  double worst = 0;         ///< no point farther from the leaf than this squared distance enters a list
  alignas(64) double place[3][kMaxLeafPoints + 8];  ///< coordinates by axis and query
  alignas(64) double limit[kMaxLeafPoints + 8];     ///< by query: the greatest distance with the last prefix
  alignas(64) double keys[(kMaxLeafPoints + 8) *
                          (kMaxKeySlots + 1)];  ///< by group, entry and query, with the least key left out

  /// Returns the first entry of the list of query q; each further one is `lanes` behind. After the list comes the least key that was
  /// left out while it had the prefix of the last entry.
  [[nodiscard]] const double* list(std::uint32_t q) const {
    const std::uint32_t lane = q % lanes;
    return keys + static_cast<std::size_t>(q - lane) * (slots + 1) + lane;
  }
  /// Returns whether the lists hold the `keep` nearest points of all queries, or all points: none that is not among the first `keep` of
  /// a list has the prefix of the last of these.
  [[nodiscard]] bool complete(std::uint32_t keep) const {
    bool open = false;
    for (std::uint32_t q = 0; q < count; ++q) {
      const double* const last = list(q) + static_cast<std::size_t>(keep - 1) * lanes;
      open |= last[0] != kNoKey &&
              std::bit_cast<std::uint64_t>(last[lanes]) >> 32U <= std::bit_cast<std::uint64_t>(last[0]) >> 32U;
    }
    return !open;
  }
};

/// Begins lists of the `keep` nearest points of the points of a leaf, `begin` to `end` - 1. Local.
/// @param points  with three axes and sums of squares, not periodic, without core distances
void begin_keys(const LeafPoints& points, bool flat, std::uint32_t keep, std::uint32_t begin, std::uint32_t end,
                KeyLists& lists);

/// Adds the points of a leaf, `begin` to `end` - 1, whose box is lower .. upper, to the lists. Local.
/// Cost: O(1) per group of queries, and O(slots) for each pair of a group and a point that is near enough to one of the group.
void scan_keys(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
               std::uint32_t end, KeyLists& lists);

}  // namespace merganser::nearest
