// Spanning tree edges in the order of Prim's algorithm, as scikit-learn's HDBSCAN takes them, and dendrograms in that order.
#include "merganser/msf/grow.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/base/parallel.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/base/text.hpp"
#include "src/msf/euclidean/core_neighbours.hpp"
#include "src/msf/linkage/clusters.hpp"
#include "src/msf/linkage/equal_edges.hpp"
#include "src/msf/linkage/prim_order.hpp"

namespace merganser::msf {
namespace {

/// Row pointers of the adjacency lists of a spanning forest (compressed sparse rows), built in two passes: the first counts the
/// edges of each vertex, the second inserts them.
class AdjacencyRows {
 public:
  explicit AdjacencyRows(std::size_t vertices) : ends_(vertices + 1) {}
  /// Counts an edge of vertex `of`; first pass of the construction of adjacency lists.
  void count(std::size_t of) { ++ends_[of]; }
  /// Ends the first pass: computes the positions at which the adjacency lists begin.
  void finish_counting() {
    std::size_t sum = 0;
    for (auto& end : ends_) sum = std::exchange(end, sum) + sum;
  }
  /// Returns the position of the next entry of the adjacency list of vertex `of`; second pass. After it ends_[v] is the end of list
  /// v.
  std::size_t next(std::size_t of) { return ends_[of]++; }
  /// Returns the number of entries of all lists; after the first pass.
  [[nodiscard]] std::size_t total() const { return ends_.back(); }
  /// Returns the position of the first entry of the adjacency list of vertex `of`; after both passes.
  [[nodiscard]] std::size_t begin(std::size_t of) const { return of == 0 ? 0 : ends_[of - 1]; }
  /// Prefetches the positions of the adjacency list of vertex `of`.
  [[gnu::always_inline]] void prefetch(std::size_t of) const { __builtin_prefetch(&ends_[of]); }
  /// Returns the position behind the last entry of the adjacency list of vertex `of`; after both passes.
  [[nodiscard]] std::size_t end(std::size_t of) const { return ends_[of]; }

 private:
  std::vector<std::size_t> ends_;  // by vertex: count, then begin, then end of its list
};

/// Validates the ends of an edge of a forest. @throws InputError for a loop and for ends that are no vertices
void check_ends(const graphs::Edge24& e, std::uint64_t vertices) {
  if (e.low < vertices && e.high < vertices && e.low != e.high) return;
  throw InputError("grow: edge " + std::to_string(e.low) + " - " + std::to_string(e.high) +
                   "; allowed: two vertices from 0 to below " + std::to_string(vertices));
}

/// Adjacency lists of a gathered spanning forest, for Prim's algorithm on its edges.
class Adjacency {
 public:
  explicit Adjacency(const Forest& forest)
      : lists_(static_cast<std::size_t>(forest.vertices)),
        to_(2 * forest.edges.size()),
        weight_(2 * forest.edges.size()) {
    for (const auto& e : forest.edges) {
      check_ends(e, forest.vertices);
      lists_.count(e.low);
      lists_.count(e.high);
    }
    lists_.finish_counting();
    for (const auto& e : forest.edges) {
      const double weight = graphs::weight_from_bits(forest.kind, e.weight);
      insert(e.low, e.high, weight);
      insert(e.high, e.low, weight);
    }
  }

  /// Calls body(to, weight) for every edge of the forest at vertex v, in the order of the forest's edges.
  void for_each_neighbour(std::uint32_t v, const auto& body) const {
    for (std::size_t i = lists_.begin(v); i < lists_.end(v); ++i) body(to_[i], weight_[i]);
  }

 private:
  /// Appends an edge of the spanning forest, to vertex `to`, to the adjacency list of vertex v.
  void insert(std::uint64_t v, std::uint64_t to, double weight) {
    const std::size_t at = lists_.next(v);
    to_[at] = static_cast<std::uint32_t>(to);
    weight_[at] = weight;
  }

  AdjacencyRows lists_;            // ranges of entries by vertex
  std::vector<std::uint32_t> to_;  // by entry: vertex at the other end
  std::vector<double> weight_;     // by entry: weight of the edge
};

/// Throws the error of points that are not those of a forest. @param found  a weight that they have, as text
/// @param given  what the forest has in its place, as text
[[noreturn]] void refuse_points(const std::string& found, const std::string& given) {
  throw InputError("grow: points, or their metric, min_samples or alpha, are not those of the forest: a weight of " +
                   found + " in their tree, of " + given + " in the forest; allowed: those that it was made of");
}

/// Returns whether two weights differ by no more than the rounding of arc sines and of alpha. Infinite weights, of parts that are not
/// connected, are near to none.
bool is_near(double x, double y) {
  constexpr double kRounding = 1e-12;  // relative
  return x < kInfiniteWeight && y < kInfiniteWeight && std::fabs(x - y) <= kRounding * std::min(x, y);
}

/// Checks that complete lists of neighbours are those of the points and the forest. @throws InputError
void check_lists(const Forest& forest, const GatheredPoints& points) {
  const auto vertices = static_cast<std::size_t>(forest.vertices);
  if (points.core_distances.size() != vertices || points.neighbours->size() != vertices ||
      (points.neighbours->is_complete() && points.neighbours->ids().size() != vertices)) {
    throw InputError("grow: neighbours of " + std::to_string(points.neighbours->size()) + " points and " +
                     std::to_string(points.core_distances.size()) + " core distances; allowed: of the " +
                     std::to_string(vertices) + " points each");
  }
  if (forest.edges.size() >= vertices) {
    throw InputError("grow: " + std::to_string(forest.edges.size()) +
                     " edges; allowed: edges of a forest, fewer than its " + std::to_string(vertices) + " vertices");
  }
  const euclidean::Sites& sites = *points.sites;
  for (const auto& e : forest.edges) {
    check_ends(e, forest.vertices);
    const auto low = static_cast<std::size_t>(e.low);
    const auto high = static_cast<std::size_t>(e.high);
    const double weight = std::max({sites.weight(sites.compared(sites.at(low), sites.at(high))),
                                    points.core_distances[low], points.core_distances[high]});
    const double given = graphs::weight_from_bits(forest.kind, e.weight);
    if (!is_near(weight, given)) refuse_points(number_text(weight), number_text(given));
  }
}

/// Edges between points that some minimum spanning tree has, those that are listed: the edges of a forest, and those that weigh the core
/// distance of a point. All of the latter are edges of a minimum spanning tree: no edge of the point is lighter. Points are numbered by
/// their places in the lists, so that those of an edge are near each other in memory.
class MinimumEdges {
 public:
  /// @param points  with lists that are complete
  MinimumEdges(const Forest& forest, const GatheredPoints& points)
      : lists_(*points.neighbours), cores_(lists_.ids().size()), reverse_(cores_.size()), others_(cores_.size()) {
    for (std::uint32_t v = 0; v < cores_.size(); ++v) {
      cores_[v] = points.core_distances[lists_.ids()[v]];
      for (const std::uint32_t u : lists_.at(v)) reverse_.count(u);
    }
    reverse_.finish_counting();
    listing_.resize(reverse_.total());
    for (std::uint32_t v = 0; v < cores_.size(); ++v)
      for (const std::uint32_t u : lists_.at(v)) listing_[reverse_.next(u)] = v;
    // An edge of the forest that weighs the core distance of an end is in its list, or the list is not known.
    const auto each = [&](const auto& body) {
      for (const auto& e : forest.edges) {
        const double weight = graphs::weight_from_bits(forest.kind, e.weight);
        const std::uint32_t low = lists_.places()[e.low];
        const std::uint32_t high = lists_.places()[e.high];
        if (weight > std::max(cores_[low], cores_[high])) body(low, high, weight);
      }
    };
    each([&](std::uint32_t low, std::uint32_t high, double) {
      others_.count(low);
      others_.count(high);
    });
    others_.finish_counting();
    to_.resize(others_.total());
    each([&](std::uint32_t low, std::uint32_t high, double weight) {
      to_[others_.next(low)] = {weight, high};
      to_[others_.next(high)] = {weight, low};
    });
  }

  /// Calls offer(v, to, weight) for the edges at the point of place v.
  void visit(std::uint32_t v, const auto& offer) const {
    for (const std::uint32_t u : lists_.at(v)) offer(v, u, cores_[v]);
    for (std::size_t i = reverse_.begin(v); i < reverse_.end(v); ++i) offer(v, listing_[i], cores_[listing_[i]]);
    for (std::size_t i = others_.begin(v); i < others_.end(v); ++i) offer(v, to_[i].point, to_[i].weight);
  }
  /// Prefetches what visit() will read of the edges at the point of place v.
  [[gnu::always_inline]] void prefetch(std::uint32_t v) const {
    __builtin_prefetch(lists_.at(v).data());
    __builtin_prefetch(listing_.data() + reverse_.begin(v));
    __builtin_prefetch(&cores_[v]);
    others_.prefetch(v);
  }
  /// Calls touch(to) for the ends of edges at the point of place v that weigh a core distance.
  void for_each_end(std::uint32_t v, const auto& touch) const {
    for (const std::uint32_t u : lists_.at(v)) touch(u);
    for (std::size_t i = reverse_.begin(v); i < reverse_.end(v); ++i) touch(listing_[i]);
  }

 private:
  /// End of an edge of the forest that no list has.
  struct End {
    double weight;
    std::uint32_t point;
  };

  const euclidean::CoreNeighbours& lists_;  // edges that weigh the core distances of points
  std::vector<double> cores_;               // by point
  AdjacencyRows reverse_;                   // ranges of listing_ by point
  std::vector<std::uint32_t> listing_;      // the points in whose lists a point is
  AdjacencyRows others_;                    // ranges of to_ by point
  std::vector<End> to_;
};

/// Returns the number of edges of finite weight among those that Prim's algorithm added; the others begin new components.
std::size_t count_finite(const std::vector<GrownEdge>& edges) {
  return static_cast<std::size_t>(
      std::count_if(edges.begin(), edges.end(), [](const GrownEdge& e) { return e.weight < kInfiniteWeight; }));
}

/// Returns the weights of a spanning forest's edges in ascending order, then infinite ones, which would join its components.
std::vector<double> sorted_weights(const Forest& forest) {
  std::vector<double> weights(static_cast<std::size_t>(forest.vertices) - 1, kInfiniteWeight);
  std::transform(forest.edges.begin(), forest.edges.end(), weights.begin(),
                 [&](const graphs::Edge24& e) { return graphs::weight_from_bits(forest.kind, e.weight); });
  std::sort(weights.begin(), weights.end());
  return weights;
}

/// Returns whether a tree found among all pairs of points has exactly the weights of a spanning tree, each as often, by sums of hashes.
bool has_equal_weights(const std::vector<GrownEdge>& found, const Forest& forest) {
  if (found.size() != forest.edges.size()) return false;
  std::uint64_t difference = 0;
  for (const auto& e : found) difference += mix64(std::bit_cast<std::uint64_t>(e.weight));
  for (const auto& e : forest.edges)
    difference -= mix64(std::bit_cast<std::uint64_t>(graphs::weight_from_bits(forest.kind, e.weight)));
  return difference == 0;
}

/// Checks that a tree found among all pairs of points weighs what a given tree of them does, edge by edge in ascending order, as all
/// minimum spanning trees do. Rounding may order near pairs otherwise. @throws InputError
/// @param threads  above 1: the weights of both trees are sorted at once
void check_same_weights(const std::vector<GrownEdge>& found, const Forest& forest, int threads) {
  if (has_equal_weights(found, forest)) return;
  const int team = threads > 1 && found.size() >= kMinThreadItems ? 2 : 1;
  std::vector<double> mine(found.size());
  std::vector<double> theirs;
  in_parallel(team, [&](int t) {
    if (t == team - 1) theirs = sorted_weights(forest);
    if (t != 0) return;
    std::transform(found.begin(), found.end(), mine.begin(), [](const GrownEdge& e) { return e.weight; });
    std::sort(mine.begin(), mine.end());
  });
  const auto differ = std::mismatch(mine.begin(), mine.end(), theirs.begin(), theirs.end(), is_near);
  if (differ.first == mine.end() && differ.second == theirs.end()) return;
  const auto text = [](auto at, const std::vector<double>& of) { return at == of.end() ? "none" : number_text(*at); };
  refuse_points(text(differ.first, mine), text(differ.second, theirs));
}

}  // namespace

// Edges of a forest in the order of Prim's algorithm from vertex 0, as scikit-learn's single linkage takes them.
std::vector<GrownEdge> grow(const Forest& forest) {
  check_linkage_size("grow", forest.vertices);
  const Adjacency adjacency(forest);
  auto edges = PrimOrder(static_cast<std::size_t>(forest.vertices)).run([&](std::uint32_t v, const auto& offer) {
    adjacency.for_each_neighbour(v, [&](std::uint32_t to, double weight) { offer(v, to, weight); });
  });
  if (const auto found = count_finite(edges); found != forest.edges.size()) {
    throw InputError("grow: " + std::to_string(forest.edges.size()) + " edges, " + std::to_string(found) +
                     " without cycles and of finite weight; allowed: edges of a forest");
  }
  return edges;
}

// Spanning tree of points in the order of Prim's algorithm. It chooses among all edges that some minimum spanning tree
// has, so that ties are broken as by comparing all pairs.
Growth grow(const Forest& forest, const GatheredPoints& points, std::uint64_t most_steps) {
  if (!points) return {grow(forest), false};
  if (points.sites->size() != forest.vertices) {
    throw InputError("grow: " + std::to_string(points.sites->size()) + " points; allowed: the " +
                     std::to_string(forest.vertices) + " that are the vertices of the forest");
  }
  if (forest.vertices == 0) return {{}, true};
  // Where the search for the tree has looked for other edges of equal weight, those that are listed are all but of a few weights.
  const auto known = points.neighbours != nullptr && points.neighbours->is_complete() ? points.neighbours : nullptr;
  std::optional<MinimumEdges> listed;
  if (known != nullptr) {
    check_lists(forest, points);
    listed.emplace(forest, points);
  }
  // The known tree bounds the search: an edge that is heavier than all on the path between its ends is in no minimum tree. Its order
  // is not kept beside the boxes, to save memory; where the search gives up, it is computed again.
  Growth growth{{}, true};
  {
    std::optional<EqualEdges> equal;
    if (known == nullptr || !known->open_weights().empty())
      equal.emplace(
          points, [&] { return grow(forest); }, most_steps);
    if (listed) {
      const auto ids = known->ids();
      const auto places = known->places();
      PrimOrder prim(ids.size(), ids, places);
      growth.edges = prim.run(
          [&](std::uint32_t v, const auto& offer) {
            listed->for_each_end(v, [&](std::uint32_t to) { prim.prefetch(to); });
            listed->visit(v, offer);
            if (equal) {
              equal->visit(ids[v], [&](std::uint32_t from, std::uint32_t to, double weight) {
                offer(places[from], places[to], weight);
              });
            }
          },
          [&](std::uint32_t v) { listed->prefetch(v); });
    } else {
      growth.edges = PrimOrder(static_cast<std::size_t>(forest.vertices)).run([&](std::uint32_t v, const auto& offer) {
        equal->visit(v, offer);
      });
    }
    growth.exact = !equal || !equal->gave_up();
  }
  if (growth.exact) {
    check_same_weights(growth.edges, forest, points.threads);
  } else {
    release_memory(growth.edges);
    growth.edges = grow(forest);
  }
  return growth;
}

// Dendrogram of a tree whose edges are merged in a given order.
Dendrogram dendrogram_in_order(std::span<const GrownEdge> edges, std::span<const std::uint32_t> order) {
  if (order.size() != edges.size()) {
    throw InputError("dendrogram: an order of " + std::to_string(order.size()) +
                     " edges; allowed: " + std::to_string(edges.size()));
  }
  const std::size_t vertices = edges.size() + 1;
  Dendrogram d{vertices, {}};
  d.merges.reserve(edges.size());
  Clusters clusters(vertices);
  for (const std::uint32_t place : order) {
    if (place >= edges.size()) {
      throw InputError("dendrogram: place " + std::to_string(place) + " in an order; allowed: below " +
                       std::to_string(edges.size()));
    }
    const GrownEdge& e = edges[place];
    if (!d.merges.empty() && !(e.weight >= d.merges.back().height)) {
      throw InputError("dendrogram: weight " + number_text(e.weight) + " after " + number_text(d.merges.back().height) +
                       "; allowed: an order of ascending weights");
    }
    // Vertices out of range are reported as a cycle: both roots are 0 then.
    const bool known = e.from < vertices && e.to < vertices;
    const std::uint32_t x = known ? clusters.find(e.from) : 0;
    const std::uint32_t y = known ? clusters.find(e.to) : 0;
    if (x == y) {
      throw InputError("dendrogram: edge " + std::to_string(e.from) + " - " + std::to_string(e.to) +
                       " closes a cycle or has no such vertices; allowed: edges of a tree");
    }
    clusters.join(x, y, e.weight, d);
  }
  return d;
}

Dendrogram grown_dendrogram(const std::vector<GrownEdge>& edges) {
  std::vector<double> weights(edges.size());
  std::transform(edges.begin(), edges.end(), weights.begin(), [](const GrownEdge& e) { return e.weight; });
  return dendrogram_in_order(edges, sorted_like_numpy(weights));
}

}  // namespace merganser::msf
