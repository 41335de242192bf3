#pragma once
/// Search for all edges between points that some minimum spanning tree has: alternatives of equal weight to those of a given one.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/grow.hpp"
#include "src/msf/euclidean/core_neighbours.hpp"
#include "src/msf/euclidean/sites.hpp"
#include "src/msf/linkage/nested_clusters.hpp"
#include "src/msf/linkage/open_places.hpp"

namespace merganser::msf {

/// Search on rank 0 for the edges that some minimum spanning tree of the points has, as Prim's algorithm visits the points.
///
/// An edge is in some minimum spanning tree exactly if it joins two parts of a single-linkage cluster and weighs what the merge of
/// its parts does: no edge between them is lighter. So a part is searched when its last point has been visited: either the
/// neighbours of its points among those of the cluster that are not visited, or the reverse, whichever are fewer. The searches
/// have the radius of the merge. They begin at the box around their points, and go through the tree of boxes for groups of them at once;
/// at most n log2(n) points are searched from. A point whose core distance is the height of the merge needs no search: its edges of that
/// weight are listed beforehand. Where most merges add a single point, that is nearly all of them. Where the search for the tree has looked
/// for equal edges (BoruvkaState::check_ties), only merges at open weights are searched; the caller knows the edges of the others.
class EqualEdges {
 public:
  /// Builds the tree of boxes over the points. Local.
  /// @param grow  returns a minimum spanning tree of the points, in the order of Prim's algorithm from point 0; called once, while
  ///              another thread builds the tree of boxes if the points have several
  /// @param most  steps (comparisons of one axis of a point or box) after which the search stops
  EqualEdges(const GatheredPoints& points, const std::function<std::vector<GrownEdge>()>& grow, std::uint64_t most);

  /// Marks point v as visited, each point once, and calls offer(from, to, weight) for edges of minimum spanning trees from visited
  /// points to others. By the time a point can be visited all its lightest edges have been examined, and the one from the
  /// point that was visited first has been offered before others of the same weight. Offers nothing more after the search has
  /// stopped.
  void visit(std::uint32_t v, const auto& offer) {
    const std::uint32_t position = position_[v];
    const std::uint32_t place = place_[position];
    rank_[position] = visits_++;
    unvisited_.remove(place);
    mark_done(position);
    Places part{place, place + 1};
    for (std::uint32_t number = clusters_.around(place); number != NestedClusters::kNone;) {
      auto& cluster = clusters_[number];
      cluster.visited += part.end - part.begin;
      const Places all{cluster.begin, cluster.end};
      if (cluster.visited < all.end - all.begin) {
        if (!is_open(cluster.height)) return;
        join(part, all, cluster);
        for (const Found& edge : found_) {
          offer(id(edge.from), id(edge.to), edge.weight);
          // No edge to this point is lighter, and of equal ones the first stays: it is excluded from later searches.
          if (edge.weight <= core_distance(id(edge.to))) mark_done(edge.to);
        }
        return;
      }
      part = all;
      number = cluster.parent;
    }
  }

  /// Returns whether the search for edges of equal weight has stopped at its limit of steps, so that edges may be missing.
  [[nodiscard]] bool gave_up() const { return steps_ > most_; }

 private:
  /// Node of the tree of boxes: a range of points, with the range of their places in the order of Prim's algorithm.
  struct Node {
    std::uint32_t begin;        ///< position of the first point of the box
    std::uint32_t end;          ///< position behind the last point of the box
    std::uint32_t right;        ///< second child; 0: a leaf. The first child is the next node
    std::uint32_t parent;       ///< parent node; of the first node: itself
    std::uint32_t open;         ///< number of points of the box that are neither visited nor settled
    std::uint32_t first_place;  ///< least place of its points in the order of Prim's algorithm
    std::uint32_t last_place;   ///< greatest place of its points in the order of Prim's algorithm
    double least_core;          ///< least core distance of its points
  };
  /// Box of some of the points that a search looks from, with their range in members_.
  struct Group {
    std::uint32_t begin;  ///< position of its first point in members_
    std::uint32_t end;    ///< position behind its last point in members_
    std::uint32_t right;  ///< second half; 0: a group that is not halved. The first half is the next group
  };
  /// Group of points and box of the tree that a search has yet to compare.
  struct Pair {
    std::uint32_t group;
    std::uint32_t node;
  };
  /// Edge of a minimum spanning tree from a visited point to another, by positions.
  struct Found {
    double weight;
    std::uint32_t from;
    std::uint32_t to;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};    ///< no position, or no rank
  static constexpr std::uint32_t kLeaf = nearest::kPairGroup;  ///< positions of leaves begin at multiples of it

  /// Builds the tree of boxes over all gathered points by halving at medians: fills nodes_, bounds_ and leaf_, without the
  /// ranges of nodes.
  /// @return by position, the order of the boxes: the point
  [[nodiscard]] std::vector<std::uint32_t> build();
  /// Appends a node, the box of the points begin .. end - 1 of `order`, to the tree of boxes. @return its number
  [[nodiscard]] std::uint32_t add_node(const std::vector<std::uint32_t>& order, std::uint32_t begin, std::uint32_t end,
                                       std::uint32_t parent);
  /// Sets the ranges of places and the least core distances of all nodes, from place_ by point. @param order  by position: the point
  void set_ranges(const std::vector<std::uint32_t>& order);
  /// Returns the axis of largest extent of the box of a node, along which it is split.
  [[nodiscard]] std::size_t widest(std::uint32_t node) const;
  /// Range of places in the order of Prim's algorithm on the given tree.
  struct Places {
    std::uint32_t begin;
    std::uint32_t end;
  };
  static_assert(kLeaf == 32, "one number of 32 bits tells which points of a leaf are taken");
  /// Returns whether the point at a position is visited or settled.
  [[nodiscard]] bool is_done(std::uint32_t position) const {
    return (done_[position / kLeaf] >> position % kLeaf & 1) != 0;
  }
  /// Marks the point at a position as visited or settled, and counts down the open points of all boxes that contain it.
  void mark_done(std::uint32_t position);
  /// Returns the first place from `place` on whose point is not visited; the number of points if there is none.
  [[nodiscard]] std::uint32_t next_unvisited(std::uint32_t place) const {
    return static_cast<std::uint32_t>(unvisited_.next(place));
  }
  /// Returns the point at a position.
  [[nodiscard]] std::uint32_t id(std::uint32_t position) const { return id_at_[place_[position]]; }
  /// Sets members_ to the points from which a part and the rest of its cluster are searched, in the order of the boxes: those of the part,
  /// or those of the rest that are not settled. @return whether it is the part, which has no more points than the rest
  bool choose_members(const Places& part, const Places& all, const NestedClusters::Cluster& cluster);
  /// Sets found_ to the edges between a part that has been visited and the rest of its cluster, which has unvisited points: to each
  /// point the lightest one, of equal ones that from the point that was visited first.
  void join(const Places& part, const Places& all, const NestedClusters::Cluster& cluster);
  /// Appends to found_ the edges of those members_ whose edges of weight `height` are listed, and removes these members.
  /// @param from_done  true: edges lead from members_ to points that are neither visited nor settled; false: to members_ from the
  ///                   points of a part at places `among`
  void collect_listed_edges(bool from_done, const Places& among, double height);
  /// Reduces found_ to the edge to each point that is lightest, of equal ones that from the point that was visited first.
  void keep_first();
  /// Halves members_ into groups of at most kLeaf points: fills groups_ and group_bounds_.
  void group_members();
  /// Appends a group, the box of the points begin .. end - 1 of members_, and those that it is halved into. @return its number
  std::uint32_t add_group(std::uint32_t begin, std::uint32_t end);
  /// Sets todo_ to the boxes that a search of all groups begins with, which together have all points: the least one around members_
  /// last, so that it is first.
  void begin_near_members();
  /// Returns the lower corner of the box of a node (axes_ numbers), which the upper corner follows.
  [[nodiscard]] const double* bounds(std::uint32_t node) const { return bounds_.data() + node * 2 * axes_; }
  /// Returns whether edges of a weight are searched: some may not be known otherwise.
  [[nodiscard]] bool is_open(double weight) const {
    if (!lists_->is_complete()) return true;
    const auto open = lists_->open_weights();
    return std::binary_search(open.begin(), open.end(), weight);
  }
  /// Returns the core distance of point v (not squared); 0 where weights are plain distances.
  [[nodiscard]] double core_distance(std::uint32_t v) const {
    return points_.core_distances.empty() ? 0 : points_.core_distances[v];
  }
  /// Appends to found_ the edges between members_ and points at certain places, none of them in members_, that are not heavier than
  /// `heaviest`.
  /// @tparam kFrom  edges lead from members_ to points that are neither visited nor settled; otherwise to members_
  template <bool kFrom>
  void search(const Places& among, double heaviest);
  /// Compares the points of a group with those of a leaf box, as search() does.
  /// @param most  greatest compared distance of a pair whose edge weighs at most `heaviest`
  template <bool kFrom>
  void search_leaf(const Group& group, std::uint32_t leaf, const Places& among, double heaviest, double most);

  const GatheredPoints& points_;
  std::size_t axes_;
  std::uint64_t most_;                   ///< limit of steps, after which the search stops
  std::uint64_t steps_ = 0;              ///< comparisons of one axis so far
  euclidean::NeighboursPointer lists_;   ///< edges of points that weigh their core distances
  NestedClusters clusters_;              ///< single-linkage clusters of the given tree
  std::vector<std::uint32_t> id_at_;     ///< by place in the order of Prim's algorithm on the given tree: the point
  std::vector<std::uint32_t> place_;     ///< by position: place of the point in that order
  std::vector<std::uint32_t> position_;  ///< by point: its position in the order of the boxes
  std::vector<std::uint32_t> rank_;      ///< by position: number of points visited before; kNone: not visited
  std::uint32_t visits_ = 0;             ///< number of points that have been visited
  std::vector<std::uint32_t>
      done_;  ///< by leaf, a bit for each point: visited, that is in the tree of Prim's algorithm, or settled
  OpenPlaces unvisited_;                ///< places whose points are not visited
  std::vector<std::uint32_t> leaf_;     ///< by position / kLeaf: the leaf of the tree of boxes
  std::vector<Node> nodes_;             ///< tree of boxes, depth first
  std::vector<double> bounds_;          ///< by node: lower, then upper corner of the box
  std::vector<double> data_;            ///< coordinates in the order of the boxes, in groups of 8 points, axis by axis
  nearest::PairPoints pairs_;           ///< view of data_ for nearest::pair_distances()
  std::vector<std::uint32_t> members_;  ///< positions of the points that a search looks from, ascending
  std::vector<Group> groups_;           ///< halves of members_, depth first
  std::vector<double> group_bounds_;    ///< by group: lower, then upper corner of its box
  std::array<double, kLeaf>
      limits_{};  ///< greatest distance from nearest::near_pairs() that search_leaf() examines, for each point
  std::vector<Pair> todo_;    ///< stack of what a search has yet to compare
  std::vector<Found> found_;  ///< result of join()
};

}  // namespace merganser::msf
