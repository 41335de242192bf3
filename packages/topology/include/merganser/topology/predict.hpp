#pragma once
/// Prediction of the time of an exchange on a process graph that was not measured, from measurements of others.
///
/// A kernel's time is o + d (g + s G) on its busiest rank, plus the same over all arcs that share the cores, piecewise in the
/// size s of messages, because libraries change their protocol for long messages. The residuals of similar measured
/// configurations are added. The interval comes from cross-validation, the errors for graphs that were left out; loads too far
/// from all measured ones are refused. Method, limits, accuracy: packages/topology/docs/topology-advice.md.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// Load of an exchange on the ranks and on the machine: the features that a prediction is made from.
struct Load {
  int ranks = 1;          ///< number of ranks of the process graph
  int cores = 1;          ///< number of cores that the ranks share
  double arcs = 0;        ///< number of arcs, of all ranks
  double bytes = 0;       ///< bytes, of all ranks
  double degree = 0;      ///< arcs of the busiest rank, the larger of its out- and in-degree
  double rank_bytes = 0;  ///< bytes of the busiest rank, the larger of those sent and received

  /// Returns the mean number of bytes per arc of the exchange.
  [[nodiscard]] double size() const { return arcs > 0 ? bytes / arcs : 0; }
  /// Returns true if the exchange has more ranks than the machine has cores.
  [[nodiscard]] bool oversubscribed() const { return ranks > cores; }
};
/// Computes the load of a graph whose weights are bytes, on `cores` cores. Local.
[[nodiscard]] Load exchange_load(const graphs::ProcessGraph& graph, int cores);
/// Computes the load of a graph with `bytes` bytes on every arc, on `cores` cores. Local. @throws UsageError if bytes < 0
[[nodiscard]] Load exchange_load(const graphs::ProcessGraph& graph, int cores, double bytes);

/// A measured configuration (kernel, process graph, message size), as input of predictions and advice.
struct KnownCell {
  std::string graph;                          ///< digest, or any other text that is equal for equal graphs
  std::string kernel;                         ///< name, such as "rma.put-flush"
  std::string model;                          ///< communication model, such as "rma"
  std::string completion;                     ///< completion class, such as "remote"
  Load load;                                  ///< ranks, arcs and bytes of the exchange
  std::vector<std::vector<double>> launches;  ///< medians of rounds by launch [ns]
  std::string source = {};                    ///< name of the record that it is from
  double load_per_core = 1;                   ///< runnable processes per core while it was measured

  /// Returns the median of the launches' medians, ns.
  [[nodiscard]] double time() const;
  /// Returns the median of each launch, ns.
  [[nodiscard]] std::vector<double> medians() const;
};
/// Joins configurations of the same kernel, graph and load: their launches become launches of one, at the place of the first.
/// Local.
[[nodiscard]] std::vector<KnownCell> joined(std::span<const KnownCell> cells);

/// Predicted median exchange time of one launch on another occasion, with its interval; filled by KernelModel::predict().
struct Prediction {
  /// Nominal probability with which the two-sided interval of a prediction contains the median exchange time of a new launch.
  static constexpr double kConfidence = 0.90;
  double time = 0;           ///< predicted median exchange time [ns]
  double low = 0, high = 0;  ///< ends of the interval in which the median lies with kConfidence [ns]
  double beyond = 1;         ///< width of the interval relative to that at a measured size and number of ranks, >= 1
};

/// Set of measured loads of exchanges, and the range in which predictions from them hold.
class MeasuredRange {
 public:
  /// Adds the load of a measured exchange.
  void add(const Load& load);
  /// Returns the reasons why no measured load is similar to this one, each with the measurement that would help; empty if one
  /// is.
  [[nodiscard]] std::vector<std::string> misses(const Load& load) const;

 private:
  std::vector<Load> loads_;
};

/// Performance model of one kernel, fitted to its configurations in one or several records. Local.
class KernelModel {
 public:
  /// Fits the performance model of a kernel to its measured cells and estimates its errors by cross-validation.
  /// @throws UsageError without cells, or for one whose time or load is not positive
  explicit KernelModel(std::span<const KnownCell> cells);

  /// Predicts the exchange time of a load, which must be within range: unknown() is empty for it. @throws UsageError for a load
  /// without arcs
  [[nodiscard]] Prediction predict(const Load& load) const;
  /// Returns the reasons why the exchange time of a load cannot be predicted, each with the measurement that would allow it; empty
  /// if it can.
  [[nodiscard]] std::vector<std::string> unknown(const Load& load) const;
  /// Returns the message sizes at which the coefficients change [bytes], ascending.
  [[nodiscard]] const std::vector<double>& breaks() const noexcept { return breaks_; }
  /// Errors log(measured / predicted) of the launches of a configuration that was predicted without its graph, or without its
  /// size where only one graph was measured.
  struct LeftOut {
    std::string graph;
    double size;
    std::vector<double> log_errors;
  };
  /// Returns the errors of the kernel's predictions in cross-validation.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

 private:
  static constexpr std::size_t kFeatures = 5;
  using Coefficients = std::array<double, kFeatures>;
  /// Deviation of one measured configuration from the piecewise fit.
  struct Residual {
    Load load;         ///< load of the configuration
    double log_ratio;  ///< log(measured / fitted)
  };

  /// Attribute by which configurations are grouped for cross-validation: a fold has one value of it.
  enum class Fold : std::uint8_t { graph, size, ranks, record };
  static std::string fold_key(Fold kind, const KnownCell& cell);
  /// Half the width of an interval, as a logarithm, for loads whose ranks have their own cores and for those whose ranks share
  /// them; infinite where there were too few folds.
  using HalfWidths = std::array<double, 2>;
  std::vector<LeftOut> cross_validate(std::span<const KnownCell> cells, Fold kind, HalfWidths& reach);
  void set_occasion_error(std::span<const KnownCell> cells);
  template <class Alike>
  [[nodiscard]] bool has_measured(const Alike& alike) const;
  [[nodiscard]] bool has_measured_size(const Load& load) const;
  [[nodiscard]] double base_half_width(const Load& load) const;
  [[nodiscard]] double half_width(const Load& load) const;
  [[nodiscard]] std::string describe_too_wide(const Load& load) const;
  void fit(std::span<const KnownCell> cells);
  [[nodiscard]] double fitted(const Load& load) const;
  [[nodiscard]] double corrected(const Load& load) const;

  std::vector<double> breaks_;        // message sizes between pieces, bytes, ascending
  std::vector<Coefficients> pieces_;  // one more than breaks
  std::vector<Residual> residuals_;   // by measured configuration
  std::vector<LeftOut> left_out_;     // errors of cross-validation
  MeasuredRange range_;               // measured loads
  // Half widths for another graph, another size, another number of ranks, another record.
  HalfWidths graph_reach_{}, size_reach_{}, ranks_reach_{}, record_reach_{};
  double occasion_ = 0;  // relative deviation that is assumed between occasions
};

}  // namespace merganser::topology
