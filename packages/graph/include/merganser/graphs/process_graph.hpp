#pragma once
/// A process graph as a whole: which rank sends how many bytes to which.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::graphs {

/// Directed graph over ranks, compressed rows. Heads of a row are ascending and distinct; no loops.
class ProcessGraph {
 public:
  /// One rank that another sends to.
  struct Arc {
    int to = 0;
    double bytes = 1;  ///< weight: bytes per exchange; 1 where nothing is known
    friend bool operator==(const Arc&, const Arc&) = default;
  };

  ProcessGraph() : offsets_(1, 0) {}
  /// Sorts each row and joins equal heads (weights are added). @throws InputError for a head outside 0 .. rows - 1, a
  /// loop, or a weight that is negative or not finite
  explicit ProcessGraph(std::vector<std::vector<Arc>> rows);

  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(offsets_.size()) - 1; }
  /// Number of arcs.
  [[nodiscard]] std::int64_t arcs() const noexcept { return offsets_.back(); }
  /// Arcs that leave a rank, ascending by where they lead.
  [[nodiscard]] std::span<const Arc> row(int rank) const;
  /// Where the arcs of each rank begin among all arcs: ranks() + 1 numbers, from 0 to arcs().
  [[nodiscard]] std::span<const std::int64_t> offsets() const noexcept { return offsets_; }
  [[nodiscard]] bool symmetric() const;  ///< every arc has its reverse, whatever the weights
  [[nodiscard]] bool weighted() const;   ///< some weight is not 1
  [[nodiscard]] int max_degree() const;  ///< largest out-degree
  /// Arcs per rank.
  [[nodiscard]] double mean_degree() const;

  /// The graph as `rank` sees it; out-arc i is row(rank)[i], in-arcs ascending by rank.
  [[nodiscard]] comm::Graph local(int rank) const;
  /// Weight of an arc that exists. @throws UsageError if it does not
  [[nodiscard]] double bytes(int from, int to) const;
  /// The graph over `ranks` blocks of consecutive ranks (block b begins at ranks() * b / ranks), weights added; arcs
  /// inside a block vanish. @throws UsageError unless 1 <= ranks <= ranks()
  [[nodiscard]] ProcessGraph coarsened(int ranks) const;
  /// 128-bit digest of ranks, arcs and weights as 32 hexadecimal digits; equal for equal graphs only.
  [[nodiscard]] std::string digest() const;

  friend bool operator==(const ProcessGraph&, const ProcessGraph&) = default;

 private:
  std::vector<std::int64_t> offsets_;
  std::vector<Arc> arcs_;
};

}  // namespace merganser::graphs
