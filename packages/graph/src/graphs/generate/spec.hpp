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

/// Parsed name of a synthetic graph: family and sizes.
struct Spec {
  Shape shape = Shape::path;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;                       ///< before loops are dropped; expected for points
  int dimension = 0;                             ///< of points and grids
  std::array<std::uint64_t, 3> extent{1, 1, 1};  ///< of a grid: vertices along each axis; of ba: [0] is the degree
  bool periodic = false;                         ///< of a grid
  std::string text;                              ///< the name, for messages
};
/// Parses the name of a graph, see generate.hpp. @throws UsageError for an unknown name or parameters out of range
[[nodiscard]] Spec parse_spec(std::string_view text);

/// Streams of random numbers, so that no two generators share numbers.
inline constexpr std::uint32_t kRmatStream = 0x726d6174;
inline constexpr std::uint32_t kBaStream = 0x62610000;
inline constexpr std::uint32_t kCellStream = 0x63656c6c;
inline constexpr std::uint32_t kPointStream = 0x706f696e;

/// Seed and share of a rank in the generation of a graph.
struct Part {
  std::uint64_t seed = 1;
  int rank = 0;
  int ranks = 1;
  /// Returns this rank's range [first, last) of `total` items that are divided evenly.
  [[nodiscard]] std::array<std::uint64_t, 2> range(std::uint64_t total) const {
    const Ranges ranges = Ranges::even(total, ranks);
    return {ranges.first[static_cast<std::size_t>(rank)], ranges.first[static_cast<std::size_t>(rank) + 1]};
  }
};

/// Sink of a generator's edges; computes their weights.
template <class Edge>
class Sink {
 public:
  explicit Sink(const WeightMaker& weights) : weights_(weights) {}
  void reserve(std::uint64_t edges) { edges_.reserve(edges); }
  /// Adds the edge between a and b, with a weight of the generator.
  void operator()(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = a < b ? a : b;
    const std::uint64_t high = a < b ? b : a;
    edges_.push_back(make_edge<Edge>(low, high, weights_(low, high)));
  }
  /// Adds the edge between a and b with a given weight.
  void add_weighted(std::uint64_t a, std::uint64_t b, float weight) {
    edges_.push_back(make_edge<Edge>(a, b, std::uint64_t{ordered_bits(weight)}));
  }
  /// Returns whether weights are distances, to be given with add_weighted().
  [[nodiscard]] bool euclidean() const { return weights_.model == WeightModel::euclidean; }
  /// Returns the edges and leaves the sink empty.
  [[nodiscard]] std::vector<Edge> release() { return std::move(edges_); }

 private:
  WeightMaker weights_;
  std::vector<Edge> edges_;
};

// Generators, one for each Shape: each adds this rank's edges to the sink. Local. Instantiated for Edge12, Edge16 and Edge24.
/// Generates this rank's share of an R-MAT graph.
template <class Edge>
void make_rmat(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a random geometric graph.
template <class Edge>
void make_points(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of an Erdos-Renyi graph G(n, m).
template <class Edge>
void make_gnm(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a Barabasi-Albert graph.
template <class Edge>
void make_ba(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a grid.
template <class Edge>
void make_grid(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a path.
template <class Edge>
void make_path(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a star around vertex 0.
template <class Edge>
void make_star(const Spec& spec, const Part& part, Sink<Edge>& sink);
/// Generates this rank's share of a complete graph.
template <class Edge>
void make_complete(const Spec& spec, const Part& part, Sink<Edge>& sink);

/// A pair of vertices a > b; its position in the list of all such pairs is a (a - 1) / 2 + b.
struct Pair {
  std::uint64_t a;
  std::uint64_t b;
};
/// Returns the pair at a position of the list of all pairs.
[[nodiscard]] Pair pair_at(std::uint64_t position);

/// Returns the distance below which two points are joined, so that the expected number of edges is spec.edges; 0 for no edges.
[[nodiscard]] double connection_radius(const Spec& spec);
/// Generates all points of a random geometric graph, by id. For tests.
[[nodiscard]] std::vector<std::array<double, 3>> generate_points(const Spec& spec, std::uint64_t seed);
/// Returns the largest expected number of edges of a random geometric graph that connection_radius() can reach (a radius of 1).
[[nodiscard]] double max_point_edges(const Spec& spec);

}  // namespace merganser::graphs::detail
