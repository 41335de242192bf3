#pragma once
/// Single-precision filter of the search for nearest neighbours of all points of a leaf of a point tree: lists of candidates that
/// contain the nearest neighbours whatever the rounding, from which exact distances select. Plain sums of squares only.
///
/// Coordinates are relative to the centre of a leaf's box and scaled by a power of two, so that rounding is relative to the size of
/// the leaf and the distance, not to the coordinates. With u = 2^-24 the half unit of rounding and R the distance of the corners of
/// the box from its centre, the computed squared distance f of points at a true distance d, one of them in the box, satisfies
/// f <= (d (1 + 2u) + 2uR)^2 (1 + (D + 2) u), and likewise with d and the root of f exchanged, which is at most
/// d^2 (1 + 2^-13) + R^2 2^-31 as (a + b)^2 <= a^2 (1 + t) + b^2 (1 + 1/t) for t = 2^-14. The same holds for distances to boxes.
#include <cstdint>
#include <vector>

#include "merganser/nearest/leaf_scan.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kFilterSlots = 16;    // candidates in a list
inline constexpr std::uint32_t kFilterQueries = 64;  // most points of a leaf
inline constexpr std::uint32_t kFilterGroup = 16;    // leaves are padded to a multiple of this number of points

/// Single-precision copy of the points of a tree, leaf after leaf, relative to the centres of the leaves.
class FilterPoints {
 public:
  /// One leaf of the copy.
  struct Leaf {
    std::size_t offset;   ///< position of the coordinates: those of one axis after those of another, `room` each
    std::uint32_t begin;  ///< number of the first point in the tree
    std::uint32_t count;  ///< number of points
    std::uint32_t room;   ///< `count` rounded up to a multiple of kFilterGroup
    float slack;  ///< bound of the absolute error of a squared distance to one of the points, R^2 2^-29 and more
  };

  /// Prepares a copy without leaves. @param extent  longest edge of the box of all points, which sets the scale
  /// @param axes  number of axes that are compared
  FilterPoints(int axes, double extent);
  /// Returns whether squares of distances in a box of this longest edge are represented, so that there can be a filter.
  [[nodiscard]] static bool is_usable(double extent) { return extent > 1e-120; }

  /// Appends a leaf with its points begin .. end - 1 and the box lower .. upper.
  void add(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin, std::uint32_t end);

  /// Returns the number of axes that are compared.
  [[nodiscard]] int axes() const { return axes_; }
  /// Returns the power of two by which coordinates are multiplied.
  [[nodiscard]] double scale() const { return scale_; }
  /// Returns leaf i in the order in which leaves were added.
  [[nodiscard]] const Leaf& leaf(std::size_t i) const { return leaves_[i]; }
  /// Returns the centre of leaf i, one coordinate per axis.
  [[nodiscard]] const double* centre(std::size_t i) const {
    return centres_.data() + i * static_cast<std::size_t>(axes_);
  }
  /// Returns the coordinates of leaf i.
  [[nodiscard]] const float* coordinates(const Leaf& leaf) const { return coordinates_.data() + leaf.offset; }

 private:
  int axes_;
  double scale_;
  std::vector<Leaf> leaves_;
  std::vector<double> centres_;     ///< by leaf and axis
  std::vector<float> coordinates_;  ///< by leaf, axis and point
};

/// Lists of the nearest candidates of the points of one leaf (queries) by filtered distances.
struct FilterLists {
  std::uint32_t first = 0;                             ///< number of the first query in the tree
  std::uint32_t count = 0;                             ///< number of queries, up to kFilterQueries
  std::uint32_t keep = 0;                              ///< nearest neighbours that are looked for, below kFilterSlots
  float slack = 0;                                     ///< greatest slack of the leaves compared so far
  float worst = 0;                                     ///< greatest limit of all queries
  double centre[LeafPoints::kMaxAxes];                 ///< centre of the leaf's box
  double place[kFilterQueries][LeafPoints::kMaxAxes];  ///< coordinates by query and axis
  float axis[LeafPoints::kMaxAxes][kFilterQueries + 16];  ///< filter coordinates by axis and query
  float limit[kFilterQueries + 16];  ///< by query: candidates above it are not needed; -1: no query
  alignas(64) float distance2[kFilterQueries][kFilterSlots];  ///< filtered squared distances, ascending; infinite: free
  alignas(64) std::uint32_t point[kFilterQueries][kFilterSlots];  ///< numbers of the candidates

  /// Returns the limit of a list of candidates whose `keep`-th has the filtered distance d2: what is above cannot be nearer.
  [[nodiscard]] float limit_above(float d2) const { return d2 * (1 + 1.0F / 2048) + slack; }
};

/// Begins the lists of candidates of the points of a leaf. Local.
void begin_filter(const LeafPoints& points, const FilterPoints& copy, std::size_t leaf, std::uint32_t keep,
                  FilterLists& lists);

/// Adds the points of a leaf of the tree, whose box is lower .. upper, to the lists of candidates. Local.
/// Cost: O(axes) per query, and for each pair of a point and a query that is near enough to the box.
void filter_leaf(const FilterPoints& copy, std::size_t leaf, const double* lower, const double* upper,
                 FilterLists& lists);

}  // namespace merganser::nearest
