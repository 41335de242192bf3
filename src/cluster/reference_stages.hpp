#pragma once
/// Stages of the serial oracle of a merge step, which tests call one by one.
#include <cstdint>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/links/links.hpp"

namespace merganser {

/// Stages of cluster_reference(), the serial oracle of a merge step. A link is the index of its target in the container, or -1.
namespace reference {

/// Graph of nearest-neighbour links in the serial oracle of a merge step, with at most one link per parcel.
struct LinkGraph {
  std::vector<std::int64_t> target;  ///< per parcel: index of the parcel it links to, or -1
  std::vector<links::Key> key;       ///< per parcel: key of its link, valid where there is one
};

/// Search stage of the serial oracle: returns the link of every parcel with is_small != 0 to its nearest other parcel by the
/// search rule.
LinkGraph nearest(const Parcels& parcels, const Grid& grid, const std::vector<char>& is_small, Search search);
/// Cycle stage of the serial oracle: drops the link with the largest key of every cycle of three or more links. @return number
/// of cycles cut
std::int64_t cut_long_cycles(LinkGraph& graph);
/// Pruning stage of the serial oracle: cuts the links into stars by the published sweeps; an isolated dual link keeps the parcel
/// of lower id. Only kept links remain.
void prune(LinkGraph& graph, const Parcels& parcels);

}  // namespace reference

}  // namespace merganser
