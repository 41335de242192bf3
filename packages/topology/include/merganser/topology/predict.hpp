#pragma once
/// Prediction of the time of an exchange on a process graph, from measurements on others.
///
/// A kernel's time is o + d (g + s G) on its busiest rank, plus the same over all arcs that share the cores, piecewise
/// in the size s of messages: libraries change their protocol where messages become long. The residuals of measured cells
/// near by are added. The interval is that of the errors for graphs that were left out; a load too far from all measured
/// ones is refused. Method, limits and quality: packages/topology/docs/topology-advice.md. All functions are local.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// Work that an exchange puts on the ranks and on the machine.
struct Load {
  int ranks = 1;
  int cores = 1;
  double arcs = 0;        ///< of all ranks
  double bytes = 0;       ///< of all ranks
  double degree = 0;      ///< arcs of the busiest rank, the larger of those out and in
  double rank_bytes = 0;  ///< bytes of the busiest rank, the larger of those out and in

  /// Returns the mean of the bytes along an arc; 0 without arcs.
  [[nodiscard]] double size() const { return arcs > 0 ? bytes / arcs : 0; }
  /// Tells if ranks share cores.
  [[nodiscard]] bool oversubscribed() const { return ranks > cores; }
};
/// Computes the load of an exchange on a graph whose weights are bytes.
[[nodiscard]] Load exchange_load(const graphs::ProcessGraph& graph, int cores);
/// Computes the load of an exchange of `bytes` along every arc of a graph. @throws UsageError for less than 0 bytes
[[nodiscard]] Load exchange_load(const graphs::ProcessGraph& graph, int cores, double bytes);

/// A measured cell: one kernel on one graph with one size of messages.
struct KnownCell {
  std::string graph;   ///< digest, or whatever tells graphs apart
  std::string kernel;  ///< "rma.put-flush"
  std::string model;
  std::string completion;
  Load load;
  std::vector<std::vector<double>> launches;  ///< medians of rounds by launch [ns]
  std::string source = {};                    ///< record that it is from
  double load_per_core = 1;                   ///< processes that waited for a core while it was measured, per core

  /// Returns the median of medians().
  [[nodiscard]] double time() const;
  /// Returns the median of each launch.
  [[nodiscard]] std::vector<double> medians() const;
};
/// Joins cells of the same kernel, graph and load into one with the launches of all; keeps the order of the first of each.
[[nodiscard]] std::vector<KnownCell> joined(std::span<const KnownCell> cells);

/// Predicted median of one launch on another occasion.
struct Prediction {
  static constexpr double kConfidence = 0.90;
  double time = 0;    ///< [ns]
  double low = 0;     ///< lower end of the interval that holds it with kConfidence [ns]
  double high = 0;    ///< upper end [ns]
  double beyond = 1;  ///< factor by which the interval is wider than at a measured size and number of ranks
};

/// Loads that were measured, and so those near enough to be predicted.
class MeasuredRange {
 public:
  /// Notes a load that was measured.
  void add(const Load& load);
  /// Returns the ways in which a load is too far from all measured ones, each with what would have to be measured; empty if it
  /// is near enough.
  [[nodiscard]] std::vector<std::string> misses(const Load& load) const;

 private:
  std::vector<Load> loads_;
};

/// Model of the time of one kernel.
class KernelModel {
 public:
  /// Fits the model to the cells of a kernel, of one record or several.
  /// @throws UsageError without cells, or for one whose time or load is not positive
  explicit KernelModel(std::span<const KnownCell> cells);

  /// Predicts the time for a load, also for one that unknown() refuses. @throws UsageError for a load without arcs
  [[nodiscard]] Prediction predict(const Load& load) const;
  /// Returns the reasons for which a load cannot be predicted, each with what would have to be measured; empty if it can.
  [[nodiscard]] std::vector<std::string> unknown(const Load& load) const;
  /// Returns the sizes from which on other coefficients hold [bytes].
  [[nodiscard]] const std::vector<double>& breaks() const noexcept { return breaks_; }
  /// Errors of a cell that was predicted without its graph, or without its size where only one graph is known.
  struct LeftOut {
    std::string graph;
    double size;
    std::vector<double> log_errors;  ///< log(measured / predicted) of its launches
  };
  /// Returns the errors of all cells that could be predicted without their fold.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

 private:
  static constexpr std::size_t kFeatures = 5;
  using Coefficients = std::array<double, kFeatures>;
  struct Residual {
    Load load;
    double log_ratio;  ///< measured / fitted
  };

  /// Property whose equal values are left out together.
  enum class Fold : std::uint8_t { graph, size, ranks, record };
  static std::string fold_key(Fold kind, const KnownCell& cell);
  /// Half the width of an interval, as a logarithm, for loads whose ranks have their own cores and for those whose ranks
  /// share them; infinite where too little could be left out.
  using Reach = std::array<double, 2>;
  std::vector<LeftOut> leave_out(std::span<const KnownCell> cells, Fold kind, Reach& reach);
  void assume_occasions(std::span<const KnownCell> cells);
  template <class Alike>
  [[nodiscard]] bool measured(const Alike& alike) const;
  [[nodiscard]] double least_reach(const Load& load) const;
  [[nodiscard]] double reach(const Load& load) const;
  [[nodiscard]] std::string why_too_wide(const Load& load) const;
  void fit(std::span<const KnownCell> cells);
  [[nodiscard]] double fitted(const Load& load) const;
  [[nodiscard]] double corrected(const Load& load) const;

  std::vector<double> breaks_;
  std::vector<Coefficients> pieces_;
  std::vector<Residual> residuals_;
  std::vector<LeftOut> left_out_;
  MeasuredRange range_;
  // By what is new in a load: its graph, its size, its number of ranks, the day.
  Reach graph_reach_{}, size_reach_{}, ranks_reach_{}, record_reach_{};
  double occasion_ = 0;  // relative deviation that is assumed between days
};

}  // namespace merganser::topology
