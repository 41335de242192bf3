#pragma once
/// Search for all edges between points that some minimum spanning tree has: alternatives of equal weight to those of a given one.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/grow.hpp"
#include "src/msf/euclidean/sites.hpp"

namespace merganser::msf {

/// Range maximum queries on a fixed array (edge weights in the order of Prim's algorithm), with a sparse table over blocks of 8:
/// O(1) per query, about (8 + log2 n) bytes per number.
class RangeMaximum {
 public:
  /// Builds the sparse table of range maxima in O(n).
  explicit RangeMaximum(std::vector<double> numbers);
  /// Returns the greatest of the numbers begin .. end - 1; -infinity if there are none. Reads at most 14 numbers and 2 entries.
  [[nodiscard]] double operator()(std::size_t begin, std::size_t end) const;

 private:
  static constexpr std::size_t kBlock = 8;  ///< numbers per entry of the lowest level of the table

  std::vector<double> numbers_;              ///< the array that is queried
  std::vector<std::vector<double>> blocks_;  ///< sparse table: [l][b] is the maximum of 2^l blocks from block b on
};

/// Search on rank 0 that finds, for one point after the other, the edges to points not yet visited that some minimum spanning tree
/// of the points has.
///
/// An edge is in some minimum spanning tree exactly if it is not heavier than the heaviest edge on the path between its ends in
/// *a* minimum spanning tree. In the order in which Prim's algorithm adds the points, the heaviest edge on the path between the
/// i-th and the j-th is the heaviest by which a point from i + 1 to j was added: a cluster of edges up to h is entered once, and
/// left when all of it has been added. So a box of points is searched only where its distance is not above the heaviest edge on
/// the path to any of its points.
class EqualEdges {
 public:
  /// Builds the tree of boxes over the points. Local.
  /// @param grown  a minimum spanning tree of the points, in the order of Prim's algorithm from point 0
  /// @param most   steps (comparisons of one axis of a point or box) after which the search stops
  EqualEdges(const GatheredPoints& points, std::span<const GrownEdge> grown, std::uint64_t most);

  /// Marks point v as visited, and calls body(to, weight) for its edges of minimum spanning trees to points not yet visited for
  /// which wanted(to, weight) is true. Finds nothing more after the search has stopped.
  void visit_edges(std::uint32_t v, const auto& wanted, const auto& body) {
    // Depth first through the tree of boxes; skips a box if all edges to its points are heavier than the tree's paths to them.
    if (taken_[v] == 0) mark_taken(v);
    const double* const at = points_.sites->at(v);
    const double core = core_distance(v);
    const std::size_t place = place_[v];
    todo_.assign(1, 0);
    while (!todo_.empty() && !gave_up()) {
      const std::uint32_t next = todo_.back();
      todo_.pop_back();
      const Node& node = nodes_[next];
      if (node.open == 0) continue;
      const double heaviest = heaviest_between(place, node.first_place, node.last_place);
      if (std::max(core, node.least_core) > heaviest) continue;
      const double most = points_.sites->compared_above(heaviest);
      steps_ += axes_;
      if (points_.sites->compared_to_box(at, bounds(next), bounds(next) + axes_, most) > most) continue;
      if (node.right == 0) {
        search_leaf(node, v, heaviest, wanted, body);
      } else {
        todo_.push_back(node.right);
        todo_.push_back(next + 1);
      }
    }
  }

  /// Excludes point v from later searches if an edge to it weighs no more than its core distance: no edge is lighter, and of equal ones
  /// the first stays.
  void settle(std::uint32_t v, double weight) {
    if (taken_[v] == 0 && weight <= core_distance(v)) mark_taken(v);
  }

  /// Returns whether the search for edges of equal weight has stopped at its limit of steps, so that edges may be missing.
  [[nodiscard]] bool gave_up() const { return steps_ > most_; }

 private:
  /// Node of the tree of boxes: a range of points, with the range of their places in the order of Prim's algorithm.
  struct Node {
    std::uint32_t begin;        ///< position of the first point of the box in order_
    std::uint32_t end;          ///< position behind the last point of the box in order_
    std::uint32_t right;        ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;       ///< parent node; of the first node: itself
    std::uint32_t open;         ///< number of points of the box that are neither visited nor settled
    std::uint32_t first_place;  ///< least place of its points in the order of Prim's algorithm
    std::uint32_t last_place;   ///< greatest place of its points in the order of Prim's algorithm
    double least_core;          ///< least core distance of its points
  };
  static constexpr std::uint32_t kLeaf = nearest::kPairGroup;  ///< leaves begin at multiples of it in `order_`

  /// Builds the tree of boxes over all gathered points by halving at medians: fills nodes_, bounds_, order_ and leaf_.
  void build();
  /// Appends a node, the box of the points begin .. end - 1 of order_, to the tree of boxes. @return its number
  [[nodiscard]] std::uint32_t add_node(std::uint32_t begin, std::uint32_t end, std::uint32_t parent);
  /// Returns the axis of largest extent of the box of a node, along which it is split.
  [[nodiscard]] std::size_t widest(std::uint32_t node) const;
  /// Marks point v as visited by Prim's algorithm, or settled, and counts down the open points of all boxes that contain it.
  void mark_taken(std::uint32_t v);
  /// Returns the lower corner of the box of a node (axes_ numbers), which the upper corner follows.
  [[nodiscard]] const double* bounds(std::uint32_t node) const { return bounds_.data() + node * 2 * axes_; }
  /// Returns the core distance of point v (not squared); 0 where weights are plain distances.
  [[nodiscard]] double core_distance(std::uint32_t v) const {
    return points_.core_distances.empty() ? 0 : points_.core_distances[v];
  }
  /// Returns the weight of the heaviest edge on the spanning tree's path between the point at a place of Prim's order and any of
  /// those at the places first .. last.
  [[nodiscard]] double heaviest_between(std::size_t place, std::size_t first, std::size_t last) const {
    return heaviest_(std::min(place, first) + 1, std::max(place, last) + 1);
  }

  /// Compares point v with the unvisited points of a leaf box, and calls body(to, weight) for the wanted edges that are not heavier
  /// than the heaviest on the spanning tree's path. @param heaviest  bound of that for all points of the leaf
  void search_leaf(const Node& node, std::uint32_t v, double heaviest, const auto& wanted, const auto& body) {
    const auto& sites = *points_.sites;
    const double most = sites.compared_above(heaviest);
    const double core = core_distance(v);
    const std::uint32_t* const members = order_.data() + node.begin;
    const std::uint32_t count = node.end - node.begin;
    std::array<double, kLeaf> limit;
    std::array<double, kLeaf> compared;
    for (std::uint32_t i = 0; i < kLeaf; ++i)
      limit[i] =
          i < count && taken_[members[i]] == 0 && core_distance(members[i]) <= heaviest ? sites.pair_limit(most) : -1;
    steps_ += axes_ * kLeaf;
    nearest::pair_distances(pairs_, sites.at(v), limit.data(), node.begin, node.begin + kLeaf, compared.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      if (compared[i] > limit[i]) continue;
      const std::uint32_t to = members[i];
      const double distance = sites.compared_from_pair(compared[i], sites.at(v), sites.at(to));
      if (distance > most) continue;
      const double weight = std::max({core, core_distance(to), sites.weight(distance)});
      if (wanted(to, weight) && weight <= heaviest_between(place_[v], place_[to], place_[to])) body(to, weight);
    }
  }

  const GatheredPoints& points_;
  std::size_t axes_;
  std::uint64_t most_;                ///< limit of steps, after which the search stops
  std::uint64_t steps_ = 0;           ///< comparisons of one axis so far
  std::vector<std::uint32_t> place_;  ///< by point: its place in the order of Prim's algorithm
  RangeMaximum heaviest_;             ///< by place: weight of the edge by which the point was added
  std::vector<std::uint32_t> order_;  ///< points in the order of the boxes
  std::vector<std::uint32_t> leaf_;   ///< by point: the leaf of the tree of boxes that contains it
  std::vector<Node> nodes_;           ///< tree of boxes, depth first
  std::vector<double> bounds_;        ///< by node: lower, then upper corner of the box
  std::vector<double> data_;          ///< coordinates in the order of the boxes, in groups of 8 points, axis by axis
  nearest::PairPoints pairs_;         ///< view of data_ for nearest::pair_distances()
  std::vector<std::uint8_t> taken_;   ///< by point: 1: visited, that is in the tree of Prim's algorithm, or settled
  std::vector<std::uint32_t> todo_;   ///< stack of nodes that a search has yet to visit
};

}  // namespace merganser::msf
