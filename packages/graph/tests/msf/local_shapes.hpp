#pragma once
/// Graphs with near edges, and their distribution by blocks of vertices: ranks share few vertices.
#include <string>
#include <utility>
#include <vector>

#include "tests/msf/oracle.hpp"

namespace merganser::test {

/// A grid of side x side vertices, of which the last tenth of the rows has none of its edges: each other vertex has edges to three near
/// ones, and of 100 edges `far` go anywhere; weights are 1 .. `weights`.
inline Shape local_shape(std::uint64_t side, std::uint64_t weights, std::uint64_t far) {
  Shape shape{"local " + std::to_string(side), side * side, {}};
  Random random(side, 13, far);
  for (std::uint64_t v = 0; v < shape.vertices / 10 * 9; ++v) {
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t near = v + random.below(3) * side + random.below(3);
      const bool is_far = near >= shape.vertices || random.below(100) < far;
      shape.add(v, is_far ? random.below(shape.vertices / 10 * 9) : near, 1 + random.below(weights));
    }
  }
  return shape;
}

/// This rank's edges of a shape: those whose lower ends lie in its block of vertices, in any order.
template <class Edge>
graphs::EdgeList in_blocks(const Shape& shape, const comm::Transport& transport) {
  const auto ranks = static_cast<std::uint64_t>(transport.size());
  std::vector<Edge> mine;
  for (const auto& e : shape.edges)
    if (e.low * ranks / std::max<std::uint64_t>(1, shape.vertices) == static_cast<std::uint64_t>(transport.rank()))
      mine.push_back(graphs::make_edge<Edge>(e.low, e.high, e.weight));
  Random random(7, 14, 0);
  for (std::size_t i = mine.size(); i > 1; --i) std::swap(mine[i - 1], mine[random.below(i)]);
  graphs::EdgeList list;
  list.vertices = shape.vertices;
  list.edges = std::move(mine);
  return list;
}

}  // namespace merganser::test
