// HDBSCAN*: condensation of a dendrogram, and stabilities of the condensed clusters.
#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/msf/hdbscan.hpp"

namespace merganser::msf {
namespace {

/// Returns lambda, the density at which HDBSCAN* undoes a merge of a height: 1 / height, infinite for height 0.
double to_lambda(double height) { return height > 0 ? 1 / height : std::numeric_limits<double>::infinity(); }

/// Top-down condensation of a dendrogram for HDBSCAN*: a child of a node of the dendrogram stays in the node's cluster, starts a
/// new cluster, or falls out of it with all points below it.
class Condenser {
 public:
  Condenser(const Dendrogram& d, std::int64_t min_cluster_size, std::span<const double> weights)
      : d_(d),
        points_(static_cast<std::size_t>(d.vertices)),
        least_(static_cast<std::uint64_t>(min_cluster_size)),
        cluster_(points_ + d.merges.size()),
        fall_(cluster_.size(), kStays) {
    if (weights.empty()) return;
    tree_.weights.assign(weights.begin(), weights.end());
    weight_ = tree_.weights;
    weight_.reserve(cluster_.size());
    for (const Merge& m : d.merges) weight_.push_back(weight_[m.a] + weight_[m.b]);
  }

  /// Condenses the dendrogram with merges of one height undone together (HdbscanTies::together), so that their order does not
  /// matter.
  CondensedTree undo_together() {
    // From the last merge down, so that the cluster of a node is known before those of its children.
    tree_.clusters.push_back({0, static_cast<std::uint32_t>(points_), 0});
    for (std::size_t i = d_.merges.size(); i-- > 0;) {
      const std::size_t node = points_ + i;
      if (fall_[node] == kStays) {
        find_parts(static_cast<std::uint32_t>(node));
        detach_parts(static_cast<std::uint32_t>(node));
      } else if (fall_[node] != kUndone) {
        inherit(node, d_.merges[i].a);
        inherit(node, d_.merges[i].b);
      }
    }
    return finish();
  }

  /// Condenses the dendrogram with every merge undone by itself, breadth first, as scikit-learn does (HdbscanTies::sequential).
  CondensedTree undo_one_by_one() {
    // Breadth first from the last merge, as scikit-learn numbers clusters; a node that falls out passes its cluster on to its
    // points.
    tree_.clusters.push_back({0, static_cast<std::uint32_t>(points_), 0});
    if (!d_.merges.empty()) open_.assign(1, static_cast<std::uint32_t>(cluster_.size() - 1));
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const std::uint32_t node = open_[i];
      const Merge& merge = d_.merges[node - points_];
      parts_ = {merge.a, merge.b};
      detach_parts(node);
      for (const std::uint32_t part : parts_)
        if (is_large(part)) open_.push_back(part);
    }
    for (std::size_t node = cluster_.size(); node-- > points_;) {
      if (fall_[node] == kStays) continue;
      inherit(node, d_.merges[node - points_].a);
      inherit(node, d_.merges[node - points_].b);
    }
    return finish();
  }

 private:
  static constexpr std::uint32_t kStays = ~0U;  // in fall_: the node does not fall out of its cluster
  static constexpr std::uint32_t kUndone =
      kStays - 1;  // in fall_: the node's merge is undone with one of equal height above it

  /// Returns the condensed tree of HDBSCAN*, completed by the last cluster of each point and the lambda at which it leaves that.
  CondensedTree finish() {
    tree_.cluster_of.assign(cluster_.begin(), cluster_.begin() + static_cast<std::ptrdiff_t>(points_));
    tree_.lambda.resize(points_);
    for (std::size_t p = 0; p < points_; ++p) {
      tree_.lambda[p] = fall_[p] == kStays ? 0 : to_lambda(d_.merges[fall_[p]].height);
    }
    return std::move(tree_);
  }

  /// Returns whether a node of the dendrogram has the points, or the weight, of a cluster. A single point is none, however heavy.
  [[nodiscard]] bool is_large(std::uint32_t node) const {
    if (weight_.empty()) return size(node) >= least_;
    return node >= points_ && weight_[node] >= static_cast<double>(least_);
  }
  /// Returns the number of points below a node of the dendrogram (1 for a point).
  [[nodiscard]] std::uint32_t size(std::uint32_t node) const {
    return node < points_ ? 1 : d_.merges[node - points_].size;
  }
  /// Assigns the condensed cluster of a dendrogram node, and the merge at which it falls out of that, to a child of the node.
  void inherit(std::size_t node, std::uint32_t child) {
    cluster_[child] = cluster_[node];
    fall_[child] = fall_[node];
  }

  /// Collects into parts_ the nodes of the dendrogram that a node and the merges of its height directly below it join, in order.
  void find_parts(std::uint32_t node) {
    // Merges of the node's height directly below it are undone together with it, whatever their order.
    const double height = d_.merges[node - points_].height;
    parts_.clear();
    open_.assign(1, node);
    while (!open_.empty()) {
      const std::uint32_t at = open_.back();
      open_.pop_back();
      if (at < points_ || d_.merges[at - points_].height != height) {
        parts_.push_back(at);
        continue;
      }
      fall_[at] = kUndone;
      open_.push_back(d_.merges[at - points_].b);
      open_.push_back(d_.merges[at - points_].a);
    }
  }

  /// Assigns the parts into which a dendrogram node splits to clusters of the condensed tree: small ones (fewer points than
  /// min_cluster_size) fall out at the node's height, a single large one continues its cluster, several large ones start new
  /// clusters.
  void detach_parts(std::uint32_t node) {
    const double lambda = to_lambda(d_.merges[node - points_].height);
    // A split into two or more large parts starts clusters; otherwise the cluster goes on and only shrinks.
    const auto large = std::count_if(parts_.begin(), parts_.end(), [&](std::uint32_t at) { return is_large(at); });
    for (const std::uint32_t at : parts_) {
      cluster_[at] = cluster_[node];
      if (!is_large(at)) {
        fall_[at] = static_cast<std::uint32_t>(node - points_);
      } else if (large > 1) {
        tree_.clusters.push_back({cluster_[node], size(at), lambda});
        cluster_[at] = static_cast<std::uint32_t>(tree_.clusters.size() - 1);
      }
    }
  }

  const Dendrogram& d_;
  std::size_t points_;                  // number of points; nodes of the dendrogram are points, then merges
  std::uint64_t least_;                 // min_cluster_size
  std::vector<double> weight_;          // by node: weight of its points; empty: their number
  CondensedTree tree_;                  // result
  std::vector<std::uint32_t> cluster_;  // by node: its cluster in the condensed tree
  std::vector<std::uint32_t> fall_;     // by node: the merge at which it falls out of its cluster, kStays or kUndone
  std::vector<std::uint32_t> parts_;    // nodes into which the present node splits
  std::vector<std::uint32_t> open_;     // nodes to be visited
};

/// Validates the weights of points. @throws InputError unless there is a finite one from 0 for each, with a sum of at most 1e150, or none
void check_weights(std::span<const double> weights, std::uint64_t points) {
  if (!weights.empty() && weights.size() != points)
    throw InputError(std::to_string(weights.size()) + " weights of " + std::to_string(points) +
                     " points; allowed: one for each");
  constexpr double kMaxWeight = 1e150;  // products with lambdas, and their sums, stay finite
  double total = 0;
  for (const double weight : weights) {
    if (!(weight >= 0 && std::isfinite(weight)))
      throw InputError("a weight of " + number_text(weight) + "; allowed: finite numbers from 0");
    total += weight;
  }
  if (total > kMaxWeight)
    throw InputError("weights that add up to " + number_text(total) + "; allowed: at most " + number_text(kMaxWeight));
}

}  // namespace

// First step of HDBSCAN* after the dendrogram: clusters of fewer points than min_cluster_size are dropped.
CondensedTree condense(const Dendrogram& d, std::int64_t min_cluster_size, HdbscanTies ties,
                       std::span<const double> weights) {
  check({.min_cluster_size = min_cluster_size, .ties = ties});
  check_weights(weights, d.vertices);
  if (d.vertices == 0) return {};
  if (d.components() != 1) {
    throw UsageError("condense: a dendrogram of " + std::to_string(d.components()) +
                     " components; allowed: one, as Apart::join makes it");
  }
  Condenser condenser(d, min_cluster_size, weights);
  return ties == HdbscanTies::sequential ? condenser.undo_one_by_one() : condenser.undo_together();
}

// Second step of HDBSCAN*: stability of a cluster, the sum over its points of their lambda less that of its birth.
std::vector<double> stabilities(const CondensedTree& tree) {
  std::vector<double> sums(tree.clusters.size());
  // The contribution of points that leave a cluster at some lambda.
  const auto leaves = [&](std::uint32_t cluster, double lambda, double points) {
    const double birth = tree.clusters[cluster].birth;
    if (lambda > birth) sums[cluster] += (lambda - birth) * points;  // not where both are infinite
  };
  const std::vector<double> weights = cluster_weights(tree);
  for (std::size_t p = 0; p < tree.lambda.size(); ++p)
    leaves(tree.cluster_of[p], tree.lambda[p], tree.weights.empty() ? 1 : tree.weights[p]);
  for (std::size_t c = 1; c < sums.size(); ++c) leaves(tree.clusters[c].parent, tree.clusters[c].birth, weights[c]);
  return sums;
}

// Weights of clusters: those of their own points and of the clusters below them, which have higher numbers.
std::vector<double> cluster_weights(const CondensedTree& tree) {
  std::vector<double> out(tree.clusters.size());
  if (tree.weights.empty()) {
    for (std::size_t c = 0; c < out.size(); ++c) out[c] = tree.clusters[c].size;
    return out;
  }
  for (std::size_t p = 0; p < tree.weights.size(); ++p) out[tree.cluster_of[p]] += tree.weights[p];
  for (std::size_t c = out.size(); c-- > 1;) out[tree.clusters[c].parent] += out[c];
  return out;
}

}  // namespace merganser::msf
