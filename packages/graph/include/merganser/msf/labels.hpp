#pragma once
/// Connected components: labels of the trees of a forest.
#include <cstdint>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// Computes the component label of each vertex of a forest: the least vertex of its tree. Collective. The labels do not depend on
/// the number of ranks or on the distribution of edges.
/// @return labels of this rank's vertices, those of its range of Ranges::even(forest.vertices, ranks)
/// @throws InputError on every rank for an edge with an end that is no vertex
/// Cost: O((vertices + edges) / ranks) memory; as many rounds of a few waves as Boruvka's algorithm takes.
[[nodiscard]] std::vector<std::uint64_t> component_labels(const Forest& forest, comm::Transport& transport);

}  // namespace merganser::msf
