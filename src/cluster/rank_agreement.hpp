#pragma once
/// Checks, collectively, that all ranks make a Clusterer or a StarFinder with one decomposition and one schema.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Checks that the decomposition is for the ranks of the transport. Local. @throws UsageError
void check_ranks(const Decomposition& decomposition, const comm::Transport& transport);
/// Returns grid and decomposition as values that must be equal on all ranks; with a schema also its attributes and
/// rules.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition);
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition);

}  // namespace merganser::cluster
