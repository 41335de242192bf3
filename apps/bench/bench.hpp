#pragma once
/// Driver shared by the verbs `bench random` and `bench files`: series of timed merge steps over numbers of ranks, repeats and
/// variants.
#include <functional>
#include <string>
#include <vector>

#include "apps/bench/series.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/ranks.hpp"

namespace merganser::app {

/// Options that bench random and bench files share, filled by the option parser.
struct BenchOptions {
  int steps = 10;                     ///< timed cycles, each with one merge step
  int repeats = 1;                    ///< times that all cycles of merge steps are repeated
  std::vector<int> ranks;             ///< numbers of ranks, a run each; empty: 1, or those of the launcher
  bool weak = false;                  ///< true: the grid grows with the ranks
  std::string comm = "auto";          ///< communication model of the merge steps, or "auto"
  std::vector<std::string> compare;   ///< two words of --compare; empty: none
  double timeout = 3600;              ///< seconds that a job of the benchmark may take
  std::string prune = "single-pass";  ///< pruning of links, or "all"
  MethodOptions method;               ///< its pruning is not used: see `prune`
  BlockOptions blocks;                ///< decomposition of the grid into blocks
  std::string json, csv;              ///< paths of the run record and of the raw times; empty: none
  bool quiet = false;                 ///< true: print no tables of merge step times
  ForceOption limits;                 ///< --force: measure even if forecasts exceed the free memory
  bool here = false;                  ///< this process was launched to measure, and launches no others
};

/// Words that bench --compare accepts, by kind, each list as conditions of options take it: "p2p|rma".
struct CompareWords {
  std::string prunes, searches, epochs, models, processes;
};
/// Returns the words that bench --compare accepts in this build: prunings, searches, epochs, communication models.
[[nodiscard]] CompareWords compare_words();

/// Lists the command-line options that bench random and bench files share, for the option parser.
template <class V>
void describe(BenchOptions& o, V&& option) {
  option.section("Measurement");
  option("steps", o.steps, "timed cycles; each makes its parcels anew, not timed (with --compare: 3)", at_least(1));
  option("repeats", o.repeats, "times all of it is repeated (with --compare: 8)", at_least(1));
  option("compare", o.compare,
         "two prunings, searches, epochs or models, measured in turns in this run; reports the ratio of their times",
         Kind{"A,B"}, ShownDefault{"none"});
  option("ranks", o.ranks, "numbers of ranks, one run each; threads, or started under the launcher for other models",
         at_least(1), ShownDefault{"1, or those of the launcher"}, own_ranks_advice("-n"), own_ranks_advice("-np"));
  const CompareWords words = compare_words();
  const std::string compare = "--compare ";
  option("comm", o.comm, "communication model; auto: threads alone, the fastest under a launcher", Kind{model_names()},
         UsedWith{"without --compare", compare + words.prunes + '|' + words.searches + '|' + words.epochs});
  option("timeout", o.timeout, "seconds that a run under the launcher may take", positive(),
         UsedWith{"--comm " + words.processes, compare + words.processes});
  option.section("Method");
  describe_search(o.method, option);
  option.restrict({"search"},
                  UsedWith{"without --compare", compare + words.prunes + '|' + words.epochs + '|' + words.models});
  option("prune", o.prune, "closed form without global synchronisation, or the published sweeps; all: a series of each",
         prune_words_and_all(), UsedWith{"without --compare", compare + words.searches + '|' + words.models});
  describe_iterative(o.method, option,
                     UsedWith{"--prune iterative|all", compare + "iterative", compare + words.epochs});
  option.restrict({"epoch"}, NotWith{compare + words.epochs});
  describe(o.blocks, option);
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("csv", o.csv, "raw times to write: one line per cycle and rank", Kind{"FILE"}, Writes{});
  option("quiet", o.quiet, "print no tables");
  describe(o.limits, option);
  option("here", o.here, "measure in this process", Hidden{});
}

/// Resets the options of a benchmark of merge steps to their defaults, with fewer steps and more repeats if --compare was given;
/// options that are given are parsed again on top.
void preset_bench(BenchOptions& o);

/// Returns the grid of a weak scaling run: cells and extent along x and y, in turn, multiplied by the prime factors of `ranks`.
[[nodiscard]] Grid weak_grid(Grid grid, int ranks);

/// Definition of a benchmark of merge steps: named series, each with its set-up.
struct BenchProgram {
  std::vector<std::string> series;   ///< names of the series: "shuffled", "ordered", "files"
  const Answers* answers = nullptr;  ///< values resolved from files and options; null if there are no input files
  /// Returns the set-up of a series on `ranks` ranks: parcels, grid, method.
  std::function<BenchSetup(const std::string& series, int ranks)> setup;
  /// Returns a sentence that compares a measured series with published numbers, or an empty text. Called on the rank
  /// that prints results.
  std::function<std::string(const std::string& series, const BenchSeries&)> published;
};

/// Runs a benchmark of merge steps over all numbers of ranks, variants and repeats of the options, and reports. @return exit code
int run_bench(const BenchOptions& options, const Invocation& in, const BenchProgram& program);

}  // namespace merganser::app
