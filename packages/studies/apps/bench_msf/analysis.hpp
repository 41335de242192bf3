#pragma once
/// Analysis of the results of bench msf, and their tables.
#include <string>
#include <vector>

#include "apps/bench_msf/plan.hpp"

namespace merganser::app {

/// Returns the share of the time `before` that `after` saves, two times of finding a forest, in percent: negative if
/// `after` is the longer time.
[[nodiscard]] double improvement(double before, double after);

/// Method of finding forests: model, style and post-processing, as in "p2p baseline single".
struct MsfWay {
  std::string model, style, post;
};
/// Formats a method without the default post-processing: "p2p tuned", "p2p baseline leader". Local.
[[nodiscard]] std::string format_method(const MsfWay& way);
/// The published pair is kMpi, blocking messages, and kShmem, tuned one-sided memory; the others are compared in addition.
inline const MsfWay kMpi{"p2p", "baseline", "single"};
inline const MsfWay kShmem{"shmem", "tuned", "single"};
inline const MsfWay kMpiTuned{"p2p", "tuned", "single"};
inline const MsfWay kRma{"rma", "tuned", "single"};

/// Access to times by graph, method and ranks: medians over repeats of the slowest rank, s.
class MsfTimes {
 public:
  explicit MsfTimes(const MsfResults& results) : results_(results) {}
  /// Returns the time of a method on a graph with `ranks` ranks in seconds; 0 where it was not measured.
  [[nodiscard]] double seconds(const std::string& graph, const MsfWay& way, int ranks) const;
  /// Returns the names of the graphs, in the order of the results.
  [[nodiscard]] std::vector<std::string> graphs() const;
  /// Returns the numbers of ranks, ascending.
  [[nodiscard]] std::vector<int> ranks() const;

 private:
  const MsfResults& results_;
};

/// Improvement on one graph as in Table 8: mean over the numbers of ranks above one where both methods were measured.
struct MsfImprovement {
  std::string graph;
  double percent = 0;  ///< time saved by the second method, percent of the first
  int cases = 0;       ///< numbers of ranks that the mean is over
};
/// Computes the improvement of `after` over `before` on every graph. Local.
[[nodiscard]] std::vector<MsfImprovement> improvements(const MsfResults& results, const MsfWay& before,
                                                       const MsfWay& after);

/// Pearson correlations of improvements with properties of the graphs.
struct MsfCorrelations {
  double edges = 0;
  double bytes = 0;
  double arcs_per_vertex = 0;
};
/// Computes the correlations over graphs; empty for fewer than three graphs. Local.
[[nodiscard]] std::vector<MsfCorrelations> correlations(const MsfResults& results,
                                                        const std::vector<MsfImprovement>& improvements);

/// Returns the derived numbers of the record: published ones as printed and recomputed, and those of the measured times. Local.
[[nodiscard]] Json msf_derived_json(const MsfResults& results);

/// Formats all tables that the plan has, published numbers beside measured ones. Local. @param here  "2 cores, 1 node"
[[nodiscard]] std::string msf_bench_text(const MsfPlan& plan, const MsfResults& results, const std::string& here);

}  // namespace merganser::app
