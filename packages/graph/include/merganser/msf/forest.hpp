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

/// This rank's share of a forest: every edge is on one rank, in any order, with the ids of the input. The order (weight, low,
/// high) is strict, so the set of edges does not depend on the algorithm.
struct Forest {
  std::uint64_t vertices = 0;
  graphs::WeightKind kind = graphs::WeightKind::unsigned_integer;
  std::vector<graphs::Edge24> edges;
};

/// Totals of a forest over all ranks.
struct ForestTotals {
  std::int64_t edges = 0;       ///< of all ranks
  std::int64_t components = 0;  ///< trees, single vertices too
  std::string weight;       ///< sum of the weights: an integer in full, or the shortest text of the rounded exact sum
  double weight_value = 0;  ///< sum of the weights, rounded to a double
  std::string digest;       ///< 32 hexadecimal digits: order-independent hash of the set of (low, high, weight)
};
/// Computes the totals of a forest over all ranks. Collective; every rank gets the same.
[[nodiscard]] ForestTotals totals(const Forest& forest, comm::Transport& transport);

/// Kinds of spanning forests: of least or of greatest total weight.
enum class Sense : std::uint8_t { minimum, maximum };

/// Time and communication of one phase on this rank.
struct Phase {
  std::string name;
  double seconds = 0;      ///< wall time
  std::int64_t calls = 0;  ///< times that the phase was entered
  comm::Counters counts;   ///< communication during the phase
};

/// Measurements of a run on this rank: phases in the order of first use, and facts (rounds, edges left, ...) by name.
class Report {
 public:
  /// Guard that adds the time and the communication during its lifetime to a phase.
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

  void fact(std::string_view name, std::int64_t value);  ///< Sets a fact.
  void add(std::string_view name, std::int64_t value);   ///< Adds to a fact, which is 0 before.
  /// Returns all phases so far.
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_; }
  /// Returns all facts so far.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& facts() const noexcept { return facts_; }

  /// Progress callback: called repeatedly on rank 0 with the name of the phase and the share done, 0 to 1; may be empty.
  std::function<void(std::string_view what, double share)> progress;

 private:
  /// Returns the position of a phase, which is added if it is new.
  std::size_t phase(std::string_view name);
  /// Returns the value of a fact, which is added with 0 if it is new.
  std::int64_t& find(std::string_view name);
  std::vector<Phase> phases_;
  std::vector<std::pair<std::string, std::int64_t>> facts_;
};

}  // namespace merganser::msf
