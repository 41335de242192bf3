#pragma once
/// What a benchmark prints and writes.
#include <string>
#include <utility>
#include <vector>

#include "apps/bench/bench.hpp"

namespace merganser::app {

/// One way to make a step.
struct Variant {
  std::string label;
  std::string comm;
  MethodOptions method;
};

/// The series of one variant on one number of ranks.
struct SeriesSet {
  SeriesSet(int r, Variant v) : ranks(r), variant(std::move(v)) {}
  int ranks;
  Variant variant;
  std::vector<std::pair<std::string, BenchSeries>> series;
  Json surroundings;  ///< surroundings_json() of the first job that was started to measure; null: this process did
  /// Adds the cycles of another measurement of the same.
  void merge(const SeriesSet& o);
};

/// Two variants measured in turns.
struct Comparison {
  explicit Comparison(int r) : ranks(r), seconds(2) {}
  int ranks;
  std::vector<Variant> variants;
  std::vector<SeriesSet> sets;
  std::vector<std::vector<double>> seconds;  ///< per variant and repeat: median step of the slowest rank
};

/// Prints as results come; writes files at the end. On one process only.
class BenchReport {
 public:
  BenchReport(const BenchOptions& o, const Invocation& in, const BenchProgram& program);
  void add(SeriesSet set);
  void add(Comparison comparison);
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
