#pragma once
/// bench msf: what follows from measured times, and tables of it for people.
#include <string>
#include <vector>

#include "apps/bench_msf/plan.hpp"

namespace merganser::app {

/// Percent of the time of `before` that `after` saves.
[[nodiscard]] double improvement(double before, double after);

/// One way to find forests: "p2p baseline single".
struct MsfWay {
  std::string model, style, post;
};
[[nodiscard]] std::string text_of(const MsfWay& way);  ///< "p2p tuned", "p2p baseline leader"
/// The published pair: blocking messages and tuned one-sided memory. Beside them what else is compared.
inline const MsfWay kMpi{"p2p", "baseline", "single"};
inline const MsfWay kShmem{"shmem", "tuned", "single"};
inline const MsfWay kMpiTuned{"p2p", "tuned", "single"};
inline const MsfWay kRma{"rma", "tuned", "single"};

/// Looks up times; medians over repeats of the slowest rank.
class MsfTimes {
 public:
  explicit MsfTimes(const MsfResults& results) : results_(results) {}
  /// 0 where it was not measured.
  [[nodiscard]] double seconds(const std::string& graph, const MsfWay& way, int ranks) const;
  [[nodiscard]] std::vector<std::string> graphs() const;
  [[nodiscard]] std::vector<int> ranks() const;

 private:
  const MsfResults& results_;
};

/// What Table 8 says of a graph, for a pair of ways; mean over numbers of ranks above one where both were measured.
struct MsfImprovement {
  std::string graph;
  double percent = 0;
  int cases = 0;
};
[[nodiscard]] std::vector<MsfImprovement> improvements(const MsfResults& results, const MsfWay& before,
                                                       const MsfWay& after);

/// Correlations of improvements with what a graph is; empty for fewer than three graphs.
struct MsfCorrelations {
  double edges = 0;
  double bytes = 0;
  double arcs_per_vertex = 0;
};
[[nodiscard]] std::vector<MsfCorrelations> correlations(const MsfResults& results,
                                                        const std::vector<MsfImprovement>& improvements);

/// The derived numbers of the record: published as printed and recomputed, and those measured.
[[nodiscard]] Json msf_derived_json(const MsfResults& results);

/// All tables that the plan wants, published numbers beside measured ones. @param here  "2 cores, 1 node"
[[nodiscard]] std::string msf_bench_text(const MsfPlan& plan, const MsfResults& results, const std::string& here);

}  // namespace merganser::app
