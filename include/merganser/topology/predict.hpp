#pragma once
/// The time of an exchange on a process graph that was not measured, from those that were.
///
/// A kernel's time is o + d (g + s G) on its busiest rank, plus the same over all arcs that share the cores, piecewise
/// in the size s of messages: libraries change their protocol where messages become long. What the measured cells near by
/// say beyond that is added. Method, limits and how well it does: docs/topology-advice.md.
#include <array>
#include <span>
#include <string>
#include <vector>

#include "merganser/topology/process_graph.hpp"

namespace merganser::topology {

/// What an exchange asks of the ranks and of the machine.
struct Load {
  int ranks = 1;
  int cores = 1;
  double arcs = 0;        ///< of all ranks
  double bytes = 0;       ///< of all ranks
  double degree = 0;      ///< arcs of the busiest rank, the larger of those out and in
  double rank_bytes = 0;  ///< bytes of the busiest rank, the larger of those out and in

  [[nodiscard]] double size() const { return arcs > 0 ? bytes / arcs : 0; }  ///< mean, per arc
  [[nodiscard]] bool oversubscribed() const { return ranks > cores; }
};
/// The load of a graph whose weights are bytes.
[[nodiscard]] Load load_of(const ProcessGraph& graph, int cores);
/// The load of a graph with `bytes` on every arc.
[[nodiscard]] Load load_of(const ProcessGraph& graph, int cores, double bytes);

/// A measured cell.
struct KnownCell {
  std::string graph;   ///< digest, or whatever tells graphs apart
  std::string kernel;  ///< "rma.put-flush"
  std::string model;
  std::string completion;
  Load load;
  std::vector<std::vector<double>> launches;  ///< medians of rounds by launch [ns]
  [[nodiscard]] double time() const;          ///< median of the launches' medians
};

struct Prediction {
  double time = 0;    ///< [ns]
  double error = 0;   ///< relative standard error
  double beyond = 0;  ///< the part of it that comes from going beyond what was measured
};

/// Predicts one kernel. Made from its cells.
class KernelModel {
 public:
  /// @throws UsageError without cells, or for one whose time or load is not positive
  explicit KernelModel(std::span<const KnownCell> cells);

  [[nodiscard]] Prediction predict(const Load& load) const;
  /// Sizes from which on other coefficients hold [bytes].
  [[nodiscard]] const std::vector<double>& breaks() const noexcept { return breaks_; }
  /// Typical relative error on a graph that was left out; wide where only one graph is known.
  [[nodiscard]] double error() const noexcept { return error_; }
  /// log(measured / predicted) of every cell, predicted without its graph; empty where only one graph is known.
  struct LeftOut {
    std::string graph;
    double size;
    double log_error;
  };
  [[nodiscard]] const std::vector<LeftOut>& left_out() const noexcept { return left_out_; }

 private:
  static constexpr std::size_t kFeatures = 5;
  using Coefficients = std::array<double, kFeatures>;
  struct Residual {
    Load load;
    double log_ratio;  ///< measured / fitted
  };

  void fit(std::span<const KnownCell> cells);
  [[nodiscard]] double fitted(const Load& load) const;
  [[nodiscard]] double corrected(const Load& load) const;
  [[nodiscard]] double extrapolation(const Load& load) const;

  std::vector<double> breaks_;
  std::vector<Coefficients> pieces_;
  std::vector<Residual> residuals_;
  std::vector<LeftOut> left_out_;
  double error_ = 0;
};

}  // namespace merganser::topology
