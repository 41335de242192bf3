#pragma once
/// Union-find for Kruskal's algorithm on one rank, in which the least vertex of a tree is the root, so that one ascending pass
/// flattens all paths (parents precede children).
#include <cstdint>
#include <utility>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "src/msf/local/edge_lists.hpp"

namespace merganser::msf {

/// Disjoint sets of the vertices 0 .. size - 1 (trees of a spanning forest). Linking by index, path halving and splicing; the
/// root of a set is its least vertex.
class UnionFind {
 public:
  /// Starts Kruskal's algorithm: makes every vertex a set (tree) of its own.
  explicit UnionFind(std::size_t size) : parent_(size) {
    for (std::size_t v = 0; v < size; ++v) parent_[v] = static_cast<std::uint32_t>(v);
  }
  /// Returns the root of the set of vertex v, its least vertex; halves the path to it.
  std::uint32_t find(std::uint32_t v) {
    std::uint32_t* const parent = parent_.data();
    for (std::uint32_t up = parent[v]; up != v; up = parent[v]) {
      parent[v] = parent[up];
      v = parent[v];
    }
    return v;
  }
  /// Joins the sets (trees of the forest) of vertices a and b. @return true if they were different
  ///
  /// Rem's algorithm with splicing [patwary2010]: of two paths the one with the greater parent goes on, and its vertices are pointed to
  /// the lesser parent, until the parents agree, which is mostly long before the root.
  bool join(std::uint32_t a, std::uint32_t b) {
    std::uint32_t* const parent = parent_.data();
    std::uint32_t up_a = parent[a];
    std::uint32_t up_b = parent[b];
    while (up_a != up_b) {
      if (up_a < up_b) {
        std::swap(a, b);
        std::swap(up_a, up_b);
      }
      parent[a] = up_b;
      if (a == up_a) return true;
      a = up_a;
      up_a = parent[a];
    }
    return false;
  }
  /// Returns the number of members of all sets.
  [[nodiscard]] std::size_t size() const noexcept { return parent_.size(); }
  /// Points every member to its root: afterwards labels()[v] is the root of v. @param root  of the set to mark
  /// @param members  one bit per vertex, the lowest of a word first, all 0; set for those in that set; null: not wanted
  void flatten(std::uint32_t root = 0, std::uint32_t* members = nullptr) {
    flatten_paths(parent_.data(), 0, parent_.size(), 0xffffffffU, root, members);
  }
  /// Returns the parent of every vertex in the union-find forest; after flatten() the root of its set.
  [[nodiscard]] const std::uint32_t* labels() const noexcept { return parent_.data(); }
  /// Returns the parents, for algorithms that store more than a vertex in them.
  [[nodiscard]] std::uint32_t* parents() noexcept { return parent_.data(); }
  /// Returns vertex i of `of` that lie evenly in all members of all sets.
  [[nodiscard]] std::uint32_t sample(std::size_t i, std::size_t of) const {
    return static_cast<std::uint32_t>(i * parent_.size() / of);
  }
  /// Prefetches the parent pointer of vertex v into the cache, for writing.
  void prefetch(std::uint32_t v) const { __builtin_prefetch(parent_.data() + v, 1); }

 private:
  std::vector<std::uint32_t, AlignedAllocator<std::uint32_t>> parent_;  ///< by vertex; a root is its own parent
};

}  // namespace merganser::msf
