#pragma once
/// Which kernel for a process graph and its sizes, in each completion class.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/stats/decision.hpp"
#include "merganser/topology/predict.hpp"

namespace merganser::topology {

inline constexpr const char* kBaseline = "p2p.isend-irecv";

/// One kernel in an advice.
struct AdvisedKernel {
  std::string kernel;
  std::string model;
  Standing standing;  ///< among those of its class
  /// Predicted, not measured: the interval is that of Prediction::kConfidence, and for one launch.
  bool predicted = false;
};

/// The kernels of one completion class for one load, fastest first.
struct ClassAdvice {
  std::string completion;
  std::vector<AdvisedKernel> kernels;
  std::optional<Interval> against_baseline;  ///< of the fastest against p2p.isend-irecv, where that is in the class
  std::vector<std::string> near_ties;        ///< kernels within 5 % of the fastest, or not told apart from it
};

/// Advises from cells of exactly this load. @return classes in the order local, remote, notified, global; those without
/// cells are left out
[[nodiscard]] std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells);

/// Kernels that cannot be predicted, and why.
struct Unknown {
  std::string reason;  ///< with what would have to be measured
  std::vector<std::string> kernels;
  bool all = false;  ///< no kernel can be predicted
};

/// Predictors of all kernels in `cells`. Equal cells of several records are taken as launches.
class Advisor {
 public:
  explicit Advisor(std::span<const KnownCell> cells);
  /// Of those kernels that can be predicted; empty if none can.
  [[nodiscard]] std::vector<ClassAdvice> advise(const Load& load) const;
  /// Why kernels are missing in advise().
  [[nodiscard]] std::vector<Unknown> unknown(const Load& load) const;

 private:
  struct Entry {
    std::string kernel, model, completion;
    KernelModel predictor;
    double own_error;  ///< of the ratio to the other kernels of its class: what is common to all cancels
  };
  std::vector<Entry> entries_;
};

/// How often an advice made without a graph is right on it.
struct Evaluation {
  /// How often, in one completion class.
  struct Score {
    std::string completion;
    int cells = 0;         ///< held-out cells with at least two kernels
    int right = 0;         ///< the advice is the winner, or within 5 % of it
    int p2p_right = 0;     ///< so would be p2p.isend-irecv (in its class), else the fastest kernel of p2p
    int rma_right = 0;     ///< so would be the first kernel of rma of this class
    double mean_loss = 0;  ///< mean of (time of the advice / time of the winner - 1)
  };
  /// Launches that were left out, and how well their medians were predicted.
  struct Coverage {
    int launches = 0;
    int inside = 0;           ///< of the stated interval
    int refused = 0;          ///< not predicted
    double median_error = 0;  ///< absolute and relative
    double p90_error = 0;
    double median_factor = 1;  ///< from the predicted time to either end of its interval
  };
  std::vector<Score> classes;  ///< with graphs left out, or sizes where sizes_left_out
  Score all;
  bool sizes_left_out = false;  ///< there are less than four graphs: three tell of a fourth
  Coverage graphs, sizes;       ///< each graph left out in turn; each size
};
/// Leaves graphs and sizes out in turn; where cells are from several records, what is left out is predicted from the other
/// records, as it would be on another day. @throws UsageError if there is nothing to leave out
[[nodiscard]] Evaluation evaluate_advice(std::span<const KnownCell> cells);

}  // namespace merganser::topology
