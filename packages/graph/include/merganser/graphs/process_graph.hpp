#pragma once
/// Process graph (virtual topology): a directed, weighted graph over all ranks, held whole by one caller.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::graphs {

/// Directed graph over ranks in compressed sparse row format. Heads of a row are ascending and distinct; no loops.
class ProcessGraph {
 public:
  /// Arc of a row: the receiving rank and the weight.
  struct Arc {
    int to = 0;        ///< receiving rank, the head of the arc
    double bytes = 1;  ///< weight, finite and >= 0: bytes per exchange; 1 where sizes are unknown
    friend bool operator==(const Arc&, const Arc&) = default;
  };

  /// Makes a graph of no ranks.
  ProcessGraph() : offsets_(1, 0) {}
  /// Makes a graph from one list of arcs per rank, in any order; arcs with equal heads are joined, their weights added.
  /// @throws InputError for a head outside 0 .. rows - 1, a loop, and a weight (or sum of weights) that is negative or not
  /// finite
  explicit ProcessGraph(std::vector<std::vector<Arc>> rows);

  /// Returns the number of ranks.
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(offsets_.size()) - 1; }
  /// Returns the number of arcs.
  [[nodiscard]] std::int64_t arcs() const noexcept { return offsets_.back(); }
  /// Returns the arcs that leave a rank, ascending by receiving rank.
  /// @throws UsageError for a rank outside 0 .. ranks() - 1
  [[nodiscard]] std::span<const Arc> row(int rank) const;
  /// Returns the row pointers: ranks() + 1 numbers from 0 to arcs(); the arcs of rank r are offsets()[r] .. offsets()[r + 1] - 1.
  [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept { return offsets_; }
  [[nodiscard]] bool is_symmetric() const;  ///< Returns whether every arc has its reverse, whatever the weights.
  [[nodiscard]] bool is_weighted() const;   ///< Returns whether some weight is not 1.
  [[nodiscard]] int max_degree() const;     ///< Returns the largest out-degree.
  /// Returns the mean out-degree; 0 without ranks.
  [[nodiscard]] double mean_degree() const;

  /// Returns the adjacency of one rank, to open a transport or communicator with: out-arc i is row(rank)[i], in-arcs ascending
  /// by rank. Cost: O(ranks log degree).
  [[nodiscard]] comm::Graph local(int rank) const;
  /// Returns the weight of an arc. @throws UsageError if there is no such arc
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
