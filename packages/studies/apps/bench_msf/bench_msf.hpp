#pragma once
/// Data of bench msf: the work of a launch and its results, and their serialisation, by which they pass between processes.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/frame/fields.hpp"
#include "apps/frame/record.hpp"
#include "merganser/stats/order_statistics.hpp"

namespace merganser::app {

/// A graph to measure: a name of graphs::generate(), or of a file.
struct BenchGraph {
  std::string name;
  bool file = false;
  friend bool operator==(const BenchGraph&, const BenchGraph&) = default;
};

/// A graph and a method of finding its forest.
struct ForestCase {
  BenchGraph graph;
  std::string model;
  std::string style;  ///< "baseline", "tuned"
  std::string post;   ///< "single", "leader"
};

/// A collective operation to measure, by message size.
struct CollectiveCase {
  std::string call;  ///< "barrier", "all-reduce", "all-gather"
  std::string model;
  std::vector<std::int64_t> bytes;  ///< per rank
  int iterations = 0;
};

/// Exchanges along one arc, from rank 0 to rank 1, to measure by message size.
struct ArcCase {
  std::vector<std::string> kernels;  ///< empty: nothing is measured
  std::vector<std::int64_t> bytes;
  double seconds = 0;
};

/// Work of one launch.
struct MsfWork {
  int ranks = 1;    ///< number of ranks of the launch
  int repeats = 1;  ///< runs of each forest
  std::vector<ForestCase> forests;
  std::vector<CollectiveCase> collectives;
  ArcCase arcs;
  std::vector<BenchGraph> facts;  ///< graphs whose properties are computed
  /// Returns true if there is nothing to measure.
  [[nodiscard]] bool empty() const {
    return forests.empty() && collectives.empty() && arcs.kernels.empty() && facts.empty();
  }
};

/// Properties of a graph.
struct GraphFacts {
  std::string graph;
  std::int64_t vertices = 0;
  std::int64_t edges = 0;       ///< undirected edges
  std::int64_t max_degree = 0;  ///< largest number of edges at a vertex
  std::int64_t bytes = 0;       ///< size of the edges in memory
  /// Returns the mean number of arcs per vertex, two for every edge.
  [[nodiscard]] double arcs_per_vertex() const {
    return vertices > 0 ? 2 * static_cast<double>(edges) / static_cast<double>(vertices) : 0;
  }
};

/// Times and traffic of one phase: seconds of the slowest rank, median over repeats; bytes and messages of all ranks in one repeat.
struct PhaseResult {
  std::string name;
  double seconds = 0;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;  ///< messages sent, puts and gets
};

/// Times and traffic of one forest case on one number of ranks.
struct ForestResult {
  ForestCase what;
  int ranks = 1;
  std::vector<double> seconds;  ///< by repeat, time of the slowest rank
  std::vector<PhaseResult> phases;
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
  std::string digest;
  std::string failure;        ///< reason why there are no times; empty if there are
  std::int64_t heap_mib = 0;  ///< symmetric heap per process that was set for this run, MiB; 0: the default
};

/// Times of one collective operation.
struct CollectiveResult {
  std::string call;
  std::string model;
  int ranks = 1;
  std::int64_t bytes = 0;
  Spread seconds;  ///< of the slowest rank, over iterations
};

/// Times of exchanges along one arc by one kernel.
struct ArcResult {
  std::string kernel;
  std::string completion;
  bool pulls = false;
  std::int64_t bytes = 0;
  Spread seconds;
};

/// Results of one or several launches.
struct MsfResults {
  std::vector<GraphFacts> graphs;
  std::vector<ForestResult> forests;
  std::vector<ForestResult> heaps;  ///< of runs with their own size of the symmetric heap
  std::vector<CollectiveResult> collectives;
  std::vector<ArcResult> arcs;
  std::vector<std::string> notes;  ///< messages about what could not be measured
  Json surroundings;               ///< environment_json() of the first job that was started; null: no job was

  /// Appends the results of another launch.
  void add(MsfResults more);
  /// Describes contradictions: forests of one graph that have different digests. Empty if there are none.
  [[nodiscard]] std::vector<std::string> contradictions() const;
};

// fields() lists the members of a type for its serialisation: one list for reading and writing.
void fields(auto&& v, BenchGraph& g) { v("name", g.name, "file", g.file); }
void fields(auto&& v, ForestCase& c) { v("graph", c.graph, "model", c.model, "style", c.style, "post", c.post); }
void fields(auto&& v, CollectiveCase& c) {
  v("call", c.call, "model", c.model, "bytes", c.bytes, "iterations", c.iterations);
}
void fields(auto&& v, ArcCase& c) { v("kernels", c.kernels, "bytes", c.bytes, "seconds", c.seconds); }
void fields(auto&& v, MsfWork& w) {
  v("ranks", w.ranks, "repeats", w.repeats, "facts", w.facts, "forests", w.forests, "collectives", w.collectives,
    "arcs", w.arcs);
}
void fields(auto&& v, Spread& s) {
  v("min", s.min, "low", s.median.low, "median", s.median.value, "high", s.median.high, "count", s.count);
}
void fields(auto&& v, GraphFacts& g) {
  v("graph", g.graph, "vertices", g.vertices, "edges", g.edges, "max_degree", g.max_degree, "bytes", g.bytes);
  v.extra("arcs_per_vertex", g.arcs_per_vertex());
}
void fields(auto&& v, PhaseResult& p) {
  v("name", p.name, "seconds", p.seconds, "bytes", p.bytes, "messages", p.messages);
}
void fields(auto&& v, ForestResult& r) {
  fields(v, r.what);
  v("ranks", r.ranks, "seconds", r.seconds);
  v.extra("spread", sample_spread(r.seconds));
  v("phases", r.phases, "bytes", r.bytes, "messages", r.messages, "digest", r.digest, "failure", r.failure, "heap_mib",
    r.heap_mib);
}
void fields(auto&& v, CollectiveResult& r) {
  v("call", r.call, "model", r.model, "ranks", r.ranks, "bytes", r.bytes, "seconds", r.seconds);
}
void fields(auto&& v, ArcResult& r) {
  v("kernel", r.kernel, "completion", r.completion, "pulls", r.pulls, "bytes", r.bytes, "seconds", r.seconds);
}
void fields(auto&& v, MsfResults& r) {
  v("graphs", r.graphs, "forests", r.forests, "heaps", r.heaps, "collectives", r.collectives, "arcs", r.arcs, "notes",
    r.notes, "surroundings", r.surroundings);
}

/// Measures a launch's work on the ranks of this process or job, over every model that it names. Called by every process.
/// @param results  filled on rank 0 @return exit code
int measure_msf(const MsfWork& work, MsfResults& results);

}  // namespace merganser::app
