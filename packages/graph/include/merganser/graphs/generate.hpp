#pragma once
/// Communication-free parallel generators of synthetic graphs. The edges of a graph depend on its name, the seed and the
/// weights only: neither on the number of ranks nor on the communication model. Every rank generates its own part, about
/// edges / ranks edges.
///
/// | name | vertices | edges |
/// |---|---|---|
/// | `rmat:N:DEG` | 2^N | DEG 2^N drawn by quadrants (.57, .19, .19, .05); loops are dropped, parallel edges stay |
/// | `rgg2d:N:DEG`, `rgg3d:N:DEG` | 2^N points in the unit square or cube | all pairs nearer than a radius |
/// | `gnm:N:DEG` | 2^N | exactly DEG 2^N different ones, no loops |
/// | `ba:N:DEG` | 2^N | DEG from each vertex but the first to earlier ones, by their degrees (parallel ones possible) |
/// | `grid:AxB`, `grid:AxBxC` | A B (C), the last index fastest | between neighbours; `:periodic` closes the axes |
/// | `path:V`, `star:V`, `complete:V` | V | those of the name; vertex 0 is the middle of the star |
///
/// The ids of points are in Morton order of cells; their radius gives DEG 2^N edges on average.
/// N from 64 on is the number of vertices itself instead of its logarithm; rmat needs a power of two.
#include <cstdint>
#include <string>
#include <string_view>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::graphs {

/// Seed and weights of a synthetic graph; the same on every rank.
struct GenerateOptions {
  std::uint64_t seed = 1;           ///< seed of the edges and of the weights
  std::string weights = "uniform";  ///< see parse_weights(); "euclidean" for rgg2d and rgg3d only
};

/// Expected size of a graph and the memory it takes, before it is generated or read; filled by forecast_generated() and
/// forecast_file().
struct Forecast {
  std::uint64_t vertices = 0;        ///< number of vertices over all ranks; estimated for an edge list
  std::uint64_t edges = 0;           ///< number of edges over all ranks; expected or estimated where `exact` is false
  bool exact = false;                ///< `edges` is exact, not an estimate
  std::uint64_t edge_bytes = 12;     ///< bytes per edge: 12, 16 or 24
  std::uint64_t bytes_per_rank = 0;  ///< peak memory of a rank while it is generated or read, edges included
};

/// Generates this rank's share of the edges of a synthetic graph. Every rank calls it; no communication.
/// @param spec  name of the graph, see the table above
/// @throws UsageError for an unknown name, parameters out of range and unknown weights, the same on every rank
/// Cost: O(edges / ranks) time, memory of the edges; rgg also that of the points of this rank and those near them.
[[nodiscard]] EdgeList generate(std::string_view spec, const GenerateOptions& options, comm::Transport& transport);

/// Predicts the size of the synthetic graph that generate() would generate, and the memory it would take. Local, O(1).
/// @throws UsageError as generate()
[[nodiscard]] Forecast forecast_generated(std::string_view spec, const GenerateOptions& options, int ranks);

}  // namespace merganser::graphs
