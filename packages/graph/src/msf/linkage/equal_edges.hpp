#pragma once
/// Search for all edges between points that some minimum spanning tree has: alternatives of equal weight to those of a given one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/grow.hpp"
#include "src/msf/euclidean/sites.hpp"
#include "src/msf/linkage/nested_clusters.hpp"

namespace merganser::msf {

/// Search on rank 0 for the edges that some minimum spanning tree of the points has, as Prim's algorithm visits the points.
///
/// An edge is in some minimum spanning tree exactly if it joins two parts of a single-linkage cluster and weighs what the merge of
/// its parts does: no edge between them is lighter. So a part is searched when its last point has been visited: either the
/// neighbours of its points among those of the cluster that are not visited, or the reverse, whichever are fewer. The searches
/// have the radius of the merge; there are at most n log2(n), about n where most merges add a single point.
class EqualEdges {
 public:
  /// Builds the tree of boxes over the points. Local.
  /// @param grown  a minimum spanning tree of the points, in the order of Prim's algorithm from point 0
  /// @param most   steps (comparisons of one axis of a point or box) after which the search stops
  EqualEdges(const GatheredPoints& points, std::span<const GrownEdge> grown, std::uint64_t most);

  /// Marks point v as visited, each point once, and calls offer(from, to, weight) for edges of minimum spanning trees from visited
  /// points to others. By the time a point can be visited all its lightest edges have been examined, and the one from the
  /// point that was visited first has been offered before others of the same weight. Offers nothing more after the search has
  /// stopped.
  void visit(std::uint32_t v, const auto& offer) {
    const std::uint32_t position = position_[v];
    const std::uint32_t place = place_[position];
    rank_[position] = visits_++;
    unvisited_[place] = place + 1;
    take(position);
    Places part{place, place + 1};
    for (std::uint32_t number = clusters_.around(place); number != NestedClusters::kNone;) {
      auto& cluster = clusters_[number];
      cluster.visited += part.end - part.begin;
      const Places all{cluster.begin, cluster.end};
      if (cluster.visited < all.end - all.begin) return join(part, all, cluster, offer);
      part = all;
      number = cluster.parent;
    }
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
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};    ///< no position, or no rank
  static constexpr std::uint32_t kLeaf = nearest::kPairGroup;  ///< leaves begin at multiples of it in `order_`

  /// Builds the tree of boxes over all gathered points by halving at medians: fills nodes_, bounds_, order_ and leaf_, from
  /// place_ by point.
  void build();
  /// Appends a node, the box of the points begin .. end - 1 of order_, to the tree of boxes. @return its number
  [[nodiscard]] std::uint32_t add_node(std::uint32_t begin, std::uint32_t end, std::uint32_t parent);
  /// Returns the axis of largest extent of the box of a node, along which it is split.
  [[nodiscard]] std::size_t widest(std::uint32_t node) const;
  /// Range of places in the order of Prim's algorithm on the given tree.
  struct Places {
    std::uint32_t begin;
    std::uint32_t end;
  };
  /// Marks the point at a position as visited or settled, and counts down the open points of all boxes that contain it.
  void take(std::uint32_t position);
  /// Returns the first place from `place` on whose point is not visited; the number of points if there is none.
  [[nodiscard]] std::uint32_t next_unvisited(std::uint32_t place);
  /// Returns the positions of the points of a visited part, in the order of the visits; valid until the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& in_order_of_visits(const Places& part);
  /// Returns the lower corner of the box of a node (axes_ numbers), which the upper corner follows.
  [[nodiscard]] const double* bounds(std::uint32_t node) const { return bounds_.data() + node * 2 * axes_; }
  /// Returns the core distance of point v (not squared); 0 where weights are plain distances.
  [[nodiscard]] double core_distance(std::uint32_t v) const {
    return points_.core_distances.empty() ? 0 : points_.core_distances[v];
  }
  /// Calls offer() for the edges between a part that has been visited and the rest of its cluster, which has unvisited points.
  void join(const Places& part, const Places& all, const NestedClusters::Cluster& cluster, const auto& offer) {
    const double most = points_.sites->compared_above(cluster.height);
    if (part.end - part.begin <= all.end - all.begin - cluster.visited) {
      for (const std::uint32_t from : in_order_of_visits(part))
        search<true>(from, all, cluster.height, most,
                     [&](std::uint32_t to, double weight) { give(from, to, weight, offer); });
      return;
    }
    for (std::uint32_t p = next_unvisited(all.begin); p < all.end; p = next_unvisited(p + 1)) {
      const std::uint32_t to = position_[id_at_[p]];
      if (taken_[to] != 0) continue;
      std::uint32_t best = kNone;
      double least = std::numeric_limits<double>::infinity();
      search<false>(to, part, cluster.height, most, [&](std::uint32_t from, double weight) {
        if (best != kNone && (weight > least || (weight == least && rank_[from] > rank_[best]))) return;
        best = from;
        least = weight;
      });
      if (best != kNone) give(best, to, least, offer);
    }
  }

  /// Offers an edge between positions, and excludes its end from later searches if the edge weighs no more than the end's core
  /// distance: no edge is lighter, and of equal ones the first stays.
  void give(std::uint32_t from, std::uint32_t to, double weight, const auto& offer) {
    offer(order_[from], order_[to], weight);
    if (weight <= core_distance(order_[to])) take(to);
  }

  /// Calls body(position, weight) for the points at certain places, the point at position q not among them, whose edge to the point
  /// at q is not heavier than `heaviest`. @tparam kOpen  only points that are neither visited nor settled
  /// @param most  greatest compared distance of a pair whose edge weighs at most `heaviest`
  template <bool kOpen>
  void search(std::uint32_t q, const Places& among, double heaviest, double most, const auto& body) {
    // Depth first through the tree of boxes.
    const double* const at = points_.sites->at(order_[q]);
    todo_.assign(1, 0);
    while (!todo_.empty() && !gave_up()) {
      const std::uint32_t next = todo_.back();
      todo_.pop_back();
      const Node& node = nodes_[next];
      if (kOpen && node.open == 0) continue;
      if (node.first_place >= among.end || node.last_place < among.begin || node.least_core > heaviest) continue;
      steps_ += axes_;
      if (points_.sites->compared_to_box(at, bounds(next), bounds(next) + axes_, most) > most) continue;
      if (node.right == 0) {
        search_leaf<kOpen>(node, q, among, heaviest, most, body);
      } else {
        todo_.push_back(node.right);
        todo_.push_back(next + 1);
      }
    }
  }

  /// Compares a point with those of a leaf box, as search() does.
  template <bool kOpen>
  void search_leaf(const Node& node, std::uint32_t q, const Places& among, double heaviest, double most,
                   const auto& body) {
    const auto& sites = *points_.sites;
    const double* const at = sites.at(order_[q]);
    const double core = core_distance(order_[q]);
    const double near = sites.pair_limit(most);
    std::array<double, kLeaf> limit;
    std::array<double, kLeaf> compared;
    limit.fill(near);
    steps_ += axes_ * kLeaf;
    nearest::pair_distances(pairs_, at, limit.data(), node.begin, node.begin + kLeaf, compared.data());
    for (std::uint32_t to = node.begin; to < node.end; ++to) {
      if (compared[to - node.begin] > near || place_[to] < among.begin || place_[to] >= among.end) continue;
      if (kOpen && taken_[to] != 0) continue;
      const double distance = sites.compared_from_pair(compared[to - node.begin], at, sites.at(order_[to]));
      if (distance > most) continue;
      const double weight = std::max({core, core_distance(order_[to]), sites.weight(distance)});
      if (weight <= heaviest) body(to, weight);
    }
  }

  const GatheredPoints& points_;
  std::size_t axes_;
  std::uint64_t most_;                   ///< limit of steps, after which the search stops
  std::uint64_t steps_ = 0;              ///< comparisons of one axis so far
  NestedClusters clusters_;              ///< single-linkage clusters of the given tree
  std::vector<std::uint32_t> id_at_;     ///< by place in the order of Prim's algorithm on the given tree: the point
  std::vector<std::uint32_t> place_;     ///< by position: place of the point in that order
  std::vector<std::uint32_t> order_;     ///< by position, the order of the boxes: the point
  std::vector<std::uint32_t> position_;  ///< by point: its position
  std::vector<std::uint32_t> rank_;      ///< by position: number of points visited before; kNone: not visited
  std::uint32_t visits_ = 0;             ///< number of points that have been visited
  std::vector<std::uint8_t> taken_;  ///< by position: 1: visited, that is in the tree of Prim's algorithm, or settled
  std::vector<std::uint32_t> unvisited_;  ///< by place: itself; of a visited point a later place, see next_unvisited()
  std::vector<std::uint32_t> leaf_;       ///< by position / kLeaf: the leaf of the tree of boxes
  std::vector<Node> nodes_;               ///< tree of boxes, depth first
  std::vector<double> bounds_;            ///< by node: lower, then upper corner of the box
  std::vector<double> data_;            ///< coordinates in the order of the boxes, in groups of 8 points, axis by axis
  nearest::PairPoints pairs_;           ///< view of data_ for nearest::pair_distances()
  std::vector<std::uint32_t> members_;  ///< result of in_order_of_visits()
  std::vector<std::uint32_t> todo_;     ///< stack of nodes that a search has yet to visit
};

}  // namespace merganser::msf
