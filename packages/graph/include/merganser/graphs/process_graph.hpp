#pragma once
/// Process graph (virtual topology): a directed, weighted graph over all ranks, held whole by one caller.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::graphs {

/// Process graph: a directed, weighted graph over ranks in compressed sparse row format. Heads of a row are ascending and distinct;
/// no loops.
class ProcessGraph {
 public:
  /// Arc of a process graph that leaves a given rank: the receiving rank and the weight.
  struct Arc {
    int to = 0;        ///< receiving rank, the head of the arc
    double bytes = 1;  ///< weight, finite and >= 0: bytes per exchange; 1 where sizes are unknown
    friend bool operator==(const Arc&, const Arc&) = default;
  };

  /// Creates a process graph of no ranks.
  ProcessGraph() : offsets_(1, 0) {}
  /// Creates a process graph from one list of arcs per rank, in any order; arcs with equal heads are joined, their weights added.
  /// @throws InputError for a head outside 0 .. rows - 1, a loop, and a weight (or sum of weights) that is negative or not
  /// finite
  explicit ProcessGraph(std::vector<std::vector<Arc>> rows);

  /// Returns the number of ranks, the vertices of the process graph.
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(offsets_.size()) - 1; }
  /// Returns the number of arcs of the process graph.
  [[nodiscard]] std::int64_t arcs() const noexcept { return offsets_.back(); }
  /// Returns the arcs of the process graph that leave a rank, ascending by receiving rank.
  /// @throws UsageError for a rank outside 0 .. ranks() - 1
  [[nodiscard]] std::span<const Arc> row(int rank) const;
  /// Returns the row pointers: ranks() + 1 numbers from 0 to arcs(); the arcs of rank r are offsets()[r] .. offsets()[r + 1] - 1.
  [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept { return offsets_; }
  [[nodiscard]] bool is_symmetric() const;  ///< Returns true if every arc has its reverse, whatever the weights.
  [[nodiscard]] bool is_weighted() const;   ///< Returns true if the weight of some arc is not 1.
  [[nodiscard]] int max_degree() const;     ///< Returns the largest number of arcs that leave a rank.
  /// Returns the mean number of arcs that leave a rank; 0 without ranks.
  [[nodiscard]] double mean_degree() const;

  /// Returns the adjacency of one rank, to open a transport or communicator with: out-arc i is row(rank)[i], in-arcs ascending
  /// by rank. Cost: O(ranks log degree).
  [[nodiscard]] comm::Graph local(int rank) const;
  /// Returns the weight of the arc between two ranks of the process graph. @throws UsageError if there is no such arc
  [[nodiscard]] double bytes(int from, int to) const;
  /// Returns the quotient graph over `ranks` blocks of consecutive ranks (block b begins at ranks() * b / ranks); weights are
  /// added, and arcs inside a block vanish. @throws UsageError unless 1 <= ranks <= ranks()
  [[nodiscard]] ProcessGraph coarsened(int ranks) const;
  /// Returns a 128-bit digest of ranks, arcs and weights as 32 hexadecimal digits. Equal graphs have equal digests, and
  /// different ones different digests but for collisions, which are improbable.
  [[nodiscard]] std::string digest() const;

  friend bool operator==(const ProcessGraph&, const ProcessGraph&) = default;

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<Arc> arcs_;
};

}  // namespace merganser::graphs
