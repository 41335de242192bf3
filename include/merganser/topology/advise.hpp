#pragma once
/// Which kernel for a process graph and its sizes, in each completion class.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/decision.hpp"
#include "merganser/topology/predict.hpp"

namespace merganser::topology {

inline constexpr const char* kBaseline = "p2p.isend-irecv";

/// One kernel in an advice.
struct AdvisedKernel {
  std::string kernel;
  std::string model;
  Standing standing;  ///< among those of its class
  bool predicted = false;
  double error = 0;  ///< relative standard error of the prediction
};

/// The kernels of one completion class for one load, fastest first.
struct ClassAdvice {
  std::string completion;
  std::vector<AdvisedKernel> kernels;
  std::optional<Saving> against_baseline;  ///< of the fastest against p2p.isend-irecv, where that is in the class
  std::vector<std::string> near_ties;      ///< kernels that are as good as the fastest
};

/// Advises from cells of exactly this load. @return classes in the order local, remote, notified, global; those without
/// cells are left out
[[nodiscard]] std::vector<ClassAdvice> advise_measured(std::span<const KnownCell> cells);

/// Predictors of all kernels in `cells`.
class Advisor {
 public:
  explicit Advisor(std::span<const KnownCell> cells);
  [[nodiscard]] std::vector<ClassAdvice> advise(const Load& load) const;
  /// What is doubtful about a prediction for this load, in words.
  [[nodiscard]] std::vector<std::string> doubts(const Load& load) const;

 private:
  struct Entry {
    std::string kernel, model, completion;
    KernelModel predictor;
    double own_error;  ///< of the ratio to the other kernels of its class: what is common to all cancels
  };
  std::vector<Entry> entries_;
  int least_ranks_ = 0, most_ranks_ = 0;
  bool crowded_ = false, roomy_ = false;
  std::size_t graphs_ = 0;
};

/// How often an advice made without a graph is right on it.
struct Evaluation {
  struct Score {
    std::string completion;
    int cells = 0;         ///< held-out cells with at least two kernels
    int right = 0;         ///< the advice is the winner, or within 5 % of it
    int p2p_right = 0;     ///< so would be p2p.isend-irecv (in its class), else the fastest kernel of p2p
    int rma_right = 0;     ///< so would be the first kernel of rma of this class
    double mean_loss = 0;  ///< mean of (time of the advice / time of the winner - 1)
  };
  std::vector<Score> classes;
  Score all;
  double median_error = 0;  ///< of predicted times, absolute and relative
  double p90_error = 0;
  bool sizes_left_out = false;  ///< there is one graph only: sizes were left out instead
};
/// @throws UsageError if there is nothing to leave out
[[nodiscard]] Evaluation evaluate_advice(std::span<const KnownCell> cells);

}  // namespace merganser::topology
