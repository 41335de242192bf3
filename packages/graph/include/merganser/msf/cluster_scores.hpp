#pragma once
/// Scores of HDBSCAN* clusters and points: outlier scores (GLOSH), persistence, exemplars, relative validity, and the
/// simplification of a condensed tree by persistence.
///
/// All functions are local, take the condensed tree of all points, and have the same bits whatever computed the tree. Values are
/// those of the package hdbscan where lambdas are finite; what a lambda of infinity (points at one place) gives is said below.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/msf/forest.hpp"
#include "merganser/msf/hdbscan.hpp"

namespace merganser::msf {

/// Computes the outlier score of every point, 0 (inside) to 1 (outlier): GLOSH [campello2015], (most - lambda) / most for the lambda
/// at which the point leaves its last cluster, and the greatest lambda `most` at which a point leaves that cluster or one below it.
/// A point whose lambda is infinite has score 0, and others of a cluster in which points coincide have 1.
/// @return scores by point. Cost: O(points + clusters)
[[nodiscard]] std::vector<double> outlier_scores(const CondensedTree& tree);

/// Computes the persistence of each selected cluster, 0 to 1: its stability, by stabilities(), as a share of what it would be if all
/// its points stayed to the greatest lambda of the tree. 1 where that lambda is infinite or 0, and for a cluster without points. Above
/// 1 it may be for a selected root (allow_single_cluster), whose stability counts points without the label too.
/// @param selected  cluster of the condensed tree by label, as Hdbscan::selected
/// @param sizes     by label: number of points with that label, weighted if the tree has weights
/// @throws InputError if these differ in length, or for a cluster that the tree does not have
[[nodiscard]] std::vector<double> persistences(const CondensedTree& tree, std::span<const std::uint32_t> selected,
                                               std::span<const double> sizes);

/// Exemplars of all labels of HDBSCAN*, as exemplars() finds them: the most persistent points of the leaves of each selected cluster.
struct Exemplars {
  std::vector<std::uint64_t> begin;   ///< by label: first of its entries in `points`; one more at the end: their number
  std::vector<std::uint32_t> points;  ///< exemplars, label after label, ascending by (leaf, point)
};
/// Finds the exemplars of each selected cluster: of every cluster without children that it contains (or itself) the points that leave
/// it at its greatest lambda.
/// @param selected  cluster of the condensed tree by label, as Hdbscan::selected
/// @throws InputError for a cluster that the tree does not have. Cost: O(points + clusters log clusters)
[[nodiscard]] Exemplars exemplars(const CondensedTree& tree, std::span<const std::uint32_t> selected);

/// Edge of the tree of mutual reachability distances, for relative_validity().
struct ScoredEdge {
  std::uint64_t low;    ///< one end of the edge
  std::uint64_t high;   ///< the other end
  double distance = 0;  ///< mutual reachability distance of the ends
};
/// Computes the relative validity of a clustering from the minimum spanning tree of mutual reachability alone: an approximation of DBCV
/// (validity_index()) for comparing clusterings of the same points, -1 to 1, greater is better. A cluster has the value (separation -
/// sparseness) / max(separation, sparseness): sparseness is its greatest edge inside, separation its least edge to another cluster
/// (without one, twice the greatest edge of the tree, or for a single cluster twice the least edge to noise, if there is noise). The
/// result is the sum of the values weighted by size over all points, noise included. Local.
/// @param edges   of the tree of all points, in any order
/// @param labels  by point; -1 is noise
/// @param clusters  number of clusters: labels are -1 to clusters - 1. Without clusters the result is 0
/// @throws InputError for ends that are no points and labels out of range. The value depends on which of several minimum spanning
/// trees is given, as hdbscan's does: with min_samples above 2 there are many
[[nodiscard]] double relative_validity(std::span<const ScoredEdge> edges, std::span<const std::int64_t> labels,
                                       std::uint32_t clusters);

/// Returns a condensed tree without clusters that persist less than a threshold: of two children of a split of which the less
/// persistent lives for a difference of lambda below `persistence`, both become part of their parent, beginning with the lowest splits
/// (cluster_selection_persistence of hdbscan).
/// @throws UsageError for a persistence that is negative or no number. Cost: O(points + clusters)
[[nodiscard]] CondensedTree simplify(const CondensedTree& tree, double persistence);

/// Condenses a dendrogram by all options of HDBSCAN* that concern the condensed tree: condense() with min_cluster_size and ties, then,
/// where persistence is above 0, simplify(). Local. @param weights  as of condense() @throws as both
[[nodiscard]] CondensedTree condense(const Dendrogram& d, const HdbscanOptions& options,
                                     std::span<const double> weights = {});

}  // namespace merganser::msf
