#pragma once
/// From edges between vertices to arcs between the ranks that hold them.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "merganser/graphs/detail/rows.hpp"

namespace merganser::graphs::detail {

/// Rank r holds the vertices r * per_rank to (r + 1) * per_rank - 1. Ranks are neighbours if an edge joins two of their
/// vertices; the weight of an arc is 1, or `ghost_bytes` for every vertex of its tail that has a neighbour at its head.
class VertexArcs {
 public:
  VertexArcs(int ranks, std::int64_t per_rank, double ghost_bytes)
      : ranks_(static_cast<std::uint64_t>(ranks)),
        per_rank_(static_cast<std::uint64_t>(per_rank)),
        ghost_bytes_(ghost_bytes) {}

  /// Only one edge of two ranks counts.
  [[nodiscard]] bool unit() const { return ghost_bytes_ == 0; }

  void add(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t rank_a = a / per_rank_, rank_b = b / per_rank_;
    if (rank_a == rank_b) return;
    keys_.push_back((unit() ? rank_a : a) * ranks_ + rank_b);
    keys_.push_back((unit() ? rank_b : b) * ranks_ + rank_a);
    if (keys_.size() >= full_) {
      compact();
      full_ = std::max(full_, 2 * keys_.size());
    }
  }

  [[nodiscard]] Rows rows() {
    compact();
    Rows rows = empty_rows(static_cast<int>(ranks_));
    for (const std::uint64_t key : keys_) {
      auto& row = rows[key / ranks_ / (unit() ? 1 : per_rank_)];
      row.push_back({static_cast<int>(key % ranks_), unit() ? 1.0 : ghost_bytes_});
    }
    return rows;
  }

 private:
  void compact() {
    std::sort(keys_.begin(), keys_.end());
    keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  }

  std::uint64_t ranks_;
  std::uint64_t per_rank_;
  double ghost_bytes_;
  std::vector<std::uint64_t> keys_;  ///< tail (rank, or vertex) * ranks + rank of the head
  std::size_t full_ = std::size_t{1} << 22;
};

}  // namespace merganser::graphs::detail
