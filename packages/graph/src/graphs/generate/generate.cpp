// Generation of synthetic graphs by name: dispatch to the generator of the family, size of edges, forecast of memory.
#include "merganser/graphs/generate.hpp"

#include <iterator>

#include "merganser/base/error.hpp"
#include "src/graphs/generate/spec.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

/// Returns the generator of the edge weights of a synthetic graph. @throws UsageError for unknown names of weights, and for
/// Euclidean weights of graphs without points
WeightMaker weights_for(const Spec& spec, const GenerateOptions& options) {
  const WeightMaker weights = parse_weights(options.weights, options.seed);
  if (weights.model == WeightModel::euclidean && spec.shape != Shape::points) {
    throw UsageError("weights \"euclidean\" for graph \"" + spec.text +
                     "\"; allowed: for points, rgg2d and rgg3d, only");
  }
  return weights;
}

/// Returns the size of the smallest type of edge that holds the vertex ids and weights of a synthetic graph, in bytes: 12, 16 or
/// 24.
std::uint64_t edge_bytes(std::uint64_t vertices, const WeightMaker& weights) {
  if (vertices > (std::uint64_t{1} << 32)) return sizeof(Edge24);
  return weights.bits() == 32 ? sizeof(Edge12) : sizeof(Edge16);
}

/// Generates this rank's share of the edges of a synthetic graph, as edges of one type, by the generator of its family. Local.
template <class Edge>
std::vector<Edge> make(const Spec& spec, const Part& part, const WeightMaker& weights) {
  using Maker = void (*)(const Spec&, const Part&, Sink<Edge>&);
  static constexpr Maker kMakers[] = {make_rmat<Edge>, make_points<Edge>, make_gnm<Edge>,  make_ba<Edge>,
                                      make_grid<Edge>, make_path<Edge>,   make_star<Edge>, make_complete<Edge>};
  static_assert(std::size(kMakers) == static_cast<std::size_t>(Shape::complete) + 1);  // in the order of Shape
  Sink<Edge> sink(weights);
  kMakers[static_cast<std::size_t>(spec.shape)](spec, part, sink);
  return sink.release();
}

}  // namespace

// Generator of synthetic graphs: each rank makes its share of the edges alone, in the smallest type that holds ids and
// weights.
EdgeList generate(std::string_view text, const GenerateOptions& options, comm::Transport& transport) {
  const Spec spec = parse_spec(text);
  const WeightMaker weights = weights_for(spec, options);
  const Part part{options.seed, transport.rank(), transport.size()};
  EdgeList graph;
  graph.vertices = spec.vertices;
  graph.kind = weights.kind();
  switch (edge_bytes(spec.vertices, weights)) {
    case sizeof(Edge12):
      graph.edges = make<Edge12>(spec, part, weights);
      break;
    case sizeof(Edge16):
      graph.edges = make<Edge16>(spec, part, weights);
      break;
    default:
      graph.edges = make<Edge24>(spec, part, weights);
  }
  return graph;
}

// Size of a synthetic graph by its name; of R-MAT graphs (whose loops are dropped) and points the number of edges is expected.
Forecast forecast_generated(std::string_view text, const GenerateOptions& options, int ranks) {
  const Spec spec = parse_spec(text);
  Forecast forecast;
  forecast.vertices = spec.vertices;
  forecast.edges = spec.edges;
  forecast.exact = spec.shape != Shape::rmat && spec.shape != Shape::points;
  forecast.edge_bytes = edge_bytes(spec.vertices, weights_for(spec, options));
  const auto parts = static_cast<std::uint64_t>(ranks);
  forecast.bytes_per_rank = (spec.edges / parts + 1) * forecast.edge_bytes;
  if (spec.shape == Shape::points) forecast.bytes_per_rank += (spec.vertices / parts + 1) * 32;
  return forecast;
}

}  // namespace merganser::graphs
