#pragma once
/// Serial oracle of a merge step, slow and obvious. It shares no algorithm with the fast path: quadratic (or plain map
/// of cells) search in the canonical order, pruning by the published sweeps, merging member by member.
#include <span>

#include "merganser/cluster/cluster.hpp"

namespace merganser {

/// Makes one merge step in place on one rank, without a transport. The result equals that of Clusterer::step bit for
/// bit, as a set of parcels; rows that stay keep their order. The report has before, small, merged, after, long_cycles,
/// unmatched, links_to_small (counted before long cycles are cut), merged_into_big and clusters.
StepReport cluster_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options);

/// Merges the members of a star into `site` and the payload row `row`, by every formula of parcels/merge.hpp written out over the
/// list of members; the result has the bits of merge_star(). Local.
/// @throws UsageError for an attribute of Rule::callback without a callback
void merge_reference(const MergeRules& rules, std::span<const Member> members, Site& site, double* row);

}  // namespace merganser
