#pragma once
/// Generators of small graphs with at most one link per vertex: the paper's, special ones and random ones.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "merganser/links/links.hpp"

namespace merganser::test {

/// A whole graph, vertices numbered globally.
struct LinkGraph {
  std::vector<int> target;  ///< per vertex: the vertex it links to, or -1
  std::vector<std::int64_t> id;
  std::vector<double> distance2;

  [[nodiscard]] int size() const { return static_cast<int>(target.size()); }
  [[nodiscard]] bool dual(int v) const { return target[v] >= 0 && target[target[v]] == v; }
  [[nodiscard]] links::Key key(int v) const {
    const auto [low, high] = std::minmax(id[v], id[target[v]]);
    return {distance2[v], low, high};
  }
};

using Random = std::mt19937;
inline int below(Random& random, int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }

inline LinkGraph make_graph(std::vector<int> target) {
  LinkGraph graph;
  graph.id.resize(target.size());
  std::iota(graph.id.begin(), graph.id.end(), 0);
  graph.distance2.assign(target.size(), 1.0);
  graph.target = std::move(target);
  return graph;
}

inline void shuffle_ids(LinkGraph& graph, Random& random) { std::shuffle(graph.id.begin(), graph.id.end(), random); }

/// Figure 1 of [frey2025]: A to L are 0 to 11.
inline LinkGraph figure_one() {
  //                  A  B  C  D  E  F  G  H  I  J  K  L
  return make_graph({5, 5, 3, 4, 7, 2, 3, 4, 7, 8, 8, 7});
}

/// Returns the chain 0 -> 1 -> ... -> n - 1, whose last vertex has no link.
inline LinkGraph chain(int n) {
  std::vector<int> target(static_cast<std::size_t>(n));
  std::iota(target.begin(), target.end(), 1);
  if (n > 0) target.back() = -1;
  return make_graph(std::move(target));
}

/// Returns a star: 1 .. n - 1 link to 0; 0 links back to 1 if `dual`.
inline LinkGraph star(int n, bool dual) {
  std::vector<int> target(static_cast<std::size_t>(n), 0);
  target[0] = dual ? 1 : -1;
  return make_graph(std::move(target));
}

/// Returns the dual link 0 <-> 1 with `a` leaves at 0 and `b` at 1.
inline LinkGraph dual_with_leaves(int a, int b) {
  std::vector<int> target{1, 0};
  target.insert(target.end(), static_cast<std::size_t>(a), 0);
  target.insert(target.end(), static_cast<std::size_t>(b), 1);
  return make_graph(std::move(target));
}

/// Returns random trees whose roots have no link or are in a dual link.
inline LinkGraph random_forest(Random& random, int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<int> target(static_cast<std::size_t>(n), -1);
  const int reach = 1 + below(random, n);  // small: long chains
  for (int i = 1; i < n; ++i) {
    if (below(random, 8) != 0) target[order[i]] = order[std::max(0, i - 1 - below(random, reach))];
  }
  for (int i = 0, last = -1; i < n; ++i) {
    if (target[order[i]] >= 0) continue;
    if (last >= 0 && below(random, 2) == 0) {
      target[order[i]] = last;
      target[last] = order[i];
      last = -1;
    } else {
      last = order[i];
    }
  }
  LinkGraph graph = make_graph(std::move(target));
  shuffle_ids(graph, random);
  return graph;
}

/// Returns the nearest-neighbour graph of points of a small lattice or of the unit cube in 1 to 3 dimensions: each of a
/// random part of them is linked to its nearest other point in the strict order of links::Key.
inline LinkGraph nearest_neighbours(Random& random, int n) {
  const int dimensions = 1 + below(random, 3);
  const bool lattice = below(random, 2) == 0;
  const int tenth_small = 1 + below(random, 10);
  std::vector<double> x(static_cast<std::size_t>(3 * n), 0);
  for (int v = 0; v < n; ++v) {
    for (int d = 0; d < dimensions; ++d) x[3 * v + d] = lattice ? below(random, 4) : random() / 4294967296.0;
  }
  LinkGraph graph = make_graph(std::vector<int>(static_cast<std::size_t>(n), -1));
  shuffle_ids(graph, random);
  for (int v = 0; v < n; ++v) {
    if (below(random, 10) >= tenth_small) continue;
    links::Key best;
    for (int u = 0; u < n; ++u) {
      if (u == v) continue;
      double d2 = 0;
      for (int d = 0; d < 3; ++d) d2 += (x[3 * u + d] - x[3 * v + d]) * (x[3 * u + d] - x[3 * v + d]);
      const links::Key key{d2, std::min(graph.id[u], graph.id[v]), std::max(graph.id[u], graph.id[v])};
      if (graph.target[v] >= 0 && !(key < best)) continue;
      best = key;
      graph.target[v] = u;
      graph.distance2[v] = d2;
    }
  }
  return graph;
}

/// Returns a random function without fixed points, so with cycles of any length; the distance belongs to the pair, many
/// are equal.
inline LinkGraph any_links(Random& random, int n) {
  std::vector<int> target(static_cast<std::size_t>(n), -1);
  const int reach = 1 + below(random, n);  // small: long cycles
  for (int v = 0; v < n && n > 1; ++v) {
    if (below(random, 20) == 0) continue;
    target[v] = (v + 1 + below(random, std::min(reach, n - 1))) % n;
  }
  LinkGraph graph = make_graph(std::move(target));
  shuffle_ids(graph, random);
  const unsigned salt = random();
  for (int v = 0; v < n; ++v) {
    if (graph.target[v] < 0) continue;
    const auto [low, high] = std::minmax(v, graph.target[v]);
    graph.distance2[v] = (static_cast<unsigned>(low * 7919 + high * 104729) ^ salt) % 6;
  }
  return graph;
}

inline LinkGraph random_graph(Random& random, int n) {
  return below(random, 2) == 0 ? random_forest(random, n) : nearest_neighbours(random, n);
}

}  // namespace merganser::test
