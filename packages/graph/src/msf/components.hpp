#pragma once
/// Distributed disjoint-set forest of Boruvka's algorithm: the owner of a vertex holds a pointer to another vertex of its
/// component; the root names the component.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "src/msf/peers.hpp"

namespace merganser::msf {

/// One rank's part of the distributed disjoint-set forest of Boruvka's algorithm: parent pointers of the vertices that this rank
/// owns, and queries of the pointers that other ranks own.
class Components {
 public:
  /// Makes every vertex of this rank's range a component of its own. Local. `peers` must outlive the object.
  Components(graphs::Ranges ranges, Peers& peers);

  /// Returns the ranges of vertices of the graph that the ranks own in Boruvka's algorithm.
  [[nodiscard]] const graphs::Ranges& ranges() const noexcept { return ranges_; }
  /// Returns the id of the first vertex of the graph that this rank owns in Boruvka's algorithm.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// Returns the parent pointers (ids of vertices, on any rank) of the vertices that this rank owns, by id - first(). A component
  /// is named by its root, which is its own parent.
  [[nodiscard]] const std::vector<std::uint64_t>& parent() const noexcept { return parent_; }
  /// Returns the same pointers as parent(), to be changed. If one rank calls it, every rank must, before the next flatten().
  [[nodiscard]] std::vector<std::uint64_t>& change_parents() noexcept {
    singletons_ = is_flat_ = false;
    return parent_;
  }
  /// Returns whether every vertex of all ranks is still a component of its own; the same on every rank.
  [[nodiscard]] bool are_singletons() const noexcept { return singletons_; }

  /// Points every vertex of all ranks directly to the root of its component, by pointer doubling; returns at once if no pointer
  /// can have changed since. Collective.
  void flatten();
  /// Replaces each id of a vertex in `ids` by the id of its parent in the disjoint-set forest. Called by every rank.
  /// @param ids  vertices of any ranks, grouped by ascending owner; any number on each rank
  void replace_by_parents(std::vector<std::uint64_t>& ids);
  /// Returns the parents in the disjoint-set forest of the vertices `ids`, which may be of any ranks and in any order. Called by
  /// every rank.
  [[nodiscard]] std::vector<std::uint64_t> query_parents(std::span<const std::uint64_t> ids);

 private:
  graphs::Ranges ranges_;
  Peers& peers_;
  std::uint64_t first_;
  std::vector<std::uint64_t> parent_;
  bool singletons_ = true;  // no rank has called change_parents()
  bool is_flat_ = true;     // no rank has called it since the last flatten()
};

/// Returns the positions of the vertices `keys` in ascending order of the ranks that own these vertices, stable. Local.
[[nodiscard]] std::vector<std::uint32_t> order_by_owner(std::span<const std::uint64_t> keys,
                                                        const graphs::Ranges& ranges);
/// Returns for each rank the position in `ids` of the first vertex that it owns, and the end. Local. @param ids  vertices grouped
/// by ascending owner
[[nodiscard]] std::vector<std::size_t> slices_by_owner(std::span<const std::uint64_t> ids,
                                                       const graphs::Ranges& ranges);

}  // namespace merganser::msf
