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
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Settings of a measurement, and of what is made of it.
struct TopoBenchOptions {
  std::vector<std::string> graphs{"chain", "complete", "incast"};
  std::vector<std::string> models;
  std::vector<std::string> kernels{"default"};
  std::vector<std::string> sizes{"1",    "8",     "64",    "256",    "1024",    "4096",
                                 "8192", "16384", "65536", "262144", "1048576", "4194304"};
  topology::Sync sync = topology::Sync::dissemination;
  topology::Buffers buffers = topology::Buffers::warm;
  double time = 0;
  double width = 2;
  std::uint64_t seed = 1;
  double memory_mib = 0;
  int launches = 1;
  int ranks = 0;
  double watchdog = 30;
  ForceOption limits;
  std::string inject;
  std::string json, csv;
  bool quiet = false;
  bool progress = false;
  int launch = 0;       ///< number of this launch among those whose records are joined, from 1; 0: it stands alone
  std::string pattern;  ///< file as topo replay reads them, measured instead of `graphs`; empty: none
  std::optional<topology::NamedGraph> given;  ///< graph in memory, measured instead of `graphs` and `pattern`
};

/// Returns the words of --sync.
[[nodiscard]] inline Choices<topology::Sync> sync_choices() {
  using topology::Sync;
  return {{{"dissemination", Sync::dissemination}, {"roundtime", Sync::roundtime}, {"none", Sync::none}}};
}
/// Returns the words of --buffers.
[[nodiscard]] inline Choices<topology::Buffers> buffer_choices() {
  using topology::Buffers;
  return {{{"warm", Buffers::warm}, {"rotate", Buffers::rotate}, {"flush", Buffers::flush}}};
}

/// Returns the check of --watchdog: less than a tenth of a second would call any start a stall.
[[nodiscard]] inline Check watchdog_seconds() {
  return {"0, or at least 0.1", [](double x) { return x == 0 || (x >= 0.1 && std::isfinite(x)); }};
}

template <class V>
void describe(TopoBenchOptions& o, V&& option) {
  option.section("What is measured");
  option("graph", o.graphs, "process graphs: kinds of topo gen, like rgg:5, or files", Kind{"LIST"}, Reads{});
  option("models", o.models, "communication models: all, or some of p2p, neighborhood, rma, shmem, threads",
         Kind{"LIST"}, Initial{"all that the launcher starts; threads without one"});
  option("kernels", o.kernels, "kernels: default, all, or names", Kind{"LIST"});
  option("sizes", o.sizes, "bytes along an arc: numbers, or weights (those of the graph), or weights*X",
         Kind{"N,N,..."});
  option("ranks", o.ranks, "ranks to start; under a launcher: a check of its number", at_least(0), Initial{"4"},
         own_ranks_advice("-n"), own_ranks_advice("-np"));
  option.section("How");
  option(
      "sync", o.sync,
      "start of iterations: after a dissemination barrier, at moments of a synchronised clock, or one after the other",
      sync_choices());
  option("buffers", o.buffers, "caches before an iteration: warm, rotate (sets of buffers take turns), flush",
         buffer_choices());
  option("time", o.time, "seconds per launch, all told", at_least(0), Initial{"0.35 for each cell, at most 100"});
  option("width", o.width, "percent: cells whose interval of the median is this narrow make room for others",
         positive());
  option("launches", o.launches, "times the job is started, without a launcher", at_least(1));
  option("seed", o.seed, "of random graphs and of the order of rounds");
  option("memory", o.memory_mib, "MiB of buffers on a rank", at_least(0), Initial{"half of what is free"});
  option("watchdog", o.watchdog, "seconds without an iteration after which the job is ended, told why; 0: never",
         watchdog_seconds());
  describe(o.limits, option);
  option("inject", o.inject,
         "faults, for tests: drop:rank=R,iteration=I; slow:rank=R,us=X; late:rank=R,us=X; kill:rank=R,iteration=I",
         Kind{"FAULTS"});
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("csv", o.csv, "table to write, a line per cell", Kind{"FILE"}, Writes{});
  option("quiet", o.quiet, "print no tables");
  option("progress", o.progress, "show progress even if standard error is no terminal");
  option("launch", o.launch, "number of this launch, whose record will be joined with those of others", Hidden{});
  option("pattern", o.pattern, "process graph or traffic to measure, in any form", Hidden{}, Reads{});
}

/// Names of kernels, by the kind of their ranks.
struct ChosenKernels {
  std::vector<std::string> threads;
  std::vector<std::string> processes;
};
/// Returns the kernels that --models and --kernels select. Local.
/// @param processes_run  false: there is no launcher, so that the default is threads
/// @throws UsageError for unknown names, with what is allowed
[[nodiscard]] ChosenKernels choose_kernels(const TopoBenchOptions& o, bool processes_run);

/// Reads a size: "8", "64K", "weights", "weights*0.5". @throws UsageError for another text
[[nodiscard]] topology::MessageSize parse_message_size(const std::string& text);

/// Measures on the ranks of this process or job. Collective over the job.
/// @param kernels  if some are of processes, those of threads are listed as not measured
/// @param results  filled on rank 0
/// @return exit code
int measure_here(const TopoBenchOptions& o, const ChosenKernels& kernels, BenchResults& results);

}  // namespace merganser::app
