#pragma once
/// Minimum spanning forests spread over ranks, and what a run that found one tells.
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

/// One rank's share of a forest: every edge is on one rank, in any order. Edges are those of the input, by its ids: the
/// order (weight, low, high) is strict, so the forest is one set whatever found it.
struct Forest {
  std::uint64_t vertices = 0;
  graphs::WeightKind kind = graphs::WeightKind::unsigned_integer;
  std::vector<graphs::Edge24> edges;
};

/// What all ranks' shares have in common.
struct ForestTotals {
  std::int64_t edges = 0;
  std::int64_t components = 0;  ///< trees, single vertices too
  std::string weight;       ///< sum of the weights: an integer in full, or the shortest text of the rounded exact sum
  double weight_value = 0;  ///< the same, rounded
  std::string digest;       ///< 32 hexadecimal digits of the set of (low, high, weight), whatever the order
};
/// Adds up all ranks' shares. Collective.
[[nodiscard]] ForestTotals totals(const Forest& forest, comm::Transport& transport);

/// Least links first, or greatest (a maximum spanning forest).
enum class Sense : std::uint8_t { minimum, maximum };

/// What a rank did in one phase.
struct Phase {
  std::string name;
  double seconds = 0;
  std::int64_t calls = 0;
  comm::Counters counts;
};

/// Phases in the order of first use, and facts (rounds, edges left, ...) by name. One rank's.
class Report {
 public:
  /// Adds the time and the communication from here to the end of the block to a phase.
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

  void fact(std::string_view name, std::int64_t value);  ///< sets a fact
  void add(std::string_view name, std::int64_t value);   ///< adds to a fact
  /// All phases so far.
  [[nodiscard]] const std::vector<Phase>& phases() const noexcept { return phases_; }
  /// All facts so far.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& facts() const noexcept { return facts_; }

  /// Called now and then on rank 0 with what is being done and the share that is done (0 to 1); may be empty.
  std::function<void(std::string_view what, double share)> progress;

 private:
  std::size_t phase(std::string_view name);
  std::int64_t& find(std::string_view name);
  std::vector<Phase> phases_;
  std::vector<std::pair<std::string, std::int64_t>> facts_;
};

}  // namespace merganser::msf
