#pragma once
/// Which component a vertex is in, kept by the vertex's owner as a pointer to another vertex of it.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "src/msf/peers.hpp"

namespace merganser::msf {

class Components {
 public:
  Components(graphs::Ranges ranges, Peers& peers);

  [[nodiscard]] const graphs::Ranges& ranges() const noexcept { return ranges_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  /// Pointers of this rank's vertices, by id - first(). A component is named by the vertex that points at itself.
  [[nodiscard]] std::vector<std::uint64_t>& parent() noexcept { return parent_; }

  /// Makes all pointers lead to the names of components at once. Collective.
  void flatten();
  /// Replaces ids, which must be grouped by ascending owner, by what they point at. Collective.
  void look_up(std::vector<std::uint64_t>& ids);
  /// What ids in any order point at. Collective.
  [[nodiscard]] std::vector<std::uint64_t> pointers_of(std::span<const std::uint64_t> ids);

 private:
  graphs::Ranges ranges_;
  Peers& peers_;
  std::uint64_t first_;
  std::vector<std::uint64_t> parent_;
};

/// Order of `keys` (positions) by ascending owner.
[[nodiscard]] std::vector<std::uint32_t> order_by_owner(std::span<const std::uint64_t> keys,
                                                        const graphs::Ranges& ranges);
/// Of ids grouped by ascending owner: where those of each owner begin, and the end.
[[nodiscard]] std::vector<std::size_t> slices_by_owner(std::span<const std::uint64_t> ids,
                                                       const graphs::Ranges& ranges);

}  // namespace merganser::msf
