#pragma once
/// Distributed disjoint-set forest of Boruvka's algorithm: the owner of a vertex holds a pointer to another vertex of its
/// component; the root names the component.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "src/msf/peers.hpp"

namespace merganser::msf {

/// Part of the distributed disjoint-set forest on one rank: parent pointers of the vertices that this rank owns, and
/// queries of the pointers that other ranks own.
class Components {
 public:
  /// Makes every vertex a component of its own. `peers` must outlive the object.
  Components(graphs::Ranges ranges, Peers& peers);

  [[nodiscard]] const graphs::Ranges& ranges() const noexcept { return ranges_; }
  /// Returns the first vertex of this rank's range.
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// Returns the parents of this rank's vertices, by id - first(). A component is named by its root, which is its own parent.
  [[nodiscard]] std::vector<std::uint64_t>& parent() noexcept { return parent_; }

  /// Points every vertex of all ranks directly to its root. Collective.
  void flatten();
  /// Replaces vertices by the vertices to which their parent pointers point. Called by every rank. @param ids  vertices
  /// grouped by ascending owner; any number on each rank
  void replace_by_parents(std::vector<std::uint64_t>& ids);
  /// Returns the vertices to which the parent pointers of `ids`, in any order, point. Called by every rank.
  [[nodiscard]] std::vector<std::uint64_t> query_parents(std::span<const std::uint64_t> ids);

 private:
  graphs::Ranges ranges_;
  Peers& peers_;
  std::uint64_t first_;
  std::vector<std::uint64_t> parent_;
};

/// Returns the positions of `keys` in ascending order of the keys' owners, stable.
[[nodiscard]] std::vector<std::uint32_t> order_by_owner(std::span<const std::uint64_t> keys,
                                                        const graphs::Ranges& ranges);
/// Returns the position of the first id of each owner, and the end. @param ids  grouped by ascending owner
[[nodiscard]] std::vector<std::size_t> slices_by_owner(std::span<const std::uint64_t> ids,
                                                       const graphs::Ranges& ranges);

}  // namespace merganser::msf
