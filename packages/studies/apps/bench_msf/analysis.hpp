#pragma once
/// Analysis of the results of bench msf, the study of spanning forests by communication model, and their tables.
#include <string>
#include <vector>

#include "apps/bench_msf/plan.hpp"

namespace merganser::app {

/// Returns the share of the time `before` that `after` saves, two times of finding a forest, in percent: negative if
/// `after` is the longer time.
[[nodiscard]] double improvement(double before, double after);

/// Method of finding spanning forests: model, style and post-processing, as in "p2p baseline single".
struct MsfWay {
  std::string model;  ///< communication model: "p2p", "shmem", ...
  std::string style;  ///< "baseline" or "tuned"
  std::string post;   ///< post-processing: "single" or "leader"
};
/// Formats a method of finding forests, without the default post-processing: "p2p tuned", "p2p baseline leader". Local.
[[nodiscard]] std::string format_method(const MsfWay& way);
/// Methods of finding forests that are compared. The published pair is kMpi, blocking messages, and kShmem, tuned one-sided memory;
/// the others are compared in addition.
inline const MsfWay kMpi{"p2p", "baseline", "single"};
inline const MsfWay kShmem{"shmem", "tuned", "single"};
inline const MsfWay kMpiTuned{"p2p", "tuned", "single"};
inline const MsfWay kRma{"rma", "tuned", "single"};

/// Access to the times of spanning forests by graph, method and ranks: medians over repeats of the slowest rank, s.
class MsfTimes {
 public:
  /// Refers to the results of bench msf, which must outlive this.
  explicit MsfTimes(const MsfResults& results) : results_(results) {}
  /// Returns the median time of finding the forest of a graph by a method on `ranks` ranks, s; 0 where it was not measured.
  [[nodiscard]] double seconds(const std::string& graph, const MsfWay& way, int ranks) const;
  /// Returns the names of the graphs whose forests were measured, in the order of the results.
  [[nodiscard]] std::vector<std::string> graphs() const;
  /// Returns the numbers of ranks on which forests were measured, ascending.
  [[nodiscard]] std::vector<int> ranks() const;

 private:
  const MsfResults& results_;
};

/// Improvement of one method of finding forests over another on one graph, as in Table 8 of [ing2021]: mean over the numbers of
/// ranks above one where both methods were measured.
struct MsfImprovement {
  std::string graph;   ///< name of the graph
  double percent = 0;  ///< time saved by the second method, percent of the first
  int cases = 0;       ///< numbers of ranks that the mean is over
};
/// Computes the improvement of the method `after` over `before` on every graph of bench msf. Local.
[[nodiscard]] std::vector<MsfImprovement> improvements(const MsfResults& results, const MsfWay& before,
                                                       const MsfWay& after);

/// Pearson correlations, over graphs, of the time saved with properties of the graphs; filled by correlations().
struct MsfCorrelations {
  double edges = 0;            ///< with the number of edges
  double bytes = 0;            ///< with the size of the edges in memory
  double arcs_per_vertex = 0;  ///< with the mean number of arcs per vertex
};
/// Computes the correlations of improvements with properties of the graphs, as one entry; empty for fewer than three graphs. Local.
[[nodiscard]] std::vector<MsfCorrelations> correlations(const MsfResults& results,
                                                        const std::vector<MsfImprovement>& improvements);

/// Makes the object "derived" in the record of bench msf: published ones as printed and recomputed, and those of the measured
/// times. Local.
[[nodiscard]] Json msf_derived_json(const MsfResults& results);

/// Formats all tables of bench msf that the plan has, published numbers beside measured ones. Local. @param here  "2 cores, 1 node"
[[nodiscard]] std::string msf_bench_text(const MsfPlan& plan, const MsfResults& results, const std::string& here);

}  // namespace merganser::app
