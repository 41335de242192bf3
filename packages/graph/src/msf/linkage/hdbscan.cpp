// HDBSCAN*: selection of clusters in the condensed tree (excess of mass or leaves), and labels and probabilities of points.
#include "merganser/msf/hdbscan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace merganser::msf {
namespace {

using ClusterFlags = std::vector<std::uint8_t>;  // by cluster of the condensed tree: 1: selected

/// Deselects every cluster of the condensed tree that has a selected ancestor. Parents have lower numbers, so one ascending pass
/// suffices. @param taken  selection by cluster, changed in place
void keep_highest(const CondensedTree& tree, ClusterFlags& taken) {
  ClusterFlags covered(taken.size());
  for (std::size_t c = 1; c < taken.size(); ++c) {
    const std::uint32_t parent = tree.clusters[c].parent;
    covered[c] = covered[parent] | taken[parent];
    if (covered[c] != 0) taken[c] = 0;
  }
}

/// Returns the distance at which a cluster of the condensed tree is born; of the cluster of all points, the greatest distance.
double birth_distance(const CondensedTree& tree, std::size_t cluster) {
  if (cluster > 0) return 1 / tree.clusters[cluster].birth;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 1; c < tree.clusters.size(); ++c) least = std::min(least, tree.clusters[c].birth);
  for (const double lambda : tree.lambda) least = std::min(least, lambda);
  return 1 / least;
}

/// Selects clusters of the condensed tree by excess of mass: those of greatest total stability, bottom-up: a cluster, unless those
/// selected below it are more stable, it is larger than max_cluster_size, or it is born above epsilon_max.
ClusterFlags most_stable(const CondensedTree& tree, const HdbscanOptions& o) {
  const std::size_t count = tree.clusters.size();
  std::vector<double> own = stabilities(tree);
  const std::vector<double> weights = cluster_weights(tree);
  std::vector<double> below(count);  // of the best choice among the clusters below
  ClusterFlags taken(count);
  const std::size_t lowest = o.allow_single_cluster ? 0 : 1;
  for (std::size_t c = count; c-- > lowest;) {
    // Children have higher numbers than their parents: in descending order below[c] is complete when c is reached.
    const bool too_large = o.max_cluster_size > 0 && weights[c] > static_cast<double>(o.max_cluster_size);
    const bool too_sparse = std::isfinite(o.epsilon_max) && birth_distance(tree, c) > o.epsilon_max;
    taken[c] = !(below[c] > own[c]) && !too_large && !too_sparse;
    if (c > 0) below[tree.clusters[c].parent] += taken[c] != 0 ? own[c] : below[c];
  }
  keep_highest(tree, taken);
  return taken;
}

/// Selects the clusters of the condensed tree that do not split further (Selection::leaf).
ClusterFlags leaf_clusters(const CondensedTree& tree) {
  ClusterFlags taken(tree.clusters.size(), 1);
  for (const auto& cluster : tree.clusters)
    taken[cluster.parent] = 0;  // the cluster of all points, which is its own parent, too
  return taken;
}

/// Replaces selected clusters of the condensed tree that are born below the distance epsilon by their lowest ancestor born above
/// it.
/// @return the new selection, without clusters that have a selected ancestor
ClusterFlags apply_epsilon(const CondensedTree& tree, const ClusterFlags& taken, const HdbscanOptions& o) {
  ClusterFlags risen(taken.size());
  if (taken[0] != 0) return taken;  // the cluster of all points is the only one selected
  std::vector<std::uint32_t> to(taken.size());
  for (std::size_t c = 1; c < taken.size(); ++c) {
    const auto& cluster = tree.clusters[c];
    const std::uint32_t p = cluster.parent;
    if (p == 0) {
      to[c] = o.allow_single_cluster ? 0 : static_cast<std::uint32_t>(c);
    } else {
      to[c] = 1 / tree.clusters[p].birth > o.epsilon ? p : to[p];
    }
    if (taken[c] != 0) risen[1 / cluster.birth < o.epsilon ? to[c] : c] = 1;
  }
  keep_highest(tree, risen);
  return risen;
}

/// Returns for each cluster of the condensed tree the greatest lambda (1 / distance) at which points or child clusters leave it.
std::vector<double> max_lambdas(const CondensedTree& tree) {
  std::vector<double> last(tree.clusters.size());
  const auto leaves = [&](std::uint32_t cluster, double lambda) { last[cluster] = std::max(last[cluster], lambda); };
  for (std::size_t p = 0; p < tree.lambda.size(); ++p) leaves(tree.cluster_of[p], tree.lambda[p]);
  for (std::size_t c = 1; c < last.size(); ++c) leaves(tree.clusters[c].parent, tree.clusters[c].birth);
  return last;
}

/// Returns the HDBSCAN* membership probability, 0 to 1, of a point that leaves its cluster at `lambda`. @param last  greatest
/// lambda at which a point leaves the cluster
double probability(double lambda, double last) {
  if (last == 0 || std::isinf(lambda)) return 1;
  return std::min(lambda, last) / last;
}

/// Computes the result of hdbscan() from the selected clusters: numbers them, and labels all points with membership probabilities.
Hdbscan assign_labels(const CondensedTree& tree, const ClusterFlags& taken, const HdbscanOptions& o) {
  constexpr std::uint32_t kNone = ~0U;
  const std::size_t points = tree.lambda.size();
  const auto last = max_lambdas(tree);
  std::vector<std::uint32_t> owner(taken.size(), kNone);  // the cluster taken that a cluster is in
  for (std::size_t c = 0; c < owner.size(); ++c) {
    if (taken[c] != 0)
      owner[c] = static_cast<std::uint32_t>(c);
    else if (c > 0)
      owner[c] = owner[tree.clusters[c].parent];
  }
  // Where all points are one cluster, those that left it early are noise.
  const double core = o.epsilon != 0 ? 1 / o.epsilon : last[0];
  std::vector<std::int32_t> number(taken.size(), -1);
  Hdbscan out;
  out.labels.assign(points, -1);
  out.probabilities.resize(points);
  const auto assign_number = [&](std::size_t cluster) {
    number[cluster] = static_cast<std::int32_t>(out.clusters++);
    out.selected.push_back(static_cast<std::uint32_t>(cluster));
  };
  for (std::size_t c = 0; c < taken.size() && o.ties == HdbscanTies::sequential; ++c)
    if (taken[c] != 0) assign_number(c);
  for (std::size_t p = 0; p < points; ++p) {
    const std::uint32_t cluster = owner[tree.cluster_of[p]];
    if (cluster == kNone || (cluster == 0 && tree.lambda[p] < core)) continue;
    if (number[cluster] < 0) assign_number(cluster);
    out.labels[p] = number[cluster];
    out.probabilities[p] = probability(tree.lambda[p], last[cluster]);
  }
  return out;
}

}  // namespace

// Last step of HDBSCAN*: selection of clusters in the condensed tree, labels and probabilities.
Hdbscan hdbscan(const CondensedTree& tree, const HdbscanOptions& options) {
  check(options);
  if (tree.clusters.empty()) return {};
  ClusterFlags taken = options.selection == Selection::leaf ? leaf_clusters(tree) : most_stable(tree, options);
  if (options.epsilon != 0) taken = apply_epsilon(tree, taken, options);
  return assign_labels(tree, taken, options);
}

}  // namespace merganser::msf
