#pragma once
/// Filter of filter-Kruskal: the predicate of edges between two trees.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/msf/local/edge_lists.hpp"

namespace merganser::msf {

/// Predicate of edges between two trees of a union-find, as the trees are when it is made.
///
/// After the light edges of a graph, one tree often has most ends of edges. Then membership in it is looked up in one bit per
/// vertex, which stays in the second-level cache where 4 bytes per vertex do not: most edges are decided by two bits.
class BetweenTrees {
 public:
  /// Flattens the paths of the sets. Cost: O(vertices).
  template <class Sets>
  explicit BetweenTrees(Sets& sets) : labels_(sets.labels()) {
    if (sets.size() == 0) return;
    const std::uint32_t largest = find_largest(sets);
    if (!has_largest_) {
      sets.flatten();
      return;
    }
    largest_.resize((sets.size() + 31) / 32);
    sets.flatten(largest, largest_.data());
  }
  /// Lists the positions of the edges of a block, ascending, that are not within the largest tree, by the bits of their ends; of all
  /// edges if no tree is large. @return their number
  template <class Edge>
  std::size_t list(std::span<const Edge> block, std::uint32_t* positions) const {
    return has_largest_ ? list_outside<Edge>(block, largest_.data(), positions) : block.size();
  }
  /// Returns whether an edge joins two trees.
  template <class Edge>
  bool operator()(const Edge& e) const {
    // An edge out of the largest tree needs no labels, which would come from memory; most edges that are listed are such.
    if (has_largest_ && in_largest(e.low) != in_largest(e.high)) return true;
    return labels_[e.low] != labels_[e.high];
  }

 private:
  /// Decides whether a tree is large, and returns the root that occurs most often in a sample: that of the largest tree, but for an error that costs time only.
  template <class Sets>
  std::uint32_t find_largest(Sets& sets) {
    std::array<std::uint32_t, 64> sample{};
    for (std::size_t i = 0; i < sample.size(); ++i) sample[i] = sets.find(sets.sample(i, sample.size()));
    std::sort(sample.begin(), sample.end());
    std::ptrdiff_t most = 0;
    std::uint32_t largest = 0;
    for (auto run = sample.begin(); run != sample.end();) {
      const auto end = std::upper_bound(run, sample.end(), *run);
      if (end - run > most) {
        most = end - run;
        largest = *run;
      }
      run = end;
    }
    has_largest_ = most >= kLarge;
    return largest;
  }
  [[nodiscard]] std::uint32_t in_largest(std::uint64_t v) const { return largest_[v / 32] >> (v % 32) & 1U; }

  // Vertices of a sample of 64 from which on a tree is large: a sixteenth of all pairs of vertices lie in it then.
  static constexpr std::ptrdiff_t kLarge = 16;

  const std::uint32_t* labels_;
  bool has_largest_ = false;            // a tree is large
  std::vector<std::uint32_t> largest_;  // if so, one bit per vertex: in the largest tree
};

}  // namespace merganser::msf
