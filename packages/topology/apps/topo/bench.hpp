#pragma once
/// topo bench: its options, their meaning, and one measurement on the ranks of this process or job.
///
/// TopoBenchOptions holds the settings of every measurement of exchanges: topo replay, topo advise and doctor fill it too.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/topo/bench_record.hpp"
#include "apps/topo/known_words.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Options of topo bench: settings of a measurement of exchanges, and of its output. A job gets them as arguments.
struct TopoBenchOptions {
  /// Process graphs that exchanges are measured on: kinds of topo gen, or files.
  std::vector<std::string> graphs{"chain", "complete", "incast"};
  std::vector<std::string> models;              ///< communication models; empty: all that the launcher starts
  std::vector<std::string> kernels{"default"};  ///< names of exchange kernels, "default" or "all"
  /// Message sizes along an arc: bytes, "weights" or "weights*X", as parse_message_size() reads them.
  std::vector<std::string> sizes{"1",    "8",     "64",    "256",    "1024",    "4096",
                                 "8192", "16384", "65536", "262144", "1048576", "4194304"};
  topology::Sync sync = topology::Sync::dissemination;  ///< synchronisation of ranks before an iteration
  topology::Buffers buffers = topology::Buffers::warm;  ///< state of the caches before an iteration
  double time = 0;                                      ///< seconds per launch; 0: 0.35 for each cell, at most 100
  double width = 2;        ///< percent: relative width of the interval at which a median has converged
  std::uint64_t seed = 1;  ///< seed of random graphs and of the order of rounds
  double memory_mib = 0;   ///< MiB of message buffers per rank; 0: half of the free memory
  int launches = 1;        ///< number of jobs of topo bench that are started one after the other
  int ranks = 0;           ///< ranks to start; 0: 4, or as many as the launcher started
  double watchdog = 30;    ///< seconds without an iteration after which the job is ended; 0: never
  ForceOption limits;      ///< --force: measure even if forecasts exceed the free memory
  std::string inject;      ///< faults for tests, as make_hooks() reads them
  std::string json, csv;   ///< paths of the run record and of the table of values; empty: none
  std::string picture;     ///< path of the picture; empty: none
  bool quiet = false;      ///< true: print no tables of exchange times
  bool progress = false;   ///< true: show progress even where standard error is no terminal
  int launch = 0;          ///< number of this launch among those whose records are joined, from 1; 0: it stands alone
  std::string pattern;     ///< file as topo replay reads them, measured instead of `graphs`; empty: none
  std::optional<topology::NamedGraph> given;  ///< graph in memory, measured instead of `graphs` and `pattern`
};

/// Returns the words of --sync, the synchronisation of ranks before each timed iteration, and their values.
[[nodiscard]] inline Choices<topology::Sync> sync_choices() {
  using topology::Sync;
  return {{{"dissemination", Sync::dissemination}, {"roundtime", Sync::roundtime}, {"none", Sync::none}}};
}
/// Returns the words of --buffers, the state of the caches before each timed iteration, and their values.
[[nodiscard]] inline Choices<topology::Buffers> buffer_choices() {
  using topology::Buffers;
  return {{{"warm", Buffers::warm}, {"rotate", Buffers::rotate}, {"flush", Buffers::flush}}};
}

/// Returns the check of --watchdog, seconds: less than a tenth of a second would report any start of a job as a stall.
[[nodiscard]] inline Check watchdog_seconds() {
  return {"0, or at least 0.1", [](double x) { return x == 0 || (x >= 0.1 && std::isfinite(x)); }};
}

/// Lists the options of what is exchanged, which topo bench and topo replay have.
/// @param sizes, initial  help text and default of --sizes
template <class V>
void describe_exchanges(TopoBenchOptions& o, V&& option, const char* sizes, const auto&... initial) {
  option("models", o.models, "communication models: all, or some of p2p, neighborhood, rma, shmem, threads",
         Kind{"LIST"}, ShownDefault{"all that the launcher starts; threads without one"}, known_models());
  option("kernels", o.kernels, "kernels: default, all, or names", Kind{"LIST"}, known_kernels());
  option("sizes", o.sizes, sizes, Kind{"N,N,..."}, initial...);
}

/// Lists the options of how is measured, which topo bench and topo replay have.
/// @param time  default of --time
template <class V>
void describe_measuring(TopoBenchOptions& o, V&& option, const char* time) {
  option(
      "sync", o.sync,
      "start of iterations: after a dissemination barrier, at moments of a synchronised clock, or one after the other",
      sync_choices());
  option("buffers", o.buffers, "caches before an iteration: warm, rotate (sets of buffers take turns), flush",
         buffer_choices());
  option("time", o.time, "seconds per launch, all told", at_least(0), ShownDefault{time});
  option("width", o.width, "percent: cells whose interval of the median is this narrow make room for others",
         positive());
  option("seed", o.seed, "of random graphs and of the order of rounds");
  option("memory", o.memory_mib, "MiB of buffers on a rank", at_least(0), ShownDefault{"half of what is free"});
  option("watchdog", o.watchdog, "seconds without an iteration after which the job is ended, told why; 0: never",
         watchdog_seconds());
  describe(o.limits, option);
}

/// Lists the options of what is written, which topo bench and topo replay have.
template <class V>
void describe_outputs(TopoBenchOptions& o, V&& option) {
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("csv", o.csv, "table to write, a line per cell", Kind{"FILE"}, Writes{});
  option("picture", o.picture, "picture of times over bytes to write (.svg .png .pdf)", Kind{"FILE"}, Writes{});
  option("quiet", o.quiet, "print no tables");
}

/// Lists the command-line options of topo bench, with their help texts and checks, for the option parser.
template <class V>
void describe(TopoBenchOptions& o, V&& option) {
  option.section("What is measured");
  option("graph", o.graphs, "process graphs: kinds of topo gen, like rgg:5, or files", Kind{"LIST"}, Reads{},
         known_process_graphs());
  describe_exchanges(o, option, "bytes along an arc: numbers, or weights (those of the graph), or weights*X");
  option("ranks", o.ranks, "ranks to start; under a launcher: a check of its number", at_least(0), ShownDefault{"4"},
         own_ranks_advice("-n"), own_ranks_advice("-np"));
  option.section("How");
  option("launches", o.launches, "times the job is started, without a launcher", at_least(1));
  describe_measuring(o, option, "0.35 for each cell, at most 100");
  option("inject", o.inject,
         "faults, for tests: drop:rank=R,iteration=I; slow:rank=R,us=X; late:rank=R,us=X; kill:rank=R,iteration=I",
         Kind{"FAULTS"});
  option.section("Output");
  describe_outputs(o, option);
  option("progress", o.progress, "show progress even if standard error is no terminal");
  option("launch", o.launch, "number of this launch, whose record will be joined with those of others", Hidden{});
  option("pattern", o.pattern, "process graph or traffic to measure, in any form", Hidden{}, Reads{});
}

/// Names of the exchange kernels to measure, by the kind of their ranks; filled by choose_kernels().
struct ChosenKernels {
  std::vector<std::string> threads;    ///< kernels whose ranks are threads of one process
  std::vector<std::string> processes;  ///< kernels whose ranks are processes, which a launcher starts
};
/// Returns the exchange kernels that --models and --kernels of topo bench select. Local.
/// @param processes_run  false: there is no launcher, so that the default is threads
/// @throws UsageError for unknown names, with what is allowed
[[nodiscard]] ChosenKernels choose_kernels(const TopoBenchOptions& o, bool processes_run);

/// Parses a message size of --sizes: "8", "64K", "weights", "weights*0.5". @throws UsageError for another text
[[nodiscard]] topology::MessageSize parse_message_size(const std::string& text);

/// Measures exchanges on the ranks of this process or job, for one launch of topo bench. Collective over the job.
/// @param kernels  if some are of processes, those of threads are listed as not measured
/// @param results  filled on rank 0
/// @return exit code
int measure_here(const TopoBenchOptions& o, const ChosenKernels& kernels, BenchResults& results);

}  // namespace merganser::app
