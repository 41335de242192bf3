#pragma once
/// Quotient of a graph over vertices: arcs of the process graph between the ranks that hold the ends of its edges.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

/// Collects edges between vertices into arcs between ranks. Rank r holds the vertices r * per_rank to (r + 1) * per_rank - 1.
/// Ranks are neighbours if an edge joins two of their vertices; the weight of an arc is 1 if `ghost_bytes` is 0, else
/// `ghost_bytes` for every vertex of its tail that has a neighbour at its head (a ghost vertex there).
class VertexArcs {
 public:
  /// Starts without arcs, for `ranks` ranks of `per_rank` vertices each.
  VertexArcs(int ranks, std::int64_t per_rank, double ghost_bytes)
      : ranks_(static_cast<std::uint64_t>(ranks)),
        per_rank_(static_cast<std::uint64_t>(per_rank)),
        ghost_bytes_(ghost_bytes) {}

  /// Returns true if all arcs of the process graph have weight 1, so that further edges between two ranks change nothing.
  [[nodiscard]] bool is_unit() const { return ghost_bytes_ == 0; }

  /// Adds the undirected edge between vertices a and b, as two arcs between their ranks; one within a rank makes no arc.
  void add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t rank_a = a / per_rank_, rank_b = b / per_rank_;
    if (rank_a == rank_b) return;
    keys_.push_back((is_unit() ? rank_a : a) * ranks_ + rank_b);
    keys_.push_back((is_unit() ? rank_b : b) * ranks_ + rank_a);
    if (keys_.size() >= full_) {
      // Doubling what may stand before the next compaction keeps the sorting linear up to a logarithm, whatever repeats.
      compact();
      full_ = std::max(full_, 2 * keys_.size());
    }
  }

  /// Returns the arcs of the process graph collected so far, one row per rank; equal arcs may stand several times (ProcessGraph
  /// adds their weights).
  [[nodiscard]] Rows rows() {
    compact();
    Rows rows = empty_rows(static_cast<int>(ranks_));
    for (const std::uint64_t key : keys_) {
      auto& row = rows[key / ranks_ / (is_unit() ? 1 : per_rank_)];
      row.push_back({static_cast<int>(key % ranks_), is_unit() ? 1.0 : ghost_bytes_});
    }
    return rows;
  }

 private:
  /// Sorts the keys of the arcs collected so far and drops duplicates.
  void compact() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  std::uint64_t ranks_;
  std::uint64_t per_rank_;
  double ghost_bytes_;
  std::vector<std::uint64_t> keys_;          ///< tail (rank, or vertex) * ranks + rank of the head
  std::size_t full_ = std::size_t{1} << 22;  ///< number of keys at which duplicates are dropped
};

}  // namespace merganser::graphs::detail
