#pragma once
/// HDBSCAN*: clusters of any density, from the dendrogram of mutual reachability distances.
///
/// Everything here is local. Source: [campello2015]; rules of the selection as the packages hdbscan and scikit-learn
/// have them. Labels and probabilities agree with theirs where no two merges have one height. Where some do, HdbscanTies
/// says how they are undone.
#include <cstdint>
#include <vector>

#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// Which clusters of the condensed tree are taken.
enum class Selection : std::uint8_t {
  excess_of_mass,  ///< those that together are the most stable
  leaf,            ///< those that do not split further
};

/// How merges of one height are undone.
enum class HdbscanTies : std::uint8_t {
  together,    ///< as the definition has it: nothing depends on the numbering of the points
  sequential,  ///< one by one, the last one first, as the packages do; with grown_dendrogram() in scikit-learn's order
};

/// Which clusters count; ranges are checked where they are used.
struct HdbscanOptions {
  std::uint64_t min_cluster_size = 5;
  Selection selection = Selection::excess_of_mass;
  double epsilon = 0;
  bool allow_single_cluster = false;
  std::uint64_t max_cluster_size = 0;
  HdbscanTies ties = HdbscanTies::together;
};
/// A dendrogram without its small clusters: a cluster loses points one after the other until it ends or splits into
/// clusters of at least min_cluster_size points each. Lambda is 1 / height (infinite for height 0).
struct CondensedTree {
  /// One cluster of the tree.
  struct Cluster {
    std::uint32_t parent;  ///< below the number of the cluster; that of cluster 0 is 0
    std::uint32_t size;    ///< points at birth
    double birth;          ///< lambda
    friend bool operator==(const Cluster&, const Cluster&) = default;
  };
  std::vector<Cluster> clusters;          ///< 0 is all points; none without points
  std::vector<std::uint32_t> cluster_of;  ///< by point: the cluster that it falls out of
  std::vector<double> lambda;             ///< by point: where it does
};

/// Drops the small clusters of a dendrogram. Local.
/// @param d  connected: made with Apart::join, or by grown_dendrogram() for the order of scikit-learn
/// @param ties  with `sequential` clusters are numbered as scikit-learn does: those near the top of the dendrogram first,
///              of two the one that grew first
/// @throws UsageError if d has several components or min_cluster_size is below 2
/// Cost: O(n) time, 28 bytes per point with the result
[[nodiscard]] CondensedTree condense(const Dendrogram& d, std::uint64_t min_cluster_size,
                                     HdbscanTies ties = HdbscanTies::together);

/// Excess of mass of every cluster: the sum of (lambda - birth) over the points that leave it. Infinite where points of a
/// cluster that was born at a height above 0 lie at one place; what is born and ends at height 0 adds nothing.
[[nodiscard]] std::vector<double> stabilities(const CondensedTree& tree);

/// The clusters that were taken.
struct Hdbscan {
  std::uint32_t clusters = 0;
  std::vector<std::int32_t> labels;     ///< by point; -1 is noise; numbered in the order of their lowest points, with
                                        ///< HdbscanTies::sequential in that of the clusters of the tree
  std::vector<double> probabilities;    ///< by point: 0 for noise, 1 for those that stay to the end
  std::vector<std::uint32_t> selected;  ///< by label: the cluster of the condensed tree
};

/// Takes clusters of a condensed tree, and labels the points. Local.
/// @throws UsageError for options out of range
[[nodiscard]] Hdbscan hdbscan(const CondensedTree& tree, const HdbscanOptions& options);

}  // namespace merganser::msf
