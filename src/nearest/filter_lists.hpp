#pragma once
/// Lists of candidates of the points of a leaf, from the single-precision filter, that contain the nearest neighbours whatever the
/// rounding, and from which exact distances select.
#include "merganser/nearest/filter_points.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kFilterSlots = 16;  // candidates in a list
// Most neighbours that are looked for: room is left for candidates that rounding cannot tell from the last of them.
inline constexpr std::uint32_t kMaxFilterKeep = kFilterSlots - 2;

/// Lists of the nearest candidates of the points of one leaf (queries) by filtered distances.
struct FilterLists : FilterQueries {
  std::uint32_t keep = 0;  ///< nearest neighbours that are looked for, up to kMaxFilterKeep
  alignas(64) float distance2[kMaxLeafPoints][kFilterSlots];  ///< filtered squared distances, ascending; infinite: free
  alignas(64) std::uint32_t point[kMaxLeafPoints][kFilterSlots];  ///< numbers of the candidates

  /// Returns the limit of a list of candidates whose `keep`-th has the filtered distance d2: what is above cannot be nearer.
  [[nodiscard]] float limit_above(float d2) const { return d2 * (1 + 1.0F / 4000) + slack; }
};

/// Begins the lists of candidates of the points of a leaf. Local.
void begin_filter(const LeafPoints& points, const FilterPoints& copy, std::size_t leaf, std::uint32_t keep,
                  FilterLists& lists);

/// Adds the points of a leaf of the tree, whose box is lower .. upper, to the lists of candidates. Local.
/// Cost: O(axes) per query, and for each pair of a point and a query that is near enough to the box.
void filter_leaf(const FilterPoints& copy, std::size_t leaf, const double* lower, const double* upper,
                 FilterLists& lists);

}  // namespace merganser::nearest
