#pragma once
/// Lists of nearest points whose entries are one number each, for the points of a leaf with few axes: selection without branches.
///
/// A key has 32 bits: those of the squared distance in single precision, with the number of a candidate in place of the 8 lowest ones.
/// Positive numbers have the order of their bits, so that keys are ordered by the other bits of the distance (the prefix, relative steps
/// of 2^-15), and a key enters a sorted list by minima and maxima alone. Distances are relative to the leaf: a bound of their rounding
/// tells whether a point outside a list may come before its last entry. Where none may, the list holds the nearest points, and exact
/// distances order it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "merganser/nearest/leaf_scan.hpp"
#include "merganser/nearest/metric.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kMaxKeySlots = 16;      // most neighbours that are looked for
inline constexpr std::uint32_t kNoKey = 0x7f7ffeff;    // entry not yet found: its limit is the greatest finite number
inline constexpr std::uint32_t kCandidateBits = 0xff;  // bits of a key that hold the number of a candidate
inline constexpr std::uint32_t kPrefixStep = kCandidateBits + 1;  // difference of keys of adjacent prefixes

/// Lists of the keys of the points nearest to those of one leaf (queries). Queries are in groups of as many as a vector has lanes. Points
/// that enter a list of a group are its candidates.
struct KeyLists {
  static constexpr std::uint32_t kCandidates = kCandidateBits + 1;  ///< most candidates of a group
  static constexpr std::size_t kQueries = kMaxLeafPoints + 16;      ///< room for queries, whole groups

  std::uint32_t first = 0;  ///< number of the first query in the tree
  std::uint32_t count = 0;  ///< number of queries, up to kMaxLeafPoints
  std::uint32_t slots = 0;  ///< entries of a list: as many as are looked for, or more
  std::uint32_t lanes = 0;  ///< queries of a group
  bool flat = false;        ///< all points have one coordinate on the third axis
  double worst = 0;         ///< no point farther from the leaf than this squared distance enters a list
  double centre[3] = {};    ///< of the leaf; coordinates are relative to it
  double scale = 0;         ///< what they are multiplied by, a power of 2
  double slack = 0;         ///< part of the error of a distance, so multiplied, that does not grow with the distance
  alignas(64) float place[3][kQueries];  ///< coordinates by axis and query
  alignas(64) float limit[kQueries];     ///< by query: the greatest distance with the prefix after the last one
  alignas(64)
      std::uint32_t keys[kQueries * (kMaxKeySlots + 1)];  ///< by group, entry and query, with the least key left out
  std::uint32_t candidates[kMaxLeafPoints];               ///< by group: number of its candidates
  std::uint32_t candidate[kMaxLeafPoints * kCandidates];  ///< by group and number: the point

  /// Returns the first entry of the list of query q; each further one is `lanes` behind. After the list comes the least key that was
  /// left out.
  [[nodiscard]] const std::uint32_t* list(std::uint32_t q) const {
    const std::uint32_t lane = q % lanes;
    return keys + static_cast<std::size_t>(q - lane) * (slots + 1) + lane;
  }
  /// Returns the point of a key in the list of query q.
  [[nodiscard]] std::uint32_t point(std::uint32_t q, std::uint32_t key) const {
    return candidate[q / lanes * kCandidates + (key & kCandidateBits)];
  }
  /// Returns whether keys tell all candidates apart.
  [[nodiscard]] bool has_room() const {
    return *std::max_element(candidates, candidates + (count + lanes - 1) / lanes) <= kCandidates;
  }
  /// Returns whether all points at most as far from query q as the first `keep` of its list, the farthest of which has the canonical
  /// squared distance `most`, are among those. May return false although they are.
  [[nodiscard]] bool holds(std::uint32_t q, std::uint32_t keep, double most) const {
    // A difference of coordinates is rounded by 2^-24 of each of them and of itself; the coordinate of the point is at most the sum of
    // the query's and the difference. Squares and sums add less than 2^-21 of the squared distance. Below the least one that counts
    // numbers may be rounded to 0.
    const std::uint32_t next = list(q)[static_cast<std::size_t>(keep) * lanes] & ~kCandidateBits;
    const float least = std::min(std::bit_cast<float>(next), limit[q]);
    const double root = std::sqrt(static_cast<double>(least)) * (1 - 0x1p-20) - slack;
    return least >= 0x1p-100F && root > 0 && most * scale * scale * (1 + 0x1p-40) < root * root;
  }
};

/// Begins lists of the `keep` nearest points of the points of a leaf, `begin` to `end` - 1, whose box is lower .. upper. Local.
/// @param points  with three axes and sums of squares, not periodic, without core distances
/// @param extent  a length of the order of the distances to the nearest points
/// @return false where the scale of the points leaves no room for lists
[[nodiscard]] bool begin_keys(const LeafPoints& points, const double* lower, const double* upper, double extent,
                              bool flat, std::uint32_t keep, std::uint32_t begin, std::uint32_t end, KeyLists& lists);

/// Adds the points of a leaf, `begin` to `end` - 1, whose box is lower .. upper, to the lists. Local.
/// Cost: O(1) per group of queries, and O(slots) for each pair of a group and a point that is near enough to one of the group.
void scan_keys(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
               std::uint32_t end, KeyLists& lists);

}  // namespace merganser::nearest
