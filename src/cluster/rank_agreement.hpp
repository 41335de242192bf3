#pragma once
/// Checks, collectively, that all ranks make a Clusterer or a StarFinder with one decomposition and one schema.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Checks that a decomposition has as many blocks as the transport has ranks. Local. @throws UsageError if not
void check_ranks(const Decomposition& decomposition, const comm::Transport& transport);
/// Returns grid and decomposition of a Clusterer or StarFinder as texts that must be equal on all ranks.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition);
/// Returns schema (attributes, components, merge rules), grid and decomposition of a Clusterer as texts that must be equal on
/// all ranks.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition);

}  // namespace merganser::cluster
