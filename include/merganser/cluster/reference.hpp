#pragma once
/// The slow, obvious, serial oracle of a merge step. It shares no algorithm with the fast path: quadratic (or plain map
/// of cells) search in the canonical order, pruning by the published sweeps, merging member by member.
#include "merganser/cluster/cluster.hpp"

namespace merganser {

/// Merges in place on one rank. Result equals Clusterer::step bit for bit, as a set of parcels.
StepReport cluster_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options);

}  // namespace merganser
