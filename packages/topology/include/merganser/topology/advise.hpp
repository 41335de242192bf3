#pragma once
/// Advice on the fastest kernel for a process graph and its sizes, measured or predicted, with its probability.
///
/// Kernels are compared within a completion class only: a call that promises less is faster and no replacement.
/// All functions are local.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/stats/decision.hpp"
#include "merganser/topology/predict.hpp"

namespace merganser::topology {

/// Exchange kernel against which savings of time are reported: two-sided messages.
inline constexpr const char* kBaseline = "p2p.isend-irecv";

/// One exchange kernel in the advice on a process graph.
struct AdvisedKernel {
  std::string kernel;      ///< name, such as "rma.put-flush"
  std::string model;       ///< communication model, such as "rma"
  Standing standing;       ///< time, probability and saving among the kernels of its completion class
  bool predicted = false;  ///< not measured: the interval is that of Prediction::kConfidence, and for one launch
};

/// Ranking of the exchange kernels of one completion class for one load, fastest first.
struct ClassAdvice {
  std::string completion;              ///< "local", "remote", "notified" or "global"
  std::vector<AdvisedKernel> kernels;  ///< fastest first, at least one
  std::optional<Interval>
      against_baseline;                ///< share of time that the fastest saves against kBaseline, if in the class
  std::vector<std::string> near_ties;  ///< kernels within 5 % of the fastest, or not told apart from it
};

/// Ranks the measured exchange kernels of each completion class by time, with the probability of each to be the fastest.
/// Local.
/// @param cells  measurements of one load (graph, sizes, ranks), each kernel once
/// @return classes in the order local, remote, notified, global; those without cells are left out
[[nodiscard]] std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells);

/// A reason for which exchange kernels cannot be predicted for a load, filled by Advisor::unknown().
struct Unknown {
  std::string reason;                ///< with what would have to be measured
  std::vector<std::string> kernels;  ///< names of the kernels that it holds for
  bool all = false;                  ///< true: it holds for every kernel
};

/// Advisor on exchange kernels for loads that were not measured, from performance models of their times.
class Advisor {
 public:
  /// Fits a performance model for each kernel. Equal cells of several records are taken as launches of one.
  /// @throws UsageError without cells, or as KernelModel
  explicit Advisor(std::span<const KnownCell> cells);
  /// Ranks the kernels that can be predicted, as advise_measured(); empty if none can.
  [[nodiscard]] std::vector<ClassAdvice> advise(const Load& load) const;
  /// Returns the reasons for which advise() leaves kernels out; empty if it leaves out none.
  [[nodiscard]] std::vector<Unknown> unknown(const Load& load) const;

 private:
  /// One kernel with its fitted performance model.
  struct Entry {
    std::string kernel, model, completion;
    KernelModel predictor;
    double
        own_error;  ///< relative error of the ratio of its time to the other kernels of its class: what is common to all cancels
  };
  std::vector<Entry> entries_;
};

/// Quality of advice on exchange kernels, on measured cells that it was not made from; filled by evaluate_advice().
struct Evaluation {
  /// Score of advice in one completion class, or in all: counts of held-out cells (graph and size).
  struct Score {
    std::string completion;  ///< name of the class, or "all"
    int cells = 0;           ///< held-out cells with at least two kernels
    int right = 0;           ///< the advice is the winner, or within 5 % of it
    int p2p_right = 0;       ///< p2p.isend-irecv (else the first kernel of p2p) is within 5 % of the winner
    int rma_right = 0;       ///< the first kernel of rma is within 5 % of the winner
    double mean_loss = 0;    ///< mean of (time of the advice / time of the winner - 1)
  };
  /// Coverage of predicted intervals: counts of held-out launches, and the errors of their predicted medians.
  struct Coverage {
    int launches = 0;          ///< number of launches that were predicted
    int inside = 0;            ///< launches whose median is in the predicted interval
    int refused = 0;           ///< launches that were not predicted
    double median_error = 0;   ///< median over launches of the absolute relative error
    double p90_error = 0;      ///< 0.9-quantile of the absolute relative error
    double median_factor = 1;  ///< median factor from the predicted time to either end of its interval
  };
  std::vector<Score> classes;   ///< with graphs left out, or sizes where sizes_left_out
  Score all;                    ///< sums over completion classes
  bool sizes_left_out = false;  ///< true: fewer than four graphs were measured, so scores are with sizes left out
  Coverage graphs;              ///< with each graph left out in turn
  Coverage sizes;               ///< with each size left out in turn
};
/// Evaluates advice and predictions on cells, leaving each graph and each size out in turn. Of several records, what is left
/// out is predicted from the others only, as it would be on another day.
/// @throws UsageError for fewer than four graphs with one size
[[nodiscard]] Evaluation evaluate_advice(std::span<const KnownCell> cells);

}  // namespace merganser::topology
