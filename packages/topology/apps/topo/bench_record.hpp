#pragma once
/// Results of topo bench: record, table of values, merging of launches.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

struct GraphSummary {
  std::string name;
  int ranks = 0;
  std::int64_t arcs = 0;
  double mean_degree = 0;
  int max_degree = 0;
  std::string digest;
  bool weighted = false;
};

/// What one launch, or several, have measured.
struct BenchResults {
  topology::Sync sync = topology::Sync::dissemination;
  topology::Buffers buffers = topology::Buffers::warm;
  std::vector<GraphSummary> graphs;
  topology::Measurement measured;  ///< cells refer to `graphs`
  bool oversubscribed = false;
  int ranks = 0;
  int cores = 0;  ///< that all ranks of the busiest node may use together
  std::string control;
  Json surroundings;  ///< surroundings_json() of rank 0

  /// Joins the results of another launch, or of other kernels of the same launch.
  void merge(const BenchResults& other);
};

/// As users read it in a record.
[[nodiscard]] Json to_json(const BenchResults& results);
/// All of it, for merging, and the results again.
[[nodiscard]] Json whole_json(const BenchResults& results);
[[nodiscard]] BenchResults bench_results_of(const Json& json);
[[nodiscard]] Json unusable_json(const std::vector<topology::UnusableCell>& unusable);
/// One line per cell, with headings.
[[nodiscard]] std::string csv_text(const BenchResults& results);
/// As write_record, with lists of numbers on one line.
void write_compact_record(const std::string& path, const Json& record);
[[nodiscard]] std::string compact_text(const Json& record);

/// How many intervals hold what they are intervals of: the median of the cell's launches, over all cells.
struct Coverage {
  std::int64_t launches = 0;  ///< intervals of one launch, from its rounds
  std::int64_t launches_covered = 0;
  std::int64_t groups = 0;  ///< intervals of ten launches, from their medians; ten are taken from all over the time
  std::int64_t groups_covered = 0;
};
[[nodiscard]] Coverage coverage(const BenchResults& results);
/// Standard deviation over mean of the launches' medians.
[[nodiscard]] double launch_variation(const topology::CellResult& cell);

}  // namespace merganser::app
