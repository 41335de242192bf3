#pragma once
/// A weighted graph for a command: read from a file or made from a name, after a look at the memory it will take.
#include <string>
#include <vector>

#include "apps/frame/forecast.hpp"
#include "apps/frame/record.hpp"
#include "merganser/graphs/files.hpp"
#include "merganser/graphs/generate.hpp"

namespace merganser::app {

/// Options of every command that takes a graph.
struct GraphInput {
  std::string file;
  std::string gen;
  std::string format;
  std::string weights;
  std::uint64_t seed = 1;
  bool seed_given = false;  ///< refused then where nothing is made with it; set by the command
  ForceOption limits;
};
/// Names of the file formats: "edge-list|metis|...".
[[nodiscard]] std::string graph_format_names();

/// All but the file.
template <class V>
void describe_graph_options(GraphInput& o, V&& option) {
  option.section("Graph");
  option("gen", o.gen,
         "make a graph: rmat:N:DEG, rgg2d:N:DEG, rgg3d:N:DEG, gnm:N:DEG, ba:N:DEG with 2^N vertices and DEG 2^N edges; "
         "grid:AxB[xC][:periodic], path:V, star:V, complete:V",
         Kind{"NAME"});
  option("format", o.format, "format of GRAPH", Kind{graph_format_names()}, Initial{"what the file shows"},
         NotWith{"--gen"});
  option("weights", o.weights,
         "made weights: uniform, uniform:LIMIT (1 to LIMIT), signed, float32, float64, unit, euclidean (rgg only)",
         Kind{"NAME"}, Initial{"those of the file, else uniform"});
  option("seed", o.seed, "of made graphs and weights");
  describe(o.limits, option);
}

/// The file is the positional GRAPH, which stands first. For verbs that have --points too.
void describe(GraphInput& o, auto&& option) {
  option.positional("GRAPH", o.file,
                    "file of a graph (packages/graph/docs/graph-files.md); of a BVGraph its name without extension",
                    Reads{}, NotWith{"--gen", "--points"});
  describe_graph_options(o, option);
  option.restrict({"gen", "format", "weights"}, NotWith{"--points"});
  option.restrict({"seed"}, UsedWith{"GRAPH", "--gen", "--points uniform:*|normal:*|clusters:*|line:*"});
}

struct LoadedGraph {
  graphs::EdgeList graph;
  graphs::Forecast forecast;
  std::vector<std::string> lines;  ///< what a user should know: symmetrised, weights made, ...; the same on every rank
  Json facts;                      ///< of the record, the same on every rank
  double seconds = 0;              ///< of this rank
};

/// Reads or makes the graph. Collective; errors are thrown on every rank alike: call it inside collective_try().
/// @throws UsageError without exactly one of GRAPH and --gen; InputError for a file that cannot be read; either, as
/// forecast.hpp says, where what is needed is not there and --force is not given
[[nodiscard]] LoadedGraph load_graph(const GraphInput& input, comm::Transport& transport,
                                     const AfterLoading& after = {});

/// "1,048,576 vertices, 16,777,216 edges, weights unsigned (uniform), ..."; from the facts.
[[nodiscard]] std::string graph_input_text(const Json& facts);

}  // namespace merganser::app
