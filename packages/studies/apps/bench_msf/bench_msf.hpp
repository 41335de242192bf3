#pragma once
/// Data of bench msf: the work of a launch and its results, and their serialisation, by which they pass between processes.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/frame/fields.hpp"
#include "apps/frame/record.hpp"
#include "merganser/stats/order_statistics.hpp"

namespace merganser::app {

/// A graph whose spanning forest bench msf measures.
struct BenchGraph {
  std::string name;   ///< name of a generated graph, as "gnm:13:8", or path of a file
  bool file = false;  ///< true: `name` is a path
  friend bool operator==(const BenchGraph&, const BenchGraph&) = default;
};

/// A case of bench msf: a graph and a method of finding its spanning forest.
struct ForestCase {
  BenchGraph graph;
  std::string model;  ///< communication model of the forest or collective
  std::string style;  ///< implementation: "baseline", "tuned"
  std::string post;   ///< post-processing: "single", "leader"
};

/// A microbenchmark of bench msf: a collective operation in one model, by message size.
struct CollectiveCase {
  std::string call;                 ///< "barrier" or "all-reduce"
  std::string model;                ///< communication model of the forest or collective
  std::vector<std::int64_t> bytes;  ///< message sizes, bytes per rank
  int iterations = 0;               ///< timed calls of each size
};

/// A microbenchmark of bench msf: exchanges along one arc, from rank 0 to rank 1, by kernel and message size.
struct ArcCase {
  std::vector<std::string> kernels;  ///< names of exchange kernels; empty: nothing is measured
  std::vector<std::int64_t> bytes;   ///< message sizes of the exchanges, bytes
  double seconds = 0;                ///< duration of the measurement of the arc
};

/// Work of one launch of bench msf: everything that is measured on one number of ranks. Planned by plan_msf_bench().
struct MsfWork {
  int ranks = 1;    ///< number of ranks of the launch
  int repeats = 1;  ///< runs of each forest, a graph and a method
  std::vector<ForestCase> forests;
  std::vector<CollectiveCase> collectives;
  ArcCase arcs;
  std::vector<BenchGraph> facts;  ///< graphs whose properties are computed
  /// Returns true if the launch has nothing to measure.
  [[nodiscard]] bool empty() const {
    return forests.empty() && collectives.empty() && arcs.kernels.empty() && facts.empty();
  }
};

/// Properties of a graph of bench msf (Table 1 of [ing2021]), computed in measure.cpp.
struct GraphFacts {
  std::string graph;            ///< name of the graph whose forest is sought
  std::int64_t vertices = 0;    ///< number of vertices, of all ranks
  std::int64_t edges = 0;       ///< undirected edges
  std::int64_t max_degree = 0;  ///< largest number of edges at a vertex
  std::int64_t bytes = 0;       ///< size of the edges in memory
  /// Returns the mean number of arcs per vertex of the graph, two for every edge; 0 without vertices.
  [[nodiscard]] double arcs_per_vertex() const {
    return vertices > 0 ? 2 * static_cast<double>(edges) / static_cast<double>(vertices) : 0;
  }
};

/// Time and traffic of one phase of the spanning forest algorithm in one case of bench msf.
struct PhaseResult {
  std::string name;           ///< name of a phase of the spanning forest algorithm
  double seconds = 0;         ///< time of the slowest rank, median over repeats
  std::int64_t bytes = 0;     ///< bytes sent and got by all ranks in the latest repeat
  std::int64_t messages = 0;  ///< messages sent, puts and gets of all ranks in the latest repeat
};

/// Times and traffic of finding one spanning forest by one method on one number of ranks.
struct ForestResult {
  ForestCase what;
  int ranks = 1;                    ///< number of ranks that took part
  std::vector<double> seconds;      ///< by repeat, time of the slowest rank
  std::vector<PhaseResult> phases;  ///< times of phases, in the order of the algorithm
  std::int64_t bytes = 0;           ///< bytes sent and got by all ranks in the latest repeat
  std::int64_t messages = 0;        ///< messages, puts and gets of all ranks in the latest repeat
  std::string digest;               ///< hash of the edges of the forest
  std::string failure;              ///< reason why there are no times; empty if there are
  std::int64_t heap_mib = 0;        ///< symmetric heap per process that was set for this run, MiB; 0: the default
};

/// Times of one collective operation with one message size in one model, measured by bench msf.
struct CollectiveResult {
  std::string call;        ///< "barrier" or "all-reduce"
  std::string model;       ///< communication model of the forest or collective
  int ranks = 1;           ///< number of ranks that took part
  std::int64_t bytes = 0;  ///< message size per rank
  Spread seconds;          ///< times of the slowest rank, over iterations
};

/// Times of exchanges along one arc by one kernel with one message size, measured by bench msf.
struct ArcResult {
  std::string kernel;      ///< name of the exchange kernel
  std::string completion;  ///< completion class of the exchange kernel
  bool pulls = false;      ///< true: the receiver gets the data
  std::int64_t bytes = 0;  ///< message size of the exchanges, bytes
  Spread seconds;          ///< times of the slower rank, over iterations
};

/// Results of one or several launches of bench msf, complete on rank 0.
struct MsfResults {
  std::vector<GraphFacts> graphs;
  std::vector<ForestResult> forests;
  std::vector<ForestResult> heaps;  ///< forests of launches with their own size of the symmetric heap
  std::vector<CollectiveResult> collectives;
  std::vector<ArcResult> arcs;
  std::vector<std::string> notes;  ///< messages about what could not be measured
  Json surroundings;               ///< environment_json() of the first job that was started; null: no job was

  /// Appends the results of another launch of bench msf.
  void add(MsfResults more);
  /// Describes spanning forests of one graph that have different digests, a line each. Empty if all methods found the same.
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

/// Measures the work of one launch of bench msf on the ranks of this process or job, in every model that it names. Called by every
/// process of the job.
/// @param results  filled on rank 0 @return exit code
int measure_msf(const MsfWork& work, MsfResults& results);

}  // namespace merganser::app
