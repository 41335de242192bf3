#pragma once
/// Report of the benchmarks of merge steps: tables, run record and CSV.
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench.hpp"

namespace merganser::app {

/// Variant of a benchmark of merge steps: the communication model and method by which they are made.
struct Variant {
  std::string label;     ///< word of --compare that names it; empty without --compare
  std::string comm;      ///< communication model of the merge steps
  MethodOptions method;  ///< search, pruning and access epochs of the merge steps
};

/// Measured series of merge steps of one variant on one number of ranks, by name.
struct SeriesSet {
  SeriesSet(int r, Variant v) : ranks(r), variant(std::move(v)) {}
  int ranks;
  Variant variant;
  std::vector<std::pair<std::string, BenchSeries>> series;  ///< name ("shuffled", "files") and results
  Json
      surroundings;  ///< run-time environment of the first job that was launched to measure; null: measured in this process
  /// Appends the cycles of another measurement of the same variant and ranks.
  void merge(const SeriesSet& o);
};

/// Result of --compare: two variants of merge steps, measured in turns.
struct Comparison {
  explicit Comparison(int r) : ranks(r), seconds(2) {}
  int ranks;
  std::vector<Variant> variants;             ///< the two variants of --compare
  std::vector<SeriesSet> sets;               ///< per variant: all its merge steps
  std::vector<std::vector<double>> seconds;  ///< per variant and repeat: median step time of the slowest rank, s
};

/// Report of a benchmark of merge steps, on one process: prints results as they come, and writes files at the end.
class BenchReport {
 public:
  /// Prints a note if the machine is busy, and the values resolved from input files.
  BenchReport(const BenchOptions& o, const Invocation& in, const BenchProgram& program);
  /// Prints the series of merge steps of a variant, and keeps them for the files.
  void add(SeriesSet set);
  /// Prints the ratio of the merge step times of two variants, with its confidence interval, and keeps both for the files.
  void add(Comparison comparison);
  /// Prints the scaling table and writes the run record and the CSV file. @throws InputError if one cannot be written
  void finish();

 private:
  void print(const SeriesSet& set, const std::string& name, const BenchSeries& s) const;
  void print_scaling() const;
  [[nodiscard]] Json json() const;
  [[nodiscard]] std::string csv() const;

  const BenchOptions& o_;
  const Invocation& in_;
  const BenchProgram& program_;
  bool prints_;
  std::vector<SeriesSet> sets_;
  std::vector<Comparison> comparisons_;
};

}  // namespace merganser::app
