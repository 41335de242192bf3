#pragma once
/// Lists of candidates of the points of a leaf, from the single-precision filter, that contain the nearest neighbours whatever the
/// rounding, and from which exact distances select.
#include "merganser/nearest/filter_points.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kMaxFilterKeep = 16;  // most neighbours that are looked for
inline constexpr std::uint32_t kFilterRoom =
    64;  // candidates of a query between two removals of those that are too far

/// Point that may be one of the nearest of a query.
struct Candidate {
  float distance2;      ///< filtered squared distance
  std::uint32_t point;  ///< its number in the tree
};

/// Candidates of the points of one leaf (queries) by filtered distances, in the order in which they were met. What is above the limit
/// of a query is not one of its nearest.
struct FilterLists : FilterQueries {
  std::uint32_t keep = 0;              ///< nearest neighbours that are looked for, up to kMaxFilterKeep
  bool full = false;                   ///< a query had more candidates than there is room for: the lists lack some
  std::uint32_t size[kMaxLeafPoints];  ///< by query: number of candidates
  alignas(64) float best[kMaxLeafPoints][kMaxFilterKeep];  ///< least filtered distances, ascending; infinite: free
  Candidate candidates[kMaxLeafPoints][kFilterRoom];

  /// Returns the limit of a query whose `keep`-th candidate has the filtered distance d2: what is above cannot be nearer.
  [[nodiscard]] float limit_above(float d2) const { return d2 * (1 + 1.0F / 4000) + slack; }
  /// Removes the candidates of query q that are above its limit; the others keep their order. @return number of those left
  std::uint32_t remove_far(std::uint32_t q) {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < size[q]; ++i) {
      const Candidate next = candidates[q][i];
      candidates[q][left] = next;
      left += static_cast<std::uint32_t>(next.distance2 <= limit[q]);
    }
    size[q] = left;
    return left;
  }
};

/// Begins the lists of candidates of the points of a leaf. Local.
void begin_filter(const LeafPoints& points, const FilterPoints& copy, std::size_t leaf, std::uint32_t keep,
                  FilterLists& lists);

/// Adds the points of a leaf of the tree, whose box is lower .. upper, to the lists of candidates. Local.
/// Cost: O(axes) per query, and for each pair of a point and a query that is near enough to the box.
void filter_leaf(const FilterPoints& copy, std::size_t leaf, const double* lower, const double* upper,
                 FilterLists& lists);

}  // namespace merganser::nearest
