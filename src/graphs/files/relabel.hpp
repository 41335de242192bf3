#pragma once
/// Dense ids for sparse ones.
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {

/// Numbers the ids that arcs have, in their order, 0 .. vertices - 1, and changes the arcs. Collective.
/// @return the old ids of this rank's part of Ranges::even; `raw.vertices` is set
std::vector<std::uint64_t> relabel(Raw& raw, comm::Transport& transport);

}  // namespace merganser::graphs::detail
