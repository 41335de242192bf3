// Scores of HDBSCAN* clusters and points from the condensed tree: outlier scores, persistence, exemplars, relative validity.
#include "merganser/msf/cluster_scores.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/numbers.hpp"
#include "src/msf/linkage/condensed_lambdas.hpp"

namespace merganser::msf {
namespace {

/// Validates the selected clusters that the caller of a score gives. @throws InputError for a cluster that the tree does not have
void check_selected(const CondensedTree& tree, std::span<const std::uint32_t> selected) {
  for (const std::uint32_t cluster : selected)
    if (cluster >= tree.clusters.size())
      throw InputError("selected cluster " + std::to_string(cluster) + "; allowed: below the " +
                       std::to_string(tree.clusters.size()) + " of the condensed tree");
}

}  // namespace

// Greatest lambda at which a point or a child leaves each cluster of a condensed tree.
std::vector<double> last_lambdas(const CondensedTree& tree) {
  std::vector<double> last(tree.clusters.size());
  for (std::size_t p = 0; p < tree.lambda.size(); ++p) {
    double& of = last[tree.cluster_of[p]];
    of = std::max(of, tree.lambda[p]);
  }
  for (std::size_t c = 1; c < last.size(); ++c) {
    double& of = last[tree.clusters[c].parent];
    of = std::max(of, tree.clusters[c].birth);
  }
  return last;
}

// Greatest lambda at which a point leaves each cluster of a condensed tree or one below it.
std::vector<double> deepest_lambdas(const CondensedTree& tree) {
  std::vector<double> deepest = last_lambdas(tree);
  for (std::size_t c = deepest.size(); c-- > 1;) {  // children have higher numbers
    double& of = deepest[tree.clusters[c].parent];
    of = std::max(of, deepest[c]);
  }
  return deepest;
}

// GLOSH: how much earlier than the densest point of its cluster a point leaves it.
std::vector<double> outlier_scores(const CondensedTree& tree) {
  const std::vector<double> deepest = deepest_lambdas(tree);
  std::vector<double> scores(tree.lambda.size());
  for (std::size_t p = 0; p < scores.size(); ++p) {
    const double most = deepest[tree.cluster_of[p]];
    const double lambda = tree.lambda[p];
    if (most == 0 || std::isinf(lambda)) continue;  // as dense as can be: 0
    scores[p] = std::isinf(most) ? 1 : (most - lambda) / most;
  }
  return scores;
}

// Persistence of clusters: stability relative to the greatest possible one.
std::vector<double> persistences(const CondensedTree& tree, std::span<const std::uint32_t> selected,
                                 std::span<const double> sizes) {
  check_selected(tree, selected);
  if (sizes.size() != selected.size())
    throw InputError("persistences: " + std::to_string(sizes.size()) + " sizes of " + std::to_string(selected.size()) +
                     " clusters; allowed: one for each");
  const std::vector<double> stable = stabilities(tree);
  double most = 0;
  for (const double lambda : tree.lambda) most = std::max(most, lambda);
  for (const auto& cluster : tree.clusters) most = std::max(most, cluster.birth);
  std::vector<double> out(selected.size(), 1);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isfinite(most) && most > 0 && sizes[i] > 0) out[i] = stable[selected[i]] / (sizes[i] * most);
  return out;
}

// Exemplars: points that leave the leaves of the selected clusters last.
Exemplars exemplars(const CondensedTree& tree, std::span<const std::uint32_t> selected) {
  check_selected(tree, selected);
  constexpr std::uint32_t kNone = ~0U;
  const std::size_t count = tree.clusters.size();
  std::vector<std::uint32_t> label(count, kNone);
  std::vector<std::uint8_t> splits(count);
  for (std::size_t i = 0; i < selected.size(); ++i) label[selected[i]] = static_cast<std::uint32_t>(i);
  for (std::size_t c = 1; c < count; ++c) {
    const std::uint32_t parent = tree.clusters[c].parent;
    splits[parent] = 1;
    if (label[c] == kNone) label[c] = label[parent];
  }
  const std::vector<double> last = last_lambdas(tree);
  // Exemplars of each label as pairs of leaf and point, sorted in the end.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> found(selected.size());
  for (std::size_t p = 0; p < tree.lambda.size(); ++p) {
    const std::uint32_t leaf = tree.cluster_of[p];
    if (splits[leaf] == 0 && label[leaf] != kNone && tree.lambda[p] == last[leaf])
      found[label[leaf]].emplace_back(leaf, static_cast<std::uint32_t>(p));
  }
  Exemplars out;
  out.begin.reserve(selected.size() + 1);
  for (auto& of_label : found) {
    std::sort(of_label.begin(), of_label.end());
    out.begin.push_back(out.points.size());
    for (const auto& [leaf, point] : of_label) out.points.push_back(point);
  }
  out.begin.push_back(out.points.size());
  return out;
}

namespace {

/// Extremes of the edges of a spanning tree by cluster, for relative_validity().
struct EdgeExtremes {
  std::vector<double> inside;     ///< by label: greatest edge between two of its points
  std::vector<double> to_others;  ///< by label: least edge to another label; infinite: none
  double to_noise = kInfinity;    ///< least edge between noise and a cluster
  double greatest = 0;            ///< greatest edge of all
};

/// Returns the extremes of the edges of a spanning tree by cluster. @throws InputError for ends that are no points
EdgeExtremes edge_extremes(std::span<const ScoredEdge> edges, std::span<const std::int64_t> labels,
                           std::uint32_t clusters) {
  EdgeExtremes of{std::vector<double>(clusters), std::vector<double>(clusters, kInfinity)};
  for (const ScoredEdge& e : edges) {
    if (std::max(e.low, e.high) >= labels.size())
      throw InputError("edge " + std::to_string(e.low) + " - " + std::to_string(e.high) + "; allowed: points below " +
                       std::to_string(labels.size()));
    of.greatest = std::max(of.greatest, e.distance);
    const std::int64_t a = labels[static_cast<std::size_t>(e.low)];
    const std::int64_t b = labels[static_cast<std::size_t>(e.high)];
    if (a < 0 && b < 0) continue;
    if (a < 0 || b < 0) {
      of.to_noise = std::min(of.to_noise, e.distance);
    } else if (a == b) {
      double& inside = of.inside[static_cast<std::size_t>(a)];
      inside = std::max(inside, e.distance);
    } else {
      for (const std::int64_t label : {a, b}) {
        double& out = of.to_others[static_cast<std::size_t>(label)];
        out = std::min(out, e.distance);
      }
    }
  }
  return of;
}

}  // namespace

// Approximation of DBCV by the edges of the spanning tree.
double relative_validity(std::span<const ScoredEdge> edges, std::span<const std::int64_t> labels,
                         std::uint32_t clusters) {
  std::vector<std::uint64_t> sizes(clusters);
  for (const std::int64_t label : labels) {
    if (label >= std::int64_t{clusters})
      throw InputError("label " + std::to_string(label) + "; allowed: below " + std::to_string(clusters));
    if (label >= 0) ++sizes[static_cast<std::size_t>(label)];
  }
  const EdgeExtremes of = edge_extremes(edges, labels, clusters);
  const double alone = clusters > 1 || of.to_noise == kInfinity ? of.greatest : of.to_noise;
  double sum = 0;
  for (std::uint32_t i = 0; i < clusters; ++i) {
    const double sparseness = of.inside[i];
    const double separation = of.to_others[i] == kInfinity ? 2 * alone : of.to_others[i];
    const double greater = std::max(separation, sparseness);
    if (greater > 0)
      sum += static_cast<double>(sizes[i]) * ((separation - sparseness) / greater) / static_cast<double>(labels.size());
  }
  return sum;
}

}  // namespace merganser::msf
