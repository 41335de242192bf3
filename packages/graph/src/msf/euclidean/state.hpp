#pragma once
/// State of Boruvka's rounds on the points of one rank: components, neighbour lists and bounds, and the search for the nearest
/// point of another component.
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <functional>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/detail/shared_word.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/nearest/filter_points.hpp"
#include "merganser/nearest/leaf_scan.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {

/// Key of an edge between points, by which edges are strictly ordered: (squared distance, lower id, higher id).
struct Key {
  double d2 = kInfinity;                   ///< squared distance, or mutual reachability distance, of the points
  std::uint64_t low = ~std::uint64_t{0};   ///< lower id of the two points
  std::uint64_t high = ~std::uint64_t{0};  ///< higher id of the two points

  friend bool operator<(const Key& a, const Key& b) {
    if (a.d2 != b.d2) return a.d2 < b.d2;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
  friend bool operator==(const Key&, const Key&) = default;
};
/// Returns the key of the edge between the points of ids a and b, whose squared distance is d2.
inline Key make_key(double d2, std::uint64_t a, std::uint64_t b) { return a < b ? Key{d2, a, b} : Key{d2, b, a}; }

/// Choice of a component of points in a Boruvka round of one rank: its least edge to another component that was found so far.
struct Choice {
  Key key;                     ///< the edge
  std::uint32_t from = kNone;  ///< the component's own point of the edge; kNone: no edge was found
  std::uint32_t to = kNone;    ///< point at the other end
};

/// Point, of this rank or another, for which the nearest point of another component is searched.
template <std::size_t D>
struct Seeker {
  Place<D> at;              ///< coordinates of the point
  double core;              ///< its squared core distance; 0 with plain distances
  std::uint64_t id;         ///< its id
  std::uint32_t component;  ///< its component, which the search excludes
};
/// Result of a tree search for the nearest point of another component.
struct Found {
  double d2 = kInfinity;        ///< squared distance, or mutual reachability distance, to the point
  std::uint32_t point = kNone;  ///< number of the point in the tree; kNone: none was found
};

/// State of the rounds of Boruvka's algorithm for a spanning tree of points on one rank; points are numbered in the order of the
/// rank's tree of boxes. Invariant: the bound of a point is a lower bound of the squared distance to every point of this rank in
/// another component. If `nearest` of a point is in another component, that is the nearest such point, and the bound is the squared
/// distance to it.
template <std::size_t D>
struct BoruvkaState {
  /// Most bytes per point of this rank for the copies of `best` that threads other than the first work on.
  static constexpr std::size_t kCopiedBytes = 64;

  PointTree<D> tree;         ///< tree of boxes over this rank's points
  std::vector<double> core;  ///< by point: squared core distance, followed by 16 zeros; empty: plain distances
  nearest::LeafPoints scan;  ///< view of the tree's points for scans of leaves

  int threads = 1;                  ///< threads that share the rounds
  std::uint32_t keep = 0;           ///< length of a neighbour list
  std::vector<std::uint32_t> list;  ///< `keep` neighbours of each point in order, kNone where there are no more
  std::vector<std::uint8_t> used;   ///< entries of each list that are passed: in the point's own component
  std::vector<double> bound;        ///< by point: lower bound of the squared distance to points of other components
  std::vector<std::uint32_t>
      nearest;  ///< by point: neighbour at the distance `bound`; the point itself: there is none at that distance

  std::vector<std::uint32_t> component;       ///< by point: number of its component
  std::uint32_t components = 0;               ///< number of components; in global rounds, of all ranks
  std::vector<Choice> best;                   ///< by component: least edge out of it found in this round
  std::vector<std::uint32_t> node_component;  ///< by node: the component of all its points; kNone: several

  std::vector<graphs::Edge24> edges;  ///< edges of the spanning tree found by this rank so far
  std::int64_t searches = 0;          ///< number of tree searches, for the report
  std::int64_t visits = 0;            ///< number of pairs of leaves that searches with the filter compared

  std::vector<double> least_bound;        ///< by node, for leaves: lower bound of the bounds of its points
  std::vector<std::uint8_t> spent;        ///< by node, for leaves: 1 where a point's list had no outside neighbour left
  mutable std::vector<Visit> todo;        ///< stack of nodes that search() has yet to visit
  std::vector<double> node_bound;         ///< by node of one component: lower bound of the distance to others
  std::vector<std::uint32_t> node_round;  ///< by node: the round in which node_bound was computed
  std::uint32_t round = 0;                ///< number of the Boruvka round
  std::vector<std::uint32_t> node_needs;  ///< by node: points below it that must search in this round

  bool checks_ties =
      false;  ///< the rounds look for edges of equal weight beside each choice; on one rank, up to three axes, with core distances
  std::vector<double> tied;  ///< compared values of the choices beside which there may be such an edge

  /// Returns the squared core distance of point v of this rank; 0 with plain distances.
  [[nodiscard]] double core_or_zero(std::uint32_t v) const { return core.empty() ? 0 : core[v]; }
  /// Returns the squared distance, or mutual reachability distance, of points a and b of this rank: the weight that edges compare
  /// by.
  [[nodiscard]] double weight(std::uint32_t a, std::uint32_t b) const {
    const double d2 = tree.distance2(a, b);
    return core.empty() ? d2 : std::max(d2, std::max(core[a], core[b]));
  }
  /// Returns the key of the edge between points a and b of this rank, whose squared distance is d2.
  [[nodiscard]] Key key(std::uint32_t a, std::uint32_t b, double d2) const {
    return make_key(d2, tree.id(a), tree.id(b));
  }
  /// Returns whether `nearest` of point v is in another component, so that it needs no search.
  [[nodiscard]] bool has_outside_neighbour(std::uint32_t v) const { return component[nearest[v]] != component[v]; }

  /// Advances point v to the next neighbour of its list that is in another component, as `nearest`. @return false if there is none
  bool advance(std::uint32_t v);
  /// First half of a Boruvka round: computes the best edges of components from the neighbour lists of points, without tree
  /// searches.
  void choose_from_lists();
  /// Returns whether an edge from point v to another component could come before the limit, by the bound of v. A limit of {d2, 0,
  /// 0} comes before all edges of that distance.
  [[nodiscard]] bool may_improve(std::uint32_t v, const Key& limit) const {
    if (bound[v] != limit.d2) return bound[v] < limit.d2;
    return nearest[v] == v ? bound[v] < kInfinity && limit.high != 0 : key(v, nearest[v], bound[v]) < limit;
  }
  /// Computes node_component, the component of all points below a node, for all nodes of the tree.
  void mark_nodes();
  /// Finds this rank's nearest point, by (squared distance, id), of another component than the seeker's by a search of the tree, if
  /// the edge to it comes before the limit. Uses node_component.
  [[nodiscard]] Found search(const Seeker<D>& seeker, const Key& limit) const;
  /// Second half of a Boruvka round: searches the tree for the nearest point of another component for all points whose bounds come
  /// before the best edge of their component and its ceiling, and updates `best`.
  /// @param ceiling  by component: edges that do not come before it cannot be chosen; empty: no ceiling
  void search_where_needed(const std::vector<Key>& ceiling);

  /// Appends to `tied` the choices of a round beside which another edge out of the component may have the same weight: one that is longer than
  /// both core distances of its ends. Clears checks_ties where there are many. @param first  the first round, in which every point is a
  /// component, and `best` and node_component are not used
  ///
  /// Let an edge f of weight h belong to some minimum spanning tree. The path between its ends in the tree that the rounds choose has no edge
  /// that weighs more than h, and its greatest edge g, in the strict order, weighs h. The component that chose g had no lesser edge out
  /// of it, so it had the whole path on its side of g, hence one end of f and not the other. So f is among the edges of weight h
  /// that are looked for beside the choice g: f is g, or weighs the core distance of one end, or h is the weight of a tied choice.
  void check_ties(bool first);
  /// Appends an edge, given by its key, to the edges of the spanning tree on this rank, with its distance as weight.
  void add_edge(const Key& key);
  /// Returns the number of threads for a part of this round: fewer than `threads` for little work, or where copies of `best`, one for each
  /// thread but the first, would take more than kCopiedBytes per point of this rank.
  /// @param work  number of independent parts of the work
  [[nodiscard]] std::size_t team_size(std::size_t work) const;

 private:
  /// Leaves near a leaf for whose points searches are made, as gather_near() finds them, with their boxes as a structure of arrays.
  struct NearLeaves {
    std::vector<std::uint32_t> leaf;           ///< numbers of the leaves in the tree
    std::array<std::vector<double>, D> lower;  ///< by axis and leaf: lower end of the box
    std::array<std::vector<double>, D> upper;  ///< by axis and leaf: upper end of the box
    std::vector<double> d2;                    ///< by leaf: squared distance of its box to the present seeker
  };
  /// Memory of one thread of a round: all that it changes besides the points and nodes that are its own.
  struct Worker {
    Choice* best = nullptr;     ///< by component: least edge out of it that this thread knows; the thread's own
    std::vector<Visit> todo;    ///< stack of nodes that a tree search has yet to visit
    NearLeaves near;            ///< leaves near the leaf that is searched for
    std::int64_t searches = 0;  ///< number of tree searches
    std::int64_t visits = 0;    ///< number of pairs of leaves that searches with the filter compared
  };
  /// Calls body(worker) on threads of this round, each with a worker that has all best edges, and joins the best edges that they have
  /// found. @param work  number of independent parts of the work, few of which are left to the calling thread
  void with_workers(std::size_t work, const std::function<void(Worker&)>& body);
  void copy_choices(std::size_t team);

  /// Returns an upper bound of the compared values whose weight, a square root or the value itself, is rounded to that of d2.
  [[nodiscard]] static double equal_weight(double d2) { return d2 * (1 + 0x1p-50); }
  /// Returns whether an edge between points a and b, of the squared distance d2, is longer than both core distances.
  [[nodiscard]] bool is_long(std::uint32_t a, std::uint32_t b, double d2) const {
    return d2 > std::max(core[a], core[b]);
  }
  /// Returns whether point v of a leaf may have another edge out of its component than `choice`, the least one, that is longer than both
  /// core distances and weighs as much. @param stack  work space
  [[nodiscard]] bool may_tie(std::uint32_t leaf, std::uint32_t v, const Key& choice, std::vector<Visit>& stack) const;
  /// Returns whether point v of a leaf has an edge as may_tie() looks for, by a search of the tree.
  [[nodiscard]] bool finds_tie(std::uint32_t leaf, std::uint32_t v, const Key& choice, std::vector<Visit>& stack) const;
  /// Returns an upper bound of the compared value of the best edge of component c over all threads.
  [[nodiscard]] double least_of(const Worker& worker, std::uint32_t c) const {
    const double own = worker.best[c].key.d2;
    if (least_.empty()) return own;
    return std::min(own, std::bit_cast<double>(merganser::detail::load_word(least_[c], std::memory_order_relaxed)));
  }
  /// Returns an upper bound of the compared values of the edges out of component c that this round looks for.
  [[nodiscard]] double reach_of(const Worker& worker, std::uint32_t c) const {
    const double least = least_of(worker, c);
    return checks_ties ? equal_weight(least) : least;
  }
  /// Returns the key that an edge out of component c must precede to be chosen: the lesser of its best edge and its ceiling. Of the best
  /// edge of another thread only the compared value is known, so edges of the same value are not excluded.
  [[nodiscard]] Key limit(const Worker& worker, std::uint32_t c, const std::vector<Key>& ceiling) const {
    const Key& own = worker.best[c].key;
    const double least = least_of(worker, c);
    const Key known = least < own.d2 ? Key{least} : own;
    if (checks_ties) return Key{equal_weight(known.d2)};
    return !ceiling.empty() && ceiling[c] < known ? ceiling[c] : known;
  }
  /// Makes an edge of component c the best one that a thread knows, and tells the other threads its compared value.
  void choose(Worker& worker, std::uint32_t c, const Choice& choice) {
    worker.best[c] = choice;
    if (least_.empty()) return;
    const double d2 = choice.key.d2;
    std::uint64_t known = merganser::detail::load_word(least_[c], std::memory_order_relaxed);
    while (d2 < std::bit_cast<double>(known) &&
           !merganser::detail::replace_word(least_[c], known, std::bit_cast<std::uint64_t>(d2),
                                            std::memory_order_relaxed)) {
    }
  }
  /// Replaces the best edge of the component of point v by that from v to its nearest neighbour, if that is less.
  void offer_edge(Worker& worker, std::uint32_t v);
  /// Advances the points of a leaf whose bounds are low enough along their lists, and offers the edges to their nearest neighbours.
  void choose_from_leaf(Worker& worker, std::uint32_t leaf);
  /// Counts into node_needs the points below each node whose nearest point of another component must be searched in this round.
  void count_needs(const std::vector<Key>& ceiling);
  /// Recomputes least_bound of a leaf of the tree, the least bound of its points.
  void update_least_bound(std::uint32_t leaf);
  // Stages of search_where_needed(): descent of the tree, with bounds of nodes of one component, down to the points.
  [[nodiscard]] double distance_out(Worker& worker, std::uint32_t node, double most) const;
  [[nodiscard]] bool cannot_improve(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling);
  /// Returns whether points below a node must search in this round.
  [[nodiscard]] bool needs_search(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling);
  void search_below(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling);
  /// Returns disjoint nodes with all points that must search, for several threads.
  [[nodiscard]] std::vector<std::uint32_t> divide_search(const std::vector<Key>& ceiling);
  /// Searches the tree for the nearest point of another component to point v of a leaf, within the limit, and stores the result.
  void search_from(Worker& worker, std::uint32_t leaf, std::uint32_t v, const Key& limit);
  bool gather_near(Worker& worker, std::uint32_t leaf, double most) const;
  void search_for_leaf(Worker& worker, std::uint32_t leaf, const std::vector<Key>& ceiling);
  [[nodiscard]] Found search_near(NearLeaves& near, const Seeker<D>& seeker, const Key& limit) const;
  void search_leaf(std::uint32_t leaf, const Seeker<D>& seeker, Key& least, Found& found) const;
  void record_found(Worker& worker, std::uint32_t v, const Found& found, const Key& limit);
  /// Searches for the nearest points of other components to all points of a leaf that need it, together, with the single-precision
  /// filter. @return false where the filter was given up; then what it found is kept, and the points are yet to be searched for
  [[nodiscard]] bool search_filtered(Worker& worker, std::uint32_t leaf, const std::vector<Key>& ceiling);
  class FilteredSearch;

  std::vector<Worker> workers_;  ///< threads of a round, with their memory
  std::vector<std::uint64_t>
      least_;         ///< by component: compared value, its bits, of the best edge that any thread knows, changed
                      ///< by atomic operations; empty: one thread
  RawBuffer copies_;  ///< choices of all threads but the first
  nearest::FilterPoints
      filter_;                ///< single-precision copy of the points, once searches need it; empty: they do without
  bool filter_made_ = false;  ///< `filter_` is what it will be
};

/// Begins Boruvka's rounds on this rank's points: computes the neighbour lists of all points, and makes each a component. Local.
/// `tree` and `core` of the state must be set.
template <std::size_t D>
void find_lists(BoruvkaState<D>& state, int neighbours, int threads, const std::function<void(double)>& progress = {});

/// Nearest points of every point of a rank by plain distances, (squared distance, id), as the search for core distances finds them.
struct NearPoints {
  static constexpr std::uint32_t kMax = 15;  ///< most points per list that are kept

  std::uint32_t keep = 0;            ///< points per list; 0: there are no lists
  std::vector<std::uint32_t> point;  ///< `keep` points of the tree for each; kNone where there are no more
};

/// Begins Boruvka's rounds on this rank's points as find_lists() does, by mutual reachability distances, from the lists that the
/// search for core distances has found, without another search. Lists have all entries that are known, at most `neighbours`
/// where these are fewer than by default; also none: the least edges that they do not decide are searched in the rounds. Local.
/// @param near  lists of at least samples - 1 points; emptied
/// @param alone  core distances are those to the (samples - 1)-th entry, as there are no other ranks, no folded points and no alpha
template <std::size_t D>
void find_reach_lists(BoruvkaState<D>& state, NearPoints& near, int neighbours, std::uint32_t samples, bool alone);

/// Result of contract(), the contraction of components of points in a Boruvka round. The best edges of the components with `keeps`
/// are edges of the spanning tree, each once.
struct Contraction {
  std::vector<std::uint8_t> keeps;     ///< by old component: 1: its best edge is an edge of the spanning tree
  std::vector<std::uint32_t> renamed;  ///< by old component: number of the new component that it is in
  std::uint32_t components = 0;        ///< number of new components
};
/// Contracts components of points along their least edges in a Boruvka round: component c is joined to target[c], or to none where that
/// is kNone. Local. The edge to it must be the least of all edges out of c. Of two components that chose each other the lower is the
/// root, whose edge is not kept.
[[nodiscard]] Contraction contract(std::vector<std::uint32_t> target);

/// Performs rounds of Boruvka's algorithm on this rank's points alone, until more than a quarter of the components are without a sure edge. Local.
/// A component is contracted only along an edge that is shorter than the distance to any point of another rank.
/// @param remote_bounds  by point: lower bounds of the squared distance to points of other ranks; empty: there are none
/// @return number of rounds
template <std::size_t D>
int local_rounds(BoruvkaState<D>& state, const std::vector<double>& remote_bounds,
                 const std::function<void(double)>& progress = {});

/// Edge between two components of one rank's points that local_rounds() has left.
struct OpenEdge {
  Key key;          ///< the edge
  std::uint32_t a;  ///< component at one end
  std::uint32_t b;  ///< component at the other end
};
/// Completes the spanning tree of this rank's points alone by more rounds of Boruvka's algorithm. Local. The spanning tree of all ranks'
/// points has no other edges between the components that local_rounds() has left on this rank, but need not have all of these. The
/// components stay as they are; lists and bounds of the state are used up. @return the edges
template <std::size_t D>
[[nodiscard]] std::vector<OpenEdge> find_open_edges(BoruvkaState<D>& state);

}  // namespace merganser::msf::euclidean
