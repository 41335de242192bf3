#pragma once
/// What the name of an artificial graph says, and what the makers of such graphs share.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/graphs/weights.hpp"

namespace merganser::graphs::detail {

enum class Shape : std::uint8_t { rmat, points, gnm, ba, grid, path, star, complete };

struct Spec {
  Shape shape = Shape::path;
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;  ///< before loops are dropped; expected for points
  int dimension = 0;        ///< of points and grids
  std::array<std::uint64_t, 3> extent{1, 1, 1};
  bool periodic = false;
  std::string text;
};
/// @throws UsageError
[[nodiscard]] Spec parse_spec(std::string_view text);

/// Streams of random numbers, so that no two makers share numbers.
inline constexpr std::uint32_t kRmatStream = 0x726d6174;
inline constexpr std::uint32_t kBaStream = 0x62610000;
inline constexpr std::uint32_t kCellStream = 0x63656c6c;
inline constexpr std::uint32_t kPointStream = 0x706f696e;

/// The part of a graph that a rank makes.
struct Part {
  std::uint64_t seed = 1;
  int rank = 0;
  int ranks = 1;
  /// This rank's consecutive part of `total` things.
  [[nodiscard]] std::array<std::uint64_t, 2> of(std::uint64_t total) const {
    const Ranges ranges = Ranges::even(total, ranks);
    return {ranges.first[static_cast<std::size_t>(rank)], ranges.first[static_cast<std::size_t>(rank) + 1]};
  }
};

/// Takes edges and gives them weights.
template <class Edge>
class Sink {
 public:
  explicit Sink(const WeightMaker& weights) : weights_(weights) {}
  void reserve(std::uint64_t edges) { edges_.reserve(edges); }
  void operator()(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t low = a < b ? a : b;
    const std::uint64_t high = a < b ? b : a;
    edges_.push_back(make_edge<Edge>(low, high, weights_(low, high)));
  }
  void weighted(std::uint64_t a, std::uint64_t b, float weight) {
    edges_.push_back(make_edge<Edge>(a, b, std::uint64_t{bits_of(weight)}));
  }
  [[nodiscard]] bool euclidean() const { return weights_.model == WeightModel::euclidean; }
  [[nodiscard]] std::vector<Edge> take() { return std::move(edges_); }

 private:
  WeightMaker weights_;
  std::vector<Edge> edges_;
};

// Each for Edge12, Edge16 and Edge24.
template <class Edge>
void make_rmat(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_points(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_gnm(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_ba(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_grid(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_path(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_star(const Spec& spec, const Part& part, Sink<Edge>& sink);
template <class Edge>
void make_complete(const Spec& spec, const Part& part, Sink<Edge>& sink);

/// Position of a pair in a list of all pairs a > b: a (a - 1) / 2 + b; and back.
struct Pair {
  std::uint64_t a;
  std::uint64_t b;
};
[[nodiscard]] Pair pair_at(std::uint64_t position);

/// Distance below which two of `points` make an edge. @return 0 without any edge
[[nodiscard]] double radius_of(const Spec& spec);
/// All points of a spec, by id: what make_points() joins; for tests.
[[nodiscard]] std::vector<std::array<double, 3>> points_of(const Spec& spec, std::uint64_t seed);
/// The greatest number of edges that points can have on average.
[[nodiscard]] double most_point_edges(const Spec& spec);

}  // namespace merganser::graphs::detail
