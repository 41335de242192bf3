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

/// Properties of a process graph that topo bench measured, without its arcs.
struct GraphSummary {
  std::string name;        ///< kind or path, as given to --graph
  int ranks = 0;           ///< number of ranks of the process graph
  std::int64_t arcs = 0;   ///< number of arcs of the process graph
  double mean_degree = 0;  ///< arcs of the process graph per rank
  int max_degree = 0;      ///< largest out-degree of a rank
  std::string digest;      ///< hash of the arcs and their weights
  bool weighted = false;   ///< true: the arcs have weights, in bytes
};

/// Results of topo bench: of one launch, filled by measure_here(), or of several joined by merge(). Complete on rank 0 only.
struct BenchResults {
  std::string sync;                  ///< word of --sync: synchronisation before an iteration
  std::string buffers;               ///< word of --buffers: state of the caches
  std::vector<GraphSummary> graphs;  ///< process graphs, in the order of --graph
  topology::Measurement measured;    ///< times; its cells have indices into `graphs`
  bool oversubscribed = false;       ///< true: the busiest host has fewer cores than ranks
  int ranks = 0;                     ///< number of ranks of the job
  int cores = 0;                     ///< cores that all ranks of the busiest host may use together
  std::string control;               ///< name of the model in which the benchmark itself communicates
  Json surroundings;                 ///< environment_json() of rank 0

  /// Joins the results of another launch, or of other kernels of the same launch. Local.
  void merge(const BenchResults& other);
  /// Returns true if some measured cell (kernel, graph, size) has an iteration in its statistics.
  [[nodiscard]] bool has_measurement() const;
  /// Makes the message that topo bench could measure no cell, with the reason of the first.
  [[nodiscard]] std::string why_nothing() const;
};

/// Makes the run record of topo bench and topo replay, with the results under "topology". Local.
/// @param joinable  true: with what read_results() needs
[[nodiscard]] Json bench_record(const Invocation& in, const BenchResults& results, bool joinable = false);
/// Restores the results of one launch of topo bench from its joinable record. Local.
/// @throws InputError for a cell of a graph that is not there, Json::exception for a record that is not joinable
[[nodiscard]] BenchResults read_results(const Json& record);
/// Makes the list "unusable" of a record of topo bench: kernels, graphs and sizes that could not be measured, with reasons.
[[nodiscard]] Json unusable_json(const std::vector<topology::UnusableCell>& unusable);
/// Makes the table of topo bench --csv: comma-separated values, a line of headings, then a line per measured cell.
[[nodiscard]] std::string csv_text(const BenchResults& results);
/// Writes a run record as JSON to a file ("-": standard output), indented, with each list of numbers on one line.
void write_compact_record(const std::string& path, const Json& record);
/// Formats a run record as indented JSON with each list of numbers on one line.
[[nodiscard]] std::string compact_text(const Json& record);

/// Coverage of the intervals of topo bench over all cells: how many hold the median of all launches; filled by coverage().
struct Coverage {
  std::int64_t launches = 0;          ///< intervals of one launch, from its rounds
  std::int64_t launches_covered = 0;  ///< those of `launches` that hold the median of all launches
  std::int64_t groups = 0;  ///< intervals of ten launches, from their medians; ten are taken from all over the time
  std::int64_t groups_covered = 0;  ///< those of `groups` that hold the median of all launches
};
/// Counts the confidence intervals of joined launches of topo bench that hold the median of all launches of their cell. Local.
[[nodiscard]] Coverage coverage(const BenchResults& results);
/// Computes the coefficient of variation of a cell over launches: standard deviation of their medians over their mean; 0 for one.
[[nodiscard]] double launch_variation(const topology::CellResult& cell);

}  // namespace merganser::app
