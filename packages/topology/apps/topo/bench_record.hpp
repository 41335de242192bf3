#pragma once
/// Results of topo bench: joined over launches, written as a run record and as a table of values, and read back.
///
/// A launch hands its results to the process that started it in the record that `topo bench --json` writes; each cell then
/// has the field "joining" too, with what statistics over several launches need. read_results() takes such records only.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// A process graph that was measured, without its arcs.
struct GraphSummary {
  std::string name;
  int ranks = 0;
  std::int64_t arcs = 0;
  double mean_degree = 0;
  int max_degree = 0;
  std::string digest;
  bool weighted = false;
};

/// Measurements of one launch, or of several that were joined. Complete on rank 0 only.
struct BenchResults {
  std::string sync;     ///< word of --sync
  std::string buffers;  ///< word of --buffers
  std::vector<GraphSummary> graphs;
  topology::Measurement measured;  ///< cells refer to `graphs`
  bool oversubscribed = false;
  int ranks = 0;
  int cores = 0;  ///< that all ranks of the busiest node may use together
  std::string control;
  Json surroundings;  ///< environment_json() of rank 0

  /// Joins the results of another launch, or of other kernels of the same launch. Local.
  void merge(const BenchResults& other);
  /// Tells if some cell has an iteration in its statistics.
  [[nodiscard]] bool has_measurement() const;
  /// Says that nothing could be measured, and the first reason.
  [[nodiscard]] std::string why_nothing() const;
};

/// Makes the run record of topo bench and topo replay, with the results under "topology". Local.
/// @param joinable  true: with what read_results() needs
[[nodiscard]] Json bench_record(const Invocation& in, const BenchResults& results, bool joinable = false);
/// Reads the results of one launch from its record. Local.
/// @throws InputError for a cell of a graph that is not there, Json::exception for a record that is not joinable
[[nodiscard]] BenchResults read_results(const Json& record);
/// Makes the list of cells that could not be measured, as records have it.
[[nodiscard]] Json unusable_json(const std::vector<topology::UnusableCell>& unusable);
/// Makes a table of comma-separated values: a line of headings, then a line per cell.
[[nodiscard]] std::string csv_text(const BenchResults& results);
/// Writes a record as write_record() does, with lists of numbers on one line.
void write_compact_record(const std::string& path, const Json& record);
/// Makes the text that write_compact_record() writes.
[[nodiscard]] std::string compact_text(const Json& record);

/// Counts of intervals that hold the median of all launches of their cell, over all cells.
struct Coverage {
  std::int64_t launches = 0;  ///< intervals of one launch, from its rounds
  std::int64_t launches_covered = 0;
  std::int64_t groups = 0;  ///< intervals of ten launches, from their medians; ten are taken from all over the time
  std::int64_t groups_covered = 0;
};
/// Counts the intervals of results of several launches that hold the median of all of them. Local.
[[nodiscard]] Coverage coverage(const BenchResults& results);
/// Computes the standard deviation of the medians of a cell's launches, relative to their mean; 0 for one launch.
[[nodiscard]] double launch_variation(const topology::CellResult& cell);

}  // namespace merganser::app
