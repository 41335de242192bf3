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

/// Kernel that savings are told against.
inline constexpr const char* kBaseline = "p2p.isend-irecv";

/// One kernel in an advice.
struct AdvisedKernel {
  std::string kernel;
  std::string model;
  Standing standing;       ///< among those of its class
  bool predicted = false;  ///< not measured: the interval is that of Prediction::kConfidence, and for one launch
};

/// The kernels of one completion class for one load, fastest first.
struct ClassAdvice {
  std::string completion;
  std::vector<AdvisedKernel> kernels;
  std::optional<Interval> against_baseline;  ///< of the fastest against p2p.isend-irecv, where that is in the class
  std::vector<std::string> near_ties;        ///< kernels within 5 % of the fastest, or not told apart from it
};

/// Ranks the measured kernels of each completion class.
/// @param cells  all of one load, each kernel once
/// @return classes in the order local, remote, notified, global; those without cells are left out
[[nodiscard]] std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells);

/// A reason for which kernels cannot be predicted.
struct Unknown {
  std::string reason;  ///< with what would have to be measured
  std::vector<std::string> kernels;
  bool all = false;  ///< no kernel can be predicted
};

/// Ranks kernels for loads that were not measured, from models of their times.
class Advisor {
 public:
  /// Fits a model for each kernel. Equal cells of several records are taken as launches of one.
  /// @throws UsageError without cells, or as KernelModel
  explicit Advisor(std::span<const KnownCell> cells);
  /// Ranks the kernels that can be predicted, as advise_measured(); empty if none can.
  [[nodiscard]] std::vector<ClassAdvice> advise(const Load& load) const;
  /// Returns the reasons for which advise() leaves kernels out; empty if it leaves out none.
  [[nodiscard]] std::vector<Unknown> unknown(const Load& load) const;

 private:
  struct Entry {
    std::string kernel, model, completion;
    KernelModel predictor;
    double own_error;  ///< of the ratio to the other kernels of its class: what is common to all cancels
  };
  std::vector<Entry> entries_;
};

/// Quality of advice on measured cells that it was not made from.
struct Evaluation {
  /// Counts of held-out cells in one completion class.
  struct Score {
    std::string completion;
    int cells = 0;         ///< held-out cells with at least two kernels
    int right = 0;         ///< the advice is the winner, or within 5 % of it
    int p2p_right = 0;     ///< p2p.isend-irecv (else the first kernel of p2p) is that good
    int rma_right = 0;     ///< the first kernel of rma is that good
    double mean_loss = 0;  ///< mean of (time of the advice / time of the winner - 1)
  };
  /// Held-out launches, and the errors of their predicted medians.
  struct Coverage {
    int launches = 0;
    int inside = 0;            ///< in the stated interval
    int refused = 0;           ///< not predicted
    double median_error = 0;   ///< absolute value of the relative error
    double p90_error = 0;      ///< its 0.9-quantile
    double median_factor = 1;  ///< from the predicted time to either end of its interval
  };
  std::vector<Score> classes;  ///< with graphs left out, or sizes where sizes_left_out
  Score all;
  bool sizes_left_out = false;  ///< there are fewer than four graphs
  Coverage graphs;              ///< with each graph left out in turn
  Coverage sizes;               ///< with each size left out in turn
};
/// Evaluates advice and predictions on cells, leaving each graph and each size out in turn. Of several records, what is left
/// out is predicted from the others only, as it would be on another day.
/// @throws UsageError for fewer than four graphs with one size
[[nodiscard]] Evaluation evaluate_advice(std::span<const KnownCell> cells);

}  // namespace merganser::topology
