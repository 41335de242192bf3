#pragma once
/// HDBSCAN*: density-based clusters from the dendrogram of mutual reachability distances.
///
/// All functions are local. Source: [campello2015]; rules of the selection as in the packages hdbscan and scikit-learn. Labels
/// and probabilities agree with theirs where no two merges have one height; for other cases see HdbscanTies.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/msf/hdbscan_options.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// Condensed tree of HDBSCAN*: a dendrogram without its small clusters. A cluster loses points one after the other until it ends or
/// splits into clusters of at least min_cluster_size points each. Lambda is 1 / height (infinite for height 0).
struct CondensedTree {
  /// One cluster of the condensed tree of HDBSCAN*.
  struct Cluster {
    std::uint32_t parent;  ///< cluster that it split from, of lower number; that of cluster 0 is 0
    std::uint32_t size;    ///< number of its points at birth
    double birth;          ///< lambda (1 / height) at which it splits from its parent
    friend bool operator==(const Cluster&, const Cluster&) = default;
  };
  std::vector<Cluster> clusters;          ///< clusters by number; 0 is all points; empty without points
  std::vector<std::uint32_t> cluster_of;  ///< by point: the last cluster that it is in
  std::vector<double> lambda;             ///< by point: lambda at which it leaves that cluster
  std::vector<double>
      weights;  ///< by point: number of points that it counts as in sizes and stabilities; empty: one each
};

/// Condenses a dendrogram for HDBSCAN*: drops its small clusters. Local.
/// @param d  connected: made with Apart::join, or by grown_dendrogram() for the order of scikit-learn
/// @param min_cluster_size  fewest points of a cluster, as in HdbscanOptions
/// @param ties  with `sequential` clusters are numbered as in scikit-learn: those near the top of the dendrogram first,
///              of two children the one at the `from` end of their edge
/// @param weights  by point: number of points that it counts as in a cluster's size, finite, from 0, with a sum of at most
///                 1e150; empty: one each. A single point is no cluster, however heavy
/// @throws UsageError if d has several components or min_cluster_size is out of range, InputError for bad weights
/// Cost: O(n) time, 28 bytes per point with the result, with weights 24 more
[[nodiscard]] CondensedTree condense(const Dendrogram& d, std::int64_t min_cluster_size,
                                     HdbscanTies ties = HdbscanTies::together, std::span<const double> weights = {});

/// Returns the weight of every cluster of a condensed tree at its birth: the sum of the weights of its points, or their number. Local.
[[nodiscard]] std::vector<double> cluster_weights(const CondensedTree& tree);

/// Computes the stability (excess of mass) of every cluster of a condensed tree: the sum of (lambda - birth) over the points that
/// leave it, times their weights. Infinite where points of a cluster that was born at a height above 0 coincide; points that leave a cluster at the
/// lambda of its birth, infinite ones too, add nothing. Local.
[[nodiscard]] std::vector<double> stabilities(const CondensedTree& tree);

/// Result of hdbscan(), for all points of the tree on the rank that calls it: the selected clusters, and each point's label.
struct Hdbscan {
  std::uint32_t clusters = 0;        ///< number of selected clusters
  std::vector<std::int32_t> labels;  ///< by point; -1 is noise; numbered in the order of their lowest points, with
                                     ///< HdbscanTies::sequential in that of the clusters of the tree
  std::vector<double>
      probabilities;  ///< by point, 0 to 1: 0 for noise, 1 for points that stay in their cluster to its end
  std::vector<std::uint32_t> selected;  ///< by label: the cluster of the condensed tree
};

/// Selects clusters of a condensed tree by the rules of HDBSCAN*, and labels all points with membership probabilities. Local.
/// @throws UsageError for options out of range
[[nodiscard]] Hdbscan hdbscan(const CondensedTree& tree, const HdbscanOptions& options);

}  // namespace merganser::msf
