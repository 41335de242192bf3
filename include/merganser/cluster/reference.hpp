#pragma once
/// Serial oracle of a merge step, slow and obvious. It shares no algorithm with the fast path: quadratic (or plain map
/// of cells) search in the canonical order, pruning by the published sweeps, merging member by member.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/links/links.hpp"

namespace merganser {

/// Makes one merge step in place on one rank, without a transport. The result equals that of Clusterer::step bit for
/// bit, as a set of parcels; rows that stay keep their order. The report has before, small, merged, after, long_cycles,
/// unmatched, links_to_small (counted before long cycles are cut), merged_into_big and clusters.
StepReport cluster_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options);

/// Stages of cluster_reference(), for tests. A link is the index of its target in the container, or -1.
namespace reference {

/// Graph with at most one link per parcel.
struct LinkGraph {
  std::vector<std::int64_t> target;  ///< per parcel: index of the parcel it links to, or -1
  std::vector<links::Key> key;       ///< per parcel: key of its link, valid where there is one
};

/// Returns the link of every parcel with is_small != 0 to its nearest other parcel by the search rule.
LinkGraph nearest(const Parcels& parcels, const Grid& grid, const std::vector<char>& is_small, Search search);
/// Drops the link with the largest key of every cycle of three or more links. @return number of cycles cut
std::int64_t cut_long_cycles(LinkGraph& graph);
/// Cuts the links into stars by the published sweeps; an isolated dual link keeps the parcel of lower id. Only kept
/// links remain.
void prune(LinkGraph& graph, const Parcels& parcels);

}  // namespace reference

/// Merges a star as merge_star() does, with the same bits, written plainly: every formula of parcels/merge.hpp over a
/// list of the members.
void merge_reference(const MergeRules& rules, std::span<const Member> members, Site& site, double* row);

}  // namespace merganser
