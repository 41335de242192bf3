#pragma once
/// The slow, obvious, serial oracle of a merge step. It shares no algorithm with the fast path: quadratic (or plain map
/// of cells) search in the canonical order, pruning by the published sweeps, merging member by member.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/links/links.hpp"

namespace merganser {

/// Merges in place on one rank. Result equals Clusterer::step bit for bit, as a set of parcels; rows that stay keep
/// their order. Of the report it fills before, small, merged, after, long_cycles, unmatched, links_to_small (counted
/// before long cycles are cut), merged_into_big and clusters.
StepReport cluster_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options);

/// The stages of cluster_reference, for tests. A link is the index of its target in the container, or -1.
namespace reference {

/// At most one link per parcel.
struct LinkGraph {
  std::vector<std::int64_t> target;  ///< per parcel
  std::vector<links::Key> key;       ///< per parcel; meaningful where there is a link
};

/// The link of every parcel with is_small != 0 to its nearest other parcel.
LinkGraph nearest(const Parcels& parcels, const Grid& grid, const std::vector<char>& is_small, Search search);
/// Drops the link with the largest key of every cycle of three or more links. @return cycles cut
std::int64_t cut_long_cycles(LinkGraph& graph);
/// The published sweeps; an isolated dual link keeps the parcel of lower id. Only kept links remain.
void prune(LinkGraph& graph, const Parcels& parcels);

}  // namespace reference

/// merge_star, written plainly: every formula of parcels/merge.hpp over a list of the members. Same bits.
void merge_reference(const MergeRules& rules, std::span<const Member> members, Site& site, double* row);

}  // namespace merganser
