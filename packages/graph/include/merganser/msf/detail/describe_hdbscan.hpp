#pragma once
/// Description of HdbscanOptions for the command line; not part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/msf/hdbscan_options.hpp"

namespace merganser::msf {

/// Passes the name, member and meaning of each option of HDBSCAN* to `option`. Ranges are checked by check().
void describe(HdbscanOptions& o, auto&& option) {
  option("min-cluster-size", o.min_cluster_size, "fewest points of a cluster");
  option("selection", o.selection, "clusters that are taken: the most stable, or those that do not split further",
         selections());
  option("epsilon", o.epsilon, "clusters that are born below this distance are taken with what they split from");
  option("epsilon-max", o.epsilon_max, "of the most stable: clusters that are born above this distance are not taken",
         ShownDefault{"any distance"});
  option("persistence", o.persistence,
         "clusters of a shorter life, in 1 / distance, are merged with their sibling before clusters are taken");
  option("allow-single-cluster", o.allow_single_cluster, "all points may be one cluster");
  option("max-cluster-size", o.max_cluster_size, "larger clusters are not taken; 0: any size");
  option("ties", o.ties,
         "merges of one height are undone together, or one by one in the order in which scikit-learn does",
         hdbscan_ties());
}

}  // namespace merganser::msf
