#pragma once
/// What one rank knows of its points during the rounds, and the search for the nearest point of another component.
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/nearest/leaf_scan.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// Place of an edge in the strict order.
struct Key {
  double d2 = kInfinity;
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = ~std::uint64_t{0};

  friend bool operator<(const Key& a, const Key& b) {
    if (a.d2 != b.d2) return a.d2 < b.d2;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
  friend bool operator==(const Key&, const Key&) = default;
};
inline Key key_of(double d2, std::uint64_t a, std::uint64_t b) { return a < b ? Key{d2, a, b} : Key{d2, b, a}; }

/// The least edge known out of a component.
struct Choice {
  Key key;
  std::uint32_t to = kNone;  ///< component
};

/// A place to search from.
template <std::size_t D>
struct Seeker {
  Place<D> at;
  double core;
  std::uint64_t id;
  std::uint32_t component;
};
struct Found {
  double d2 = kInfinity;
  std::uint32_t point = kNone;
};

/// Points in the order of the tree. Every point has a bound: no point of this rank that is in another component comes
/// before it. Where the bound is a neighbour in another component, it is the nearest such.
template <std::size_t D>
struct State {
  PointTree<D> tree;
  std::vector<double> core;  ///< squared, 16 more than points; empty: plain distances
  nearest::LeafPoints scan;  ///< the points of the tree

  std::uint32_t keep = 0;
  std::vector<std::uint32_t> list;  ///< `keep` neighbours of each point in order, kNone where there are no more
  std::vector<std::uint8_t> used;   ///< of them, those passed
  std::vector<double> bound;        ///< squared distance
  std::vector<std::uint32_t>
      nearest;  ///< the neighbour at that distance; the point itself: whatever is nearer is known

  std::vector<std::uint32_t> component;
  std::uint32_t components = 0;
  std::vector<Choice> best;                   ///< by component
  std::vector<std::uint32_t> node_component;  ///< kNone: several

  std::vector<graphs::Edge24> edges;
  std::int64_t searches = 0;

  std::vector<double> least_bound;        ///< by node, for leaves: no bound of its points is lower
  std::vector<std::uint8_t> spent;        ///< by node, for leaves: 1 where a point's bound was within its component
  mutable std::vector<Visit> todo;        ///< of searches
  std::vector<double> node_bound;         ///< by node: no other component is nearer to its box, if it is of one
  std::vector<std::uint32_t> node_round;  ///< by node: the round in which that was looked up
  std::uint32_t round = 0;
  std::vector<std::uint32_t> node_needs;  ///< by node: points below it that must search in this round

  [[nodiscard]] double core_of(std::uint32_t v) const { return core.empty() ? 0 : core[v]; }
  [[nodiscard]] double weight(std::uint32_t a, std::uint32_t b) const {
    const double d2 = tree.distance2(a, b);
    return core.empty() ? d2 : std::max(d2, std::max(core[a], core[b]));
  }
  [[nodiscard]] Key key(std::uint32_t a, std::uint32_t b, double d2) const {
    return key_of(d2, tree.id(a), tree.id(b));
  }
  [[nodiscard]] bool reaches_out(std::uint32_t v) const { return component[nearest[v]] != component[v]; }

  /// Moves a point on to its next neighbour in another component. False if its list has no more.
  bool advance(std::uint32_t v);
  /// Offers the edge of a point to its bound to its component.
  void offer(std::uint32_t v);
  /// Fills `best` from the lists.
  void choose_from_lists();
  /// True if an edge of this point could come before the limit, as far as its bound tells. A limit of {d2, 0, 0} comes
  /// before all edges of that distance.
  [[nodiscard]] bool may_improve(std::uint32_t v, const Key& limit) const {
    if (bound[v] != limit.d2) return bound[v] < limit.d2;
    return nearest[v] == v ? bound[v] < kInfinity && limit.high != 0 : key(v, nearest[v], bound[v]) < limit;
  }
  void mark_nodes();
  /// The nearest point, by (squared distance, id), of another component if it comes before the limit. Uses the nodes'
  /// marks.
  [[nodiscard]] Found search(const Seeker<D>& seeker, const Key& limit) const;
  /// Searches for all points whose bounds come before the best edge of their component and its ceiling, and offers what
  /// is found. @param ceiling  by component; empty: none
  void search_where_needed(const std::vector<Key>& ceiling);

  void add_edge(const Key& key);

 private:
  [[nodiscard]] Key limit(std::uint32_t c, const std::vector<Key>& ceiling) const {
    return !ceiling.empty() && ceiling[c] < best[c].key ? ceiling[c] : best[c].key;
  }
  void count_needs(const std::vector<Key>& ceiling);
  void look_at(std::uint32_t leaf);
  [[nodiscard]] double distance_out(std::uint32_t node, double most) const;
  [[nodiscard]] bool cannot_improve(std::uint32_t node, const std::vector<Key>& ceiling);
  void search_below(std::uint32_t node, const std::vector<Key>& ceiling);
  void search_from(std::uint32_t v, const Key& limit);
  bool gather_near(std::uint32_t leaf, double most);
  void search_together(std::uint32_t leaf, const std::vector<Key>& ceiling);
  [[nodiscard]] Found search_near(const Seeker<D>& seeker, const Key& limit);
  void look_into(std::uint32_t leaf, const Seeker<D>& seeker, Key& least, Found& found) const;
  void take(std::uint32_t v, const Found& found, const Key& limit);

  /// Leaves near the one that is searched for, as separate numbers.
  struct Near {
    std::vector<std::uint32_t> leaf;
    std::array<std::vector<double>, D> lower;
    std::array<std::vector<double>, D> upper;
    std::vector<double> d2;
  };
  Near near_;
};

/// Fills the lists. State must have tree, core.
template <std::size_t D>
void find_lists(State<D>& state, int neighbours, int threads, const std::function<void(double)>& progress = {});

/// Contracts: component c goes with best[c].to where chosen[c] is not 0; `best` of every component with chosen[c] must be
/// its least edge of all. @return for each component that is chosen and not the keeper of its tree 1: its edge is one of
/// the forest, all different
struct Contraction {
  std::vector<std::uint8_t> keeps;     ///< by old component: its edge is an edge of the forest
  std::vector<std::uint32_t> renamed;  ///< by old component
  std::uint32_t components = 0;
};
[[nodiscard]] Contraction contract(const std::vector<Choice>& best, const std::vector<std::uint8_t>& chosen);

/// Boruvka's rounds on this rank alone. A component contracts only along an edge that comes before all points that other
/// ranks hold: `remote_bounds` are lower bounds by point of the squared distance to those (empty: there are none).
/// @return rounds
template <std::size_t D>
int local_rounds(State<D>& state, const std::vector<double>& remote_bounds,
                 const std::function<void(double)>& progress = {});

}  // namespace merganser::msf::euclidean
