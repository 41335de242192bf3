#pragma once
/// The time of an exchange on a process graph that was not measured, from those that were.
///
/// A kernel's time is o + d (g + s G) on its busiest rank, plus the same over all arcs that share the cores, piecewise
/// in the size s of messages: libraries change their protocol where messages become long. What the measured cells near by
/// say beyond that is added. How far off that is, is what it was off for graphs that were left out; what is too far from
/// all that was measured is refused. Method, limits and how well it does: packages/topology/docs/topology-advice.md.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// What an exchange asks of the ranks and of the machine.
struct Load {
  int ranks = 1;
  int cores = 1;
  double arcs = 0;        ///< of all ranks
  double bytes = 0;       ///< of all ranks
  double degree = 0;      ///< arcs of the busiest rank, the larger of those out and in
  double rank_bytes = 0;  ///< bytes of the busiest rank, the larger of those out and in

  [[nodiscard]] double size() const { return arcs > 0 ? bytes / arcs : 0; }  ///< bytes per arc, the mean
  /// True if ranks share cores.
  [[nodiscard]] bool oversubscribed() const { return ranks > cores; }
};
/// The load of a graph whose weights are bytes.
[[nodiscard]] Load load_of(const graphs::ProcessGraph& graph, int cores);
/// The load of a graph with `bytes` on every arc.
[[nodiscard]] Load load_of(const graphs::ProcessGraph& graph, int cores, double bytes);

/// A measured cell.
struct KnownCell {
  std::string graph;   ///< digest, or whatever tells graphs apart
  std::string kernel;  ///< "rma.put-flush"
  std::string model;
  std::string completion;
  Load load;
  std::vector<std::vector<double>> launches;  ///< medians of rounds by launch [ns]
  std::string source = {};                    ///< record that it is from
  double load_per_core = 1;                   ///< processes that waited for a core while it was measured, per core

  [[nodiscard]] double time() const;                  ///< median of the launches' medians
  [[nodiscard]] std::vector<double> medians() const;  ///< median of each launch
};
/// Cells of the same kernel, graph and load become launches of one. Local; keeps the order of the first of each.
[[nodiscard]] std::vector<KnownCell> joined(std::span<const KnownCell> cells);

/// Of what the median of one launch will be, on another occasion.
struct Prediction {
  static constexpr double kConfidence = 0.90;
  double time = 0;           ///< [ns]
  double low = 0, high = 0;  ///< between which it lies with kConfidence [ns]
  double beyond = 1;         ///< times by which the interval is wider than at a measured size and number of ranks
};

/// What loads were measured.
class MeasuredRange {
 public:
  /// Notes a load that was measured.
  void add(const Load& load);
  /// Why nothing measured is like a load, each reason with what would have to be measured; empty if something is.
  [[nodiscard]] std::vector<std::string> misses(const Load& load) const;

 private:
  std::vector<Load> loads_;
};

/// Predicts one kernel. Made from its cells, of one record or several.
class KernelModel {
 public:
  /// @throws UsageError without cells, or for one whose time or load is not positive
  explicit KernelModel(std::span<const KnownCell> cells);

  /// Whether the load can be predicted or not is told by unknown(). @throws UsageError for a load without arcs
  [[nodiscard]] Prediction predict(const Load& load) const;
  /// Why a load cannot be predicted, each reason with what measurement would allow it; empty if it can.
  [[nodiscard]] std::vector<std::string> unknown(const Load& load) const;
  /// Sizes from which on other coefficients hold [bytes].
  [[nodiscard]] const std::vector<double>& breaks() const noexcept { return breaks_; }
  /// log(measured / predicted) of the launches of a cell, predicted without its graph, or without its size where only one
  /// graph is known.
  struct LeftOut {
    std::string graph;
    double size;
    std::vector<double> log_errors;
  };
  /// What is known of the errors of predictions.
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

 private:
  static constexpr std::size_t kFeatures = 5;
  using Coefficients = std::array<double, kFeatures>;
  struct Residual {
    Load load;
    double log_ratio;  ///< measured / fitted
  };

  /// What is left out together, and is the same in a load and a measured cell.
  enum class Fold : std::uint8_t { graph, size, ranks, record };
  static std::string fold_of(Fold kind, const KnownCell& cell);
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
  // For another graph, another size, another number of ranks, another day.
  Reach graph_reach_{}, size_reach_{}, ranks_reach_{}, record_reach_{};
  double occasion_ = 0;  // relative deviation that is assumed between days
};

}  // namespace merganser::topology
