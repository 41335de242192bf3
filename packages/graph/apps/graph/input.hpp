#pragma once
/// Graph input of commands: options, and loading of a weighted graph from a file or a generator, after a check of the memory.
#include <string>
#include <vector>

#include "apps/frame/forecast.hpp"
#include "apps/frame/record.hpp"
#include "merganser/graphs/files.hpp"
#include "merganser/graphs/generate.hpp"

namespace merganser::app {

/// Options of commands that take a graph (graph convert, msf, linkage): a file or the name of a generated graph, and its weights.
struct GraphInput {
  std::string file;         ///< GRAPH: path of a file, "-": standard input; empty with `gen`
  std::string gen;          ///< name of a generated graph, see generate.hpp
  std::string format;       ///< --format: name of the file's format; empty: determined by the file
  std::string weights;      ///< name of generated weights; empty: those of the file, else uniform
  bool names = false;       ///< --names: vertices are named by text
  std::uint64_t seed = 1;   ///< --seed of generated graphs and weights
  bool seed_given = false;  ///< --seed was given, an error if nothing is generated; set by the command
  ForceOption limits;       ///< --force: continue although memory or disk do not suffice by the forecast
};
/// Returns the names of the graph file formats for help texts: "edge-list|matrix-market|...".
[[nodiscard]] std::string graph_format_names();

/// Describes the options of a command's graph input but the file: generator, format, weights, seed.
template <class V>
void describe_graph_options(GraphInput& o, V&& option) {
  option.section("Graph");
  option("gen", o.gen,
         "make a graph: rmat:N:DEG, rgg2d:N:DEG, rgg3d:N:DEG, gnm:N:DEG, ba:N:DEG with 2^N vertices and DEG 2^N edges; "
         "grid:AxB[xC][:periodic], path:V, star:V, complete:V",
         Kind{"NAME"});
  option("format", o.format, "format of GRAPH", Kind{graph_format_names()}, ShownDefault{"what the file shows"},
         NotWith{"--gen"});
  option("names", o.names,
         "vertices of GRAPH are named by text, in edge lists in place of ids, numbered in the order of the first "
         "places of "
         "their names; of Pajek, GML and GraphML labels or ids; edge lists and labels are written with the names",
         NotWith{"--gen"});
  option("weights", o.weights,
         "made weights: uniform, uniform:LIMIT (1 to LIMIT), signed, float32, float64, unit, euclidean (rgg only)",
         Kind{"NAME"}, ShownDefault{"those of the file, else uniform"});
  option("seed", o.seed, "of made graphs and weights");
  describe(o.limits, option);
}

/// Describes the options of a command's graph input, with the file as the first positional GRAPH. For commands that have --points
/// too.
void describe(GraphInput& o, auto&& option) {
  option.positional(
      "GRAPH", o.file,
      "file of a graph (packages/graph/docs/graph-files.md), - for standard input; of a BVGraph its name without "
      "extension",
      Reads{}, NotWith{"--gen", "--points"});
  describe_graph_options(o, option);
  option.restrict({"gen", "format", "names", "weights"}, NotWith{"--points"});
  option.restrict({"seed"}, UsedWith{"GRAPH", "--gen", "--points uniform:*|normal:*|clusters:*|line:*"});
}

/// Graph that load_graph() has read or generated, with facts for the report and the run record.
struct LoadedGraph {
  graphs::EdgeList graph;          ///< this rank's share of the edges
  graphs::Forecast forecast;       ///< size that was predicted before loading
  std::vector<std::string> lines;  ///< notes for the user (symmetrised, weights generated, ...); the same on every rank
  Json facts;                      ///< description of the graph for the run record; the same on every rank
  double seconds = 0;              ///< wall time of loading on this rank
};

/// Reads or generates the graph of a command, after a check of memory and disk. Collective; errors are thrown on every rank alike:
/// call it inside collective_try().
/// @throws UsageError without exactly one of GRAPH and --gen; InputError for a file that cannot be read; either, see
/// forecast.hpp, if memory or disk space does not suffice and --force is not given
[[nodiscard]] LoadedGraph load_graph(const GraphInput& input, comm::Transport& transport,
                                     const AfterLoading& after = {});

/// Gathers the names of the vertices of a graph that are text on rank 0, in the order of the vertices. Collective. @return empty on the
/// other ranks, and if vertices have none
[[nodiscard]] std::vector<std::string> gather_names(const graphs::EdgeList& graph, comm::Transport& transport);
/// Checks that names of vertices that are text have no tab, which stands behind them in a file of labels. Collective. @param path  of
/// that file @throws InputError on every rank
void check_names_for_labels(const LoadedGraph& loaded, const std::string& path, comm::Transport& transport);
/// Adds lines to the report if a graph file will not hold the names of vertices that are text, or not those of vertices without an
/// edge. Collective. @param graph  that will be written @param path  of the file
void note_lost_names(LoadedGraph& loaded, const graphs::EdgeList& graph, const std::string& path, graphs::Format format,
                     comm::Transport& transport);

/// Returns the line of a report that describes the graph, from its facts: "rmat:20:16: 1,048,576 vertices, 16,777,216 edges,
/// weights unsigned (uniform)".
[[nodiscard]] std::string graph_input_text(const Json& facts);

}  // namespace merganser::app
