#pragma once
/// Experiments of bench msf, the study of spanning forests by communication model; its options, and the launches that they need.
#include <string>
#include <vector>

#include "apps/bench_msf/bench_msf.hpp"
#include "apps/frame/ranks.hpp"
#include "merganser/base/options.hpp"

namespace merganser::app {

/// Tables and figures of [ing2021], grouped by the measurement that they need. Figures 6 to 11 are one, by graph.
enum class Experiment : std::uint8_t {
  facts,         ///< T1: properties of graphs
  memory,        ///< T2, T3: sizes of the symmetric heap
  barriers,      ///< T4, F15: times of barriers
  arcs,          ///< F3, F12, F13: put, get and messages along one arc
  reductions,    ///< F4, F14, F16: times of all-reduces
  posts,         ///< F5: post-processing by leaders or by one rank
  times,         ///< T5, T6, T7, T8, F6 to F11: times of spanning forests
  productivity,  ///< T9: lines of code and calls
};
/// Returns the names of all tables and figures of [ing2021] that bench msf reproduces: "T1", ..., "T9", "F3", ..., "F16".
[[nodiscard]] std::vector<std::string> experiment_names();
/// Returns the experiment of bench msf that a table or figure needs, as "T4" or "F5". @throws UsageError for an unknown name
[[nodiscard]] Experiment parse_experiment(const std::string& name);

/// Options of bench msf, filled by the option parser.
struct MsfBenchOptions {
  bool quick = false;               ///< true: small graphs, few ranks and repeats
  std::vector<std::string> only;    ///< tables and figures to reproduce; empty: all
  std::vector<std::string> graphs;  ///< files of graphs whose forests are measured
  std::vector<std::string> gen;     ///< names of graphs to generate, as "gnm:13:8"
  std::vector<int> ranks;           ///< numbers of ranks, a launch each; empty: default_ranks()
  std::vector<std::string> models;  ///< communication models to find forests in; empty: all available ones
  std::vector<int> heaps;           ///< sizes of the symmetric heap per rank that are tried, MiB
  int repeats = 0;                  ///< runs of each case; 0: 15, or 3 with `quick`
  double timeout = 1800;            ///< seconds that a launch of the study may take
  std::string json;                 ///< path of the run record, or of the results of a launch; empty: none
  bool quiet = false;               ///< true: print no tables of the study
  std::string work;                 ///< file with work: this process was started to do it
};

/// Lists the command-line options of bench msf, the study that reproduces the tables and figures of [ing2021], with their help texts
/// and checks, for the option parser.
void describe(MsfBenchOptions& o, auto&& option) {
  option.section("What is measured");
  option("quick", o.quick, "small graphs, few ranks and repeats: about a minute");
  option("only", o.only, "tables and figures: T1 to T9, F3 to F16", Words{experiment_names()}, Kind{"LIST"},
         ShownDefault{"all"});
  option("graphs", o.graphs, "files of graphs, in any format of msf (of a BVGraph the name without extension)",
         Kind{"FILE,FILE,..."}, ShownDefault{"none"}, Reads{});
  option("gen", o.gen, "graphs to make, as of msf --gen; the first two are also those of the memory configurations",
         Kind{"NAME,NAME,..."}, ShownDefault{"six of 2^18 vertices; --quick: of 2^13"});
  option("ranks", o.ranks, "numbers of ranks, a launch each", at_least(1), Instead{"-n", "allowed: --ranks {value}"},
         ShownDefault{"1,2,4,8 and up to 64 where there are cores; --quick: 1,2,4"});
  option("models", o.models, "communication models", Kind{"LIST"},
         ShownDefault{"all that the launcher starts; threads without one"}, known_models({}));
  option("heaps", o.heaps, "MiB of symmetric heap per rank that are tried", at_least(1), Kind{"N,N,..."},
         ShownDefault{"2,4,16,64,256; --quick: 2,4,64"});
  option("repeats", o.repeats, "runs of each case", at_least(0), ShownDefault{"15; --quick: 3"});
  option("timeout", o.timeout, "seconds that a launch may take", positive());
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("quiet", o.quiet, "print no tables");
  option("work", o.work, "do the work of this file on these ranks", Hidden{});
}

/// A launch of bench msf with its own size of OpenSHMEM's symmetric heap.
struct HeapWork {
  int mib = 0;  ///< symmetric heap per process, MiB
  MsfWork work;
};

/// Plan of a run of bench msf: its experiments, and the launches that they need. Made by plan_msf_bench().
struct MsfPlan {
  std::vector<std::string> names;       ///< names of the tables and figures to make
  std::vector<Experiment> experiments;  ///< those that the names need, each once
  std::vector<BenchGraph> graphs;       ///< graphs whose forests are measured
  std::vector<std::string> models;      ///< communication models that forests are found in
  std::vector<MsfWork> launches;        ///< one for each number of ranks, ascending
  std::vector<HeapWork> heaps;          ///< launches that try sizes of the symmetric heap
  /// Returns true if an experiment is part of the plan of bench msf.
  [[nodiscard]] bool wants(Experiment e) const;
  /// Returns true if one of the named tables and figures is part of the plan of bench msf.
  [[nodiscard]] bool wants_one_of(const std::vector<std::string>& tables) const;
  /// Returns the communication model whose kinds of post-processing are compared: p2p where possible, since the published one is
  /// for messages.
  [[nodiscard]] const std::string& posts_model() const;
};

/// Plans all launches of bench msf. Local.
/// @param here    ranks of the job that this process is part of; 0: none, it starts launches itself
/// @param models  communication models that are available here
/// @throws UsageError for options that contradict each other or are unknown
[[nodiscard]] MsfPlan plan_msf_bench(const MsfBenchOptions& o, int here, const std::vector<std::string>& models,
                                     int cores);

}  // namespace merganser::app
