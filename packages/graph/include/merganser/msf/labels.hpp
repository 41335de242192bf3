#pragma once
/// Which tree of a forest a vertex is in.
#include <cstdint>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// Labels of this rank's vertices, Ranges::even(forest.vertices, ranks): the least vertex of the tree that each is in.
/// Collective. The labels do not depend on the number of ranks or on where edges lie.
/// Cost: O((vertices + edges) / ranks) memory; as many rounds of a few waves as Boruvka's algorithm takes.
[[nodiscard]] std::vector<std::uint64_t> component_labels(const Forest& forest, comm::Transport& transport);

}  // namespace merganser::msf
