#pragma once
/// Distributed minimum spanning forests, their totals over all ranks, and reports of the time and communication of a run.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// This rank's share of a spanning forest: every edge is on one rank, in any order, with the ids of the input. The order (weight,
/// low, high) is strict, so the set of edges does not depend on the algorithm.
struct Forest {
  std::uint64_t vertices = 0;                                      ///< vertices of the graph, on all ranks
  graphs::WeightKind kind = graphs::WeightKind::unsigned_integer;  ///< kind of number that weights stand for
  std::vector<graphs::Edge24> edges;                               ///< edges of the forest on this rank
};

/// Totals of a spanning forest over all ranks, as totals() computes them.
struct ForestTotals {
  std::int64_t edges = 0;       ///< edges of the forest on all ranks
  std::int64_t components = 0;  ///< trees of the forest, single vertices too
  std::string weight;  ///< sum of the edge weights: an integer in full, or the shortest text of the rounded exact sum
  double weight_value = 0;  ///< sum of the edge weights, rounded to a double
  std::string digest;       ///< 32 hexadecimal digits: order-independent hash of the set of edges (low, high, weight)
};
/// Computes the totals of a spanning forest over all ranks: edges, components, exact weight, digest. Collective; every rank gets
/// the same.
[[nodiscard]] ForestTotals totals(const Forest& forest, comm::Transport& transport);

/// Kinds of spanning forests: of least or of greatest total weight.
enum class Sense : std::uint8_t { minimum, maximum };

/// Time and communication of one phase of a spanning forest's computation on this rank.
struct Phase {
  std::string name;        ///< name of the phase, such as "local forest"
  double seconds = 0;      ///< wall time spent in the phase
  std::int64_t calls = 0;  ///< times that the phase was entered
  comm::Counters counts;   ///< communication during the phase
};

/// Measurements of the computation of a spanning forest on this rank: phases in the order of first use, and facts (rounds, edges
/// left, ...) by name.
class Report {
 public:
  /// Guard that adds the wall time and the communication of this rank during its lifetime to a phase of the report.
  class Scope : Pinned {
   public:
    Scope(Report& report, std::string_view name, comm::Transport& transport);
    ~Scope();

   private:
    Report& report_;
    std::size_t phase_;
    comm::Transport& transport_;
    comm::Counters before_;
    double start_;
  };

  void fact(std::string_view name, std::int64_t value);  ///< Sets a named fact of the report.
  void add(std::string_view name, std::int64_t value);   ///< Adds to a named fact of the report, which is 0 at first.
  /// Returns the time and communication of all phases of the spanning forest's computation on this rank so far.
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_; }
  /// Returns the names and values of all facts (rounds, edges left, ...) that the spanning forest's computation has reported so
  /// far.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& facts() const noexcept { return facts_; }

  /// Progress callback of a spanning forest's computation: called repeatedly on rank 0, within the
  /// collective call, with the name of the work in progress and the share of it that is done, 0 to 1; may be empty.
  std::function<void(std::string_view what, double share)> progress;

 private:
  /// Returns the position of a named phase in the report, which is added if it is new.
  std::size_t phase(std::string_view name);
  /// Returns the value of a named fact of the report, which is added with 0 if it is new.
  std::int64_t& find(std::string_view name);
  std::vector<Phase> phases_;
  std::vector<std::pair<std::string, std::int64_t>> facts_;
};

}  // namespace merganser::msf
