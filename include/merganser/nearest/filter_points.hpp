#pragma once
/// Single-precision filter of searches among the points of a tree: squared distances that decide which pairs need an exact one. Plain
/// sums of squares only.
///
/// Coordinates are relative to the centre of a leaf's box and scaled by a power of two, so that rounding is relative to the size of
/// the leaf and the distance, not to the coordinates. With u = 2^-24 the half unit of rounding and R the distance of the corners of
/// the box from its centre, the computed squared distance f of points at a true distance d, one of them in the box, satisfies
/// f <= (d (1 + 2u) + 2uR)^2 (1 + (D + 2) u), and likewise with d and the root of f exchanged, which is at most
/// d^2 (1 + 2^-13) + R^2 2^-31 as (a + b)^2 <= a^2 (1 + t) + b^2 (1 + 1/t) for t = 2^-14. The same holds for distances to boxes.
#include <cstdint>
#include <vector>

#include "merganser/nearest/leaf_scan.hpp"
#include "merganser/nearest/point_neighbours.hpp"
#include "merganser/nearest/point_tree.hpp"

namespace merganser::nearest {

inline constexpr std::uint32_t kFilterGroup =
    16;  // leaves of the copy are padded to a multiple of this number of points

/// Single-precision copy of the points of a tree, leaf after leaf, relative to the centres of the leaves.
class FilterPoints {
 public:
  /// One leaf of the copy.
  struct Leaf {
    std::size_t offset;   ///< position of the coordinates: those of one axis after those of another, `room` each
    std::uint32_t begin;  ///< number of the first point in the tree
    std::uint32_t count;  ///< number of points
    std::uint32_t room;   ///< `count` rounded up to a multiple of kFilterGroup
    float slack;    ///< bound of the absolute error of a squared distance to one of the points, R^2 2^-29 and more
    float corner2;  ///< R^2, the squared distance of the corners of the box from its centre
  };

  /// Makes an empty copy.
  FilterPoints() = default;
  /// Copies the points of a tree, if their metric is that of plain sums of squares and squares of their distances are represented;
  /// else the copy is empty.
  template <std::size_t D>
  explicit FilterPoints(const PointTree<D>& tree) {
    const Bounds<D>& all = tree.bounds();
    if (!tree.metric().plain() || tree.metric().sphere || tree.size() == 0) return;
    const double extent = all.extent(all.widest());
    if (!(extent > 1e-120)) return;
    const LeafPoints points = leaf_points(tree, nullptr);
    begin(points.axes, extent);
    leaf_of_.resize(tree.nodes().size());
    for (const std::uint32_t node : tree.leaves()) {
      const auto& leaf = tree.nodes()[node];
      leaf_of_[node] = static_cast<std::uint32_t>(leaves_.size());
      add(points, leaf.box.lower.data(), leaf.box.upper.data(), leaf.begin, leaf.end);
    }
  }

  /// Returns whether no point of the tree was copied in single precision, so that searches compare in double precision only.
  [[nodiscard]] bool empty() const { return leaves_.empty(); }
  /// Returns the number of the leaf of the copy that is a node of the tree.
  [[nodiscard]] std::uint32_t leaf_of(std::uint32_t node) const { return leaf_of_[node]; }
  /// Returns the number of axes of the points.
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
  /// Begins a copy without leaves. @param axes  number of axes that are compared @param extent  longest edge of the box of all points,
  /// which sets the scale
  void begin(int axes, double extent);
  /// Appends a leaf with the points begin .. end - 1 of a tree and the box lower .. upper.
  void add(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin, std::uint32_t end);

  int axes_ = 0;
  double scale_ = 1;
  std::vector<Leaf> leaves_;
  std::vector<std::uint32_t> leaf_of_;  ///< by node of the tree: its number among the leaves
  std::vector<double> centres_;         ///< by leaf and axis
  std::vector<float> coordinates_;      ///< by leaf, axis and point
};

/// Points of one leaf that look for others, with the limits of their search.
struct FilterQueries {
  std::uint32_t first = 0;                    ///< number of the first query in the tree
  std::uint32_t count = 0;                    ///< number of queries, up to kMaxLeafPoints
  float slack = 0;                            ///< greatest slack of the leaves compared so far
  float harmless = 0;                         ///< slack that is small next to the leaf, whatever the limits
  float worst = 0;                            ///< greatest limit of all queries
  double centre[kMaxAxes];                    ///< centre of the leaf's box
  double place[kMaxLeafPoints][kMaxAxes];     ///< coordinates by query and axis
  float axis[kMaxAxes][kMaxLeafPoints + 16];  ///< filter coordinates by axis and query
  float limit[kMaxLeafPoints + 16];  ///< by query: filtered distance above which points are not needed; -1: no query

  /// Takes the points of a leaf as queries without limits.
  void begin(const LeafPoints& points, const FilterPoints& copy, const FilterPoints::Leaf& leaf,
             const double* centre_of_leaf);
  /// Returns whether the slack, not the distances found, makes the greatest limit: then the search would visit leaves without end
  /// that exact distances exclude, and costs less without the filter.
  [[nodiscard]] bool blind() const { return worst >= 0 && slack > harmless && slack > worst / 2; }
};

/// Search for the nearest points of other components to points of one leaf.
class OutsideSearch {
 public:
  OutsideSearch() = default;
  OutsideSearch(const OutsideSearch&) = delete;
  OutsideSearch& operator=(const OutsideSearch&) = delete;
  virtual ~OutsideSearch() = default;

  /// Begins the search for points of a leaf, none of which looks for others yet. @param components  by point of the tree: its
  /// component
  void begin(const LeafPoints& points, const FilterPoints& copy, std::uint32_t leaf, const std::uint32_t* components);
  /// Limits the search of query q to points whose squared distance is at most d2.
  void set_limit(std::uint32_t q, double d2);
  /// Returns an upper bound of the squared distances within which some query looks for points; negative: there is no query.
  [[nodiscard]] double reach() const { return reach_; }
  /// Calls offer() for the points of a leaf, whose box is lower .. upper, that may be within the limits of queries of other
  /// components. Local.
  void visit(std::uint32_t leaf, const double* lower, const double* upper);

  /// Receives query q and a point of another component that may be within its limit; it may lower limits.
  virtual void offer(std::uint32_t q, std::uint32_t point) = 0;

  FilterQueries queries;                     ///< state of the search
  float base[kMaxLeafPoints];                ///< by query: limit without slack
  const std::uint32_t* component = nullptr;  ///< by point of the tree: its component

 private:
  const FilterPoints* copy_ = nullptr;
  double reach_ = -1;
};

}  // namespace merganser::nearest
