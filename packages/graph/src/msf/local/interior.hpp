#pragma once
/// Contraction of the trees that only one rank's edges touch, for filter-Kruskal over ranks: a rank joins them without a message.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "src/msf/local/buffer.hpp"
#include "src/msf/local/edge_lists.hpp"
#include "src/msf/local/union_find.hpp"

namespace merganser::msf {

/// Edge that a rank leaves to all ranks together, with the vertices that stand for the trees at its ends. It compares as the edge.
template <class Edge>
struct UndecidedEdge : Edge {
  std::uint32_t from;  ///< root of the tree of `low`, a shared vertex
  std::uint32_t to;    ///< root of the tree of `high`, a shared vertex
};

/// Trees of filter-Kruskal in which a rank contracts its interior: the trees of interior vertices alone. A rank has a range of vertices,
/// which no other rank has; its interior vertices are those of the range that no other rank's edges touch, and all others are shared.
///
/// All edges out of a tree of interior vertices are edges of this rank. If the edges are taken in ascending order, an edge out of it is
/// its least one, hence in the forest. An edge between two trees with shared vertices is undecided, since another rank may have a
/// lighter one: such edges are joined along by all ranks, in one order. So a shared vertex has the same root on every rank, and an
/// interior vertex has the root of its tree on its own rank; on others it is a set of its own, which they do not ask for.
///
/// Parents are stored such that shared vertices come before interior ones, each kind by number: the root of a tree, its first vertex, is
/// shared if any of its vertices is. UnionFind::join() is right for shared vertices.
class InteriorTrees {
 public:
  /// Largest number of vertices, since one bit of a parent tells whether it is shared.
  static constexpr std::uint64_t kMaxVertices = std::uint64_t{1} << 31;

  /// Starts the contraction. @param sets  every vertex as a set of its own; used until the end
  /// @param range   this rank's range of vertices
  /// @param shared  vertices that edges of ranks touch in whose range they are not; of all ranks, ascending
  InteriorTrees(UnionFind& sets, const VertexRange& range, std::vector<std::uint32_t> shared)
      : sets_(sets),
        first_(static_cast<std::uint32_t>(std::min<std::uint64_t>(range.first, sets.size()))),
        end_(static_cast<std::uint32_t>(std::min<std::uint64_t>(range.last + 1, sets.size()))),
        shared_(std::move(shared)) {
    std::uint32_t* const parent = sets_.parents();
    for (std::uint32_t v = first_; v < end_; ++v) parent[v] = v | kInterior;
    for (const std::uint32_t v : shared_) parent[v] = v;
  }
  /// Joins trees along this rank's edges in ascending order as far as no other rank can know a lighter edge. Local.
  /// @param joined     called with every edge that joined two trees, which is in the forest
  /// @param undecided  gets the edges between two trees with shared vertices each
  template <class Edge>
  void join(std::span<const Edge> sorted, const auto& joined, Buffer<UndecidedEdge<Edge>>& undecided) {
    constexpr std::size_t kAhead = 24;  // distance in edges at which ends are prefetched, as in join_trees()
    const std::size_t n = sorted.size();
    for (std::size_t i = 0; i < n; ++i) {
      if (i + kAhead < n) {
        sets_.prefetch(static_cast<std::uint32_t>(sorted[i + kAhead].low));
        sets_.prefetch(static_cast<std::uint32_t>(sorted[i + kAhead].high));
      }
      const auto low = static_cast<std::uint32_t>(sorted[i].low);
      const auto high = static_cast<std::uint32_t>(sorted[i].high);
      const Outcome outcome = join(low, high);
      if (outcome == Outcome::joined) joined(sorted[i]);
      if (outcome != Outcome::undecided) continue;
      *undecided.reserve_more(1) = {sorted[i], find(low), find(high)};
      undecided.resize(undecided.size() + 1);
    }
  }
  /// Returns the number of vertices of the graph.
  [[nodiscard]] std::size_t size() const noexcept { return sets_.size(); }
  /// Returns vertex i of `of` that lie evenly in this rank's range of vertices.
  [[nodiscard]] std::uint32_t sample(std::size_t i, std::size_t of) const {
    const std::size_t v = first_ + i * (end_ - first_) / of;
    return static_cast<std::uint32_t>(std::min(v, sets_.size() - 1));  // of an empty range, any
  }
  /// Returns the root of a vertex, and halves the path to it.
  std::uint32_t find(std::uint32_t v) {
    std::uint32_t* const parent = sets_.parents();
    for (std::uint32_t up = vertex(parent[v]); up != v; up = vertex(parent[v])) {
      parent[v] = parent[up];
      v = vertex(parent[v]);
    }
    return v;
  }
  /// Points the shared vertices and those of this rank's range to their roots. Afterwards two of them are in one tree if their labels()
  /// agree. @param root  of the tree to mark
  /// @param members  one bit per vertex, the lowest of a word first, all 0; set for those in that tree; null: not wanted
  void flatten(std::uint32_t root = 0, std::uint32_t* members = nullptr) {
    std::uint32_t* const parent = sets_.parents();
    for (const std::uint32_t v : shared_) {
      parent[v] = parent[parent[v]];
      if (members != nullptr) members[v / 32] |= static_cast<std::uint32_t>(parent[v] == root) << (v % 32);
    }
    flatten_paths(parent, first_, end_, ~kInterior, root, members);
  }
  /// Returns the label of the tree of every vertex that is shared or in this rank's range; flatten() first.
  [[nodiscard]] const std::uint32_t* labels() const noexcept { return sets_.labels(); }

 private:
  enum class Outcome { within_one, joined, undecided };
  static constexpr std::uint32_t kInterior = std::uint32_t{1} << 31;  // of a parent: it is not shared

  /// Returns the vertex that an entry of the parent array points to, without the mark kInterior.
  static std::uint32_t vertex(std::uint32_t parent) { return parent & ~kInterior; }
  /// Joins the trees of two vertices if one of them has no shared vertex. Of two paths the one with the greater parent goes on and is
  /// halved. Splicing, as UnionFind::join() does it, would join trees of an undecided edge.
  Outcome join(std::uint32_t a, std::uint32_t b) {
    std::uint32_t* const parent = sets_.parents();
    std::uint32_t up_a = parent[a];
    std::uint32_t up_b = parent[b];
    while (up_a != up_b) {
      if (up_a < up_b) {
        std::swap(a, b);
        std::swap(up_a, up_b);
      }
      const std::uint32_t up = vertex(up_a);
      if (up == a) {
        if (up_a < kInterior) return Outcome::undecided;  // both, since the parent of b comes before it
        parent[a] = up_b;
        return Outcome::joined;
      }
      parent[a] = parent[up];
      a = up;
      up_a = parent[a];
    }
    return Outcome::within_one;
  }

  UnionFind& sets_;
  std::uint32_t first_;                // first vertex of this rank's range
  std::uint32_t end_;                  // behind the last vertex of it
  std::vector<std::uint32_t> shared_;  // ascending
};

}  // namespace merganser::msf
