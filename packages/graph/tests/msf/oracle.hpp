#pragma once
/// Test oracle: reference minimum spanning forests by plain Kruskal, and graphs of many shapes.
#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::test {

using Edges = std::vector<graphs::Edge24>;

/// Kruskal over all edges, with the strict order (weight, low, high); a maximum forest takes the greatest weights
/// first and, among equal ones, the lowest ends. Of equal parallel edges one is kept.
inline Edges plain_kruskal(Edges edges, std::uint64_t vertices, msf::Sense sense = msf::Sense::minimum) {
  const bool greatest = sense == msf::Sense::maximum;
  std::sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
    if (a.weight != b.weight) return greatest ? a.weight > b.weight : a.weight < b.weight;
    return std::pair(a.low, a.high) < std::pair(b.low, b.high);
  });
  std::vector<std::uint64_t> parent(vertices);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](std::uint64_t v) {
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
  };
  Edges forest;
  for (const auto& e : edges) {
    const auto a = root(e.low);
    const auto b = root(e.high);
    if (a == b) continue;
    parent[a] = b;
    forest.push_back(e);
  }
  return forest;
}

/// Returns the edges of an EdgeList as Edge24.
inline Edges widened(const graphs::EdgeList& list) {
  return std::visit(
      [](const auto& edges) {
        Edges wide;
        for (const auto& e : edges) wide.push_back({e.low, e.high, e.weight});
        return wide;
      },
      list.edges);
}

/// Returns the edges of all ranks, on every rank. Collective.
inline Edges gathered(const Edges& mine, comm::Transport& transport) {
  return comm::all_gather(transport, mine).flat();
}

/// Computes the forest of a distributed graph, all of it on rank 0. Collective.
inline msf::Forest oracle_forest(const graphs::EdgeList& graph, comm::Transport& transport,
                                 msf::Sense sense = msf::Sense::minimum) {
  auto all = gathered(widened(graph), transport);
  msf::Forest forest{graph.vertices, graph.kind, {}};
  if (transport.rank() == 0) forest.edges = plain_kruskal(std::move(all), graph.vertices, sense);
  return forest;
}

/// Returns the edges sorted, for comparison with ==.
inline Edges sorted(Edges edges) {
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// A whole graph, to be distributed over ranks.
struct Shape {
  std::string name;
  std::uint64_t vertices = 0;
  Edges edges;
  void add(std::uint64_t a, std::uint64_t b, std::uint64_t weight) {
    edges.push_back(graphs::make_edge<graphs::Edge24>(a, b, weight));
  }
};

/// Random edges with weights 1 .. `weights`; loops and parallel edges come by themselves.
inline Shape random_shape(std::uint64_t seed, std::uint64_t vertices, std::size_t edges, std::uint64_t weights) {
  Shape shape{"random " + std::to_string(seed), vertices, {}};
  Random random(seed, 7, 0);
  for (std::size_t i = 0; i < edges && vertices > 0; ++i)
    shape.add(random.below(vertices), random.below(vertices), 1 + random.below(weights));
  return shape;
}

/// A path whose weights rise along it: the longest chain of choices.
inline Shape path_shape(std::uint64_t vertices) {
  Shape shape{"path", vertices, {}};
  for (std::uint64_t v = 0; v + 1 < vertices; ++v) shape.add(v, v + 1, v + 1);
  return shape;
}

/// Two hubs that share their leaves.
inline Shape hubs_shape(std::uint64_t leaves, std::uint64_t weights) {
  Shape shape{"hubs", leaves + 2, {}};
  Random random(leaves, 8, 0);
  for (std::uint64_t v = 0; v < leaves; ++v) {
    shape.add(0, v + 1, random.below(weights));
    shape.add(leaves + 1, v + 1, random.below(weights));
  }
  return shape;
}

inline Shape complete_shape(std::uint64_t vertices, std::uint64_t weights) {
  Shape shape{"complete", vertices, {}};
  Random random(vertices, 9, 0);
  for (std::uint64_t a = 0; a < vertices; ++a)
    for (std::uint64_t b = 0; b < a; ++b) shape.add(a, b, random.below(weights));
  return shape;
}

inline Shape grid_shape(std::uint64_t side, std::uint64_t weights) {
  Shape shape{"grid", side * side, {}};
  Random random(side, 10, 0);
  for (std::uint64_t v = 0; v < side * side; ++v) {
    if (v % side + 1 < side) shape.add(v, v + 1, random.below(weights));
    if (v + side < side * side) shape.add(v, v + side, random.below(weights));
  }
  return shape;
}

/// Triangles without a link between them; their vertices lie `apart` from each other.
inline Shape triangles_shape(std::uint64_t triangles, bool apart) {
  Shape shape{"triangles", 3 * triangles, {}};
  for (std::uint64_t t = 0; t < triangles; ++t) {
    const std::uint64_t step = apart ? triangles : 1;
    const std::uint64_t first = apart ? t : 3 * t;
    for (std::uint64_t i = 0; i < 3; ++i) shape.add(first + i * step, first + (i + 1) % 3 * step, i + t % 5);
  }
  return shape;
}

/// Skewed like a web: many isolated vertices, few hubs.
inline Shape skewed_shape(std::uint64_t seed, unsigned bits, std::size_t edges, std::uint64_t weights) {
  Shape shape{"skewed", std::uint64_t{1} << bits, {}};
  Random random(seed, 11, 0);
  for (std::size_t i = 0; i < edges; ++i) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    for (unsigned bit = 0; bit < bits; ++bit) {
      const double x = random.uniform();
      a = a << 1U | static_cast<std::uint64_t>(x >= 0.76);
      b = b << 1U | static_cast<std::uint64_t>((x >= 0.57 && x < 0.76) || x >= 0.95);
    }
    shape.add(a, b, random.below(weights));
  }
  return shape;
}

/// This rank's edges of a shape, dealt at random; `seed` deals and orders differently.
template <class Edge>
graphs::EdgeList distribute_as(const Shape& shape, const comm::Transport& transport, std::uint64_t seed = 1) {
  graphs::EdgeList list;
  list.vertices = shape.vertices;
  std::vector<Edge> mine;
  Random random(seed, 12, 0);
  for (const auto& e : shape.edges) {
    const bool here =
        random.below(static_cast<std::uint64_t>(transport.size())) == static_cast<std::uint64_t>(transport.rank());
    if (here) mine.push_back(graphs::make_edge<Edge>(e.low, e.high, e.weight));
  }
  for (std::size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[random.below(i)]);
  list.edges = std::move(mine);
  return list;
}
inline graphs::EdgeList distribute(const Shape& shape, const comm::Transport& transport, std::uint64_t seed = 1) {
  return distribute_as<graphs::Edge24>(shape, transport, seed);
}

/// One of each shape, small, with ties.
inline std::vector<Shape> shapes() {
  std::vector<Shape> all = {
      {"nothing", 0, {}},    {"one vertex", 1, {}},      {"isolated", 40, {}},      path_shape(97),
      hubs_shape(60, 3),     complete_shape(24, 3),      complete_shape(17, 1000),  grid_shape(12, 3),
      grid_shape(9, 100000), triangles_shape(30, false), triangles_shape(30, true), skewed_shape(1, 8, 900, 3)};
  for (std::uint64_t seed = 0; seed < 6; ++seed)
    all.push_back(random_shape(seed, 50 + 20 * seed, 60 + 70 * seed, seed % 2 == 0 ? 3 : ~0ULL));
  return all;
}

}  // namespace merganser::test
