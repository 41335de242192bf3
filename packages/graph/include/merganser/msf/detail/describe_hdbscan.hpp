#pragma once
/// Description of HdbscanOptions for the command line and for checks of ranges; not part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/msf/hdbscan.hpp"

namespace merganser::msf {

/// Passes the name, member, meaning and range of each option of HDBSCAN* to `option`.
void describe(HdbscanOptions& o, auto&& option) {
  option("min-cluster-size", o.min_cluster_size, "fewest points of a cluster", between(2, 1U << 31));
  option("selection", o.selection, "clusters that are taken: the most stable, or those that do not split further",
         Choices<Selection>{{{"eom", Selection::excess_of_mass}, {"leaf", Selection::leaf}}});
  option("epsilon", o.epsilon, "clusters that are born below this distance are taken with what they split from",
         at_least(0));
  option("allow-single-cluster", o.allow_single_cluster, "all points may be one cluster");
  option("max-cluster-size", o.max_cluster_size, "larger clusters are not taken; 0: any size");
  option("ties", o.ties,
         "merges of one height are undone together, or one by one in the order in which scikit-learn does",
         Choices<HdbscanTies>{{{"together", HdbscanTies::together}, {"sequential", HdbscanTies::sequential}}});
}

}  // namespace merganser::msf
