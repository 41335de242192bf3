#pragma once
/// Parsed name of a synthetic graph, and the shared parts of the generators: streams of random numbers, the part of a rank, the
/// sink of edges.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/graphs/weights.hpp"

namespace merganser::graphs::detail {

/// Families of synthetic graphs; points: rgg2d and rgg3d.
enum class Shape : std::uint8_t { rmat, points, gnm, ba, grid, path, star, complete };

/// Parsed name of a synthetic graph, filled by parse_spec(): family and sizes.
struct Spec {
  Shape shape = Shape::path;                     ///< family of the graph
  std::uint64_t vertices = 0;                    ///< number of vertices
  std::uint64_t edges = 0;                       ///< number of edges before loops are dropped; of points expected
  int dimension = 0;                             ///< dimension of points and grids
  std::array<std::uint64_t, 3> extent{1, 1, 1};  ///< of a grid: vertices along each axis; of ba: [0] is the degree
  bool periodic = false;                         ///< the axes of a grid are closed to cycles
  std::string text;                              ///< the whole name, for messages
};
/// Parses the name of a synthetic graph, as "rmat:20:16" or "grid:100x100". @throws UsageError for an unknown name or parameters
/// out of range
[[nodiscard]] Spec parse_spec(std::string_view text);

/// Streams of random numbers of the generators of synthetic graphs (a word of philox's counter), so that no two share numbers.
inline constexpr std::uint32_t kRmatStream = 0x726d6174;
inline constexpr std::uint32_t kBaStream = 0x62610000;
inline constexpr std::uint32_t kCellStream = 0x63656c6c;
inline constexpr std::uint32_t kPointStream = 0x706f696e;

/// Seed and share of a rank in the generation of a synthetic graph.
struct Part {
  std::uint64_t seed = 1;  ///< seed of the edges
  int rank = 0;            ///< rank that generates its share
  int ranks = 1;           ///< number of ranks
  /// Returns the rank's range [first, last) of `total` items (edges, vertices, cells) that are divided evenly.
  [[nodiscard]] std::array<std::uint64_t, 2> range(std::uint64_t total) const {
    const Ranges ranges = Ranges::even(total, ranks);
    return {ranges.first[static_cast<std::size_t>(rank)], ranges.first[static_cast<std::size_t>(rank) + 1]};
  }
};

/// Sink of the edges that a generator of synthetic graphs makes on this rank; computes their weights.
template <class Edge>
class Sink {
 public:
  /// @param weights  generator of the weights
  explicit Sink(const WeightMaker& weights) : weights_(weights) {}
  /// Reserves space in the sink for edges that a generator will add on this rank. Local.
  void reserve(std::uint64_t edges) { edges_.reserve(edges); }
  /// Adds the edge between vertices a and b, with the weight that the weight generator gives it.
  void operator()(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = a < b ? a : b;
    const std::uint64_t high = a < b ? b : a;
    edges_.push_back(make_edge<Edge>(low, high, weights_(low, high)));
  }
  /// Adds the edge between vertices a and b with a given weight, the distance of two points.
  void add_weighted(std::uint64_t a, std::uint64_t b, float weight) {
    edges_.push_back(make_edge<Edge>(a, b, std::uint64_t{ordered_bits(weight)}));
  }
  /// Returns true if weights are distances of points, which must be given with add_weighted().
  [[nodiscard]] bool euclidean() const { return weights_.model == WeightModel::euclidean; }
  /// Moves this rank's edges of the synthetic graph out, and leaves the sink empty.
  [[nodiscard]] std::vector<Edge> release() { return std::move(edges_); }

 private:
  WeightMaker weights_;
  std::vector<Edge> edges_;
};

// Generators, one for each Shape: each adds this rank's edges to the sink. Local. Instantiated for Edge12, Edge16 and Edge24.

/// Generates this rank's share of an R-MAT graph: edges by recursive choice of quadrants of the adjacency matrix. Local.
template <class Edge>
void make_rmat(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a random geometric graph: pairs of points nearer than a radius. Local.
template <class Edge>
void make_points(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of an Erdos-Renyi graph G(n, m): different pairs of vertices at random. Local.
template <class Edge>
void make_gnm(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a Barabasi-Albert graph: preferential attachment. Local.
template <class Edge>
void make_ba(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a grid graph of two or three dimensions, periodic or not. Local.
template <class Edge>
void make_grid(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a path graph. Local.
template <class Edge>
void make_path(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a star graph around vertex 0. Local.
template <class Edge>
void make_star(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a complete graph. Local.
template <class Edge>
void make_complete(const Spec& spec, const Part& part, Sink<Edge>& sink);

/// A pair of vertices a > b; its position in the list of all such pairs is a (a - 1) / 2 + b.
struct Pair {
  std::uint64_t a;
  std::uint64_t b;
};
/// Returns the pair of vertices a > b at a position of the list of all pairs (1, 0), (2, 0), (2, 1), (3, 0), ...
[[nodiscard]] Pair pair_at(std::uint64_t position);

/// Returns the distance below which two points of a random geometric graph are joined, so that the expected number of edges is
/// spec.edges; 0 for no edges.
[[nodiscard]] double connection_radius(const Spec& spec);
/// Generates the coordinates of all points of a random geometric graph, by id. Local. For tests.
[[nodiscard]] std::vector<std::array<double, 3>> generate_points(const Spec& spec, std::uint64_t seed);
/// Returns the largest expected number of edges of a random geometric graph that connection_radius() can reach (a radius of 1).
[[nodiscard]] double max_point_edges(const Spec& spec);

}  // namespace merganser::graphs::detail
