// Simplification of a condensed tree of HDBSCAN*: clusters that persist less than a threshold become part of their parents.
#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/numbers.hpp"
#include "merganser/base/text.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "src/msf/linkage/condensed_lambdas.hpp"

namespace merganser::msf {
namespace {

/// Simplification of one condensed tree, from its lowest splits up.
class Simplifier {
 public:
  Simplifier(const CondensedTree& tree, double least)
      : tree_(tree),
        least_(least),
        deepest_(deepest_lambdas(tree)),
        into_(tree.clusters.size()),
        leaves_at_(tree.clusters.size(), -1),
        has_children_(tree.clusters.size()) {
    for (std::uint32_t c = 0; c < into_.size(); ++c) into_[c] = c;
  }

  /// Returns the simplified tree.
  [[nodiscard]] CondensedTree run() {
    // Children of a cluster have higher numbers, so that descending parents see finished splits below them.
    const std::size_t count = tree_.clusters.size();
    std::vector<std::vector<std::uint32_t>> children(count);
    for (std::uint32_t c = 1; c < count; ++c) children[tree_.clusters[c].parent].push_back(c);
    for (std::size_t parent = count; parent-- > 0;)
      if (!children[parent].empty()) simplify_split(static_cast<std::uint32_t>(parent), children[parent]);
    return renumber();
  }

 private:
  /// Keeps the children of a split that persist, or merges them into their parent where fewer than two do.
  void simplify_split(std::uint32_t parent, const std::vector<std::uint32_t>& children) {
    const double split = tree_.clusters[children.front()].birth;
    const auto persists = [&](std::uint32_t c) { return split == kInfinity || deepest_[c] - split >= least_; };
    const bool keeps = std::count_if(children.begin(), children.end(), persists) > 1;
    // Of equally persistent children the last one counts as the most persistent, as in hdbscan.
    std::uint32_t best = children.front();
    for (const std::uint32_t c : children)
      if (deepest_[c] >= deepest_[best]) best = c;
    has_children_[parent] = keeps || has_children_[best] != 0 ? 1 : 0;
    for (const std::uint32_t c : children) {
      if (keeps && persists(c)) continue;
      into_[c] = parent;
      // What goes on splitting is the parent from here on; points of the others have left it at the split.
      if (keeps || (c != best && has_children_[best] != 0)) leaves_at_[c] = split;
    }
  }

  /// Returns the tree of the clusters that are left, in their order.
  [[nodiscard]] CondensedTree renumber() const {
    CondensedTree out;
    std::vector<std::uint32_t> number(into_.size());
    for (std::uint32_t c = 0; c < into_.size(); ++c) {
      if (into_[c] != c) {
        number[c] = number[into_[c]];  // its parent has a lower number
        continue;
      }
      number[c] = static_cast<std::uint32_t>(out.clusters.size());
      auto cluster = tree_.clusters[c];
      cluster.parent = number[cluster.parent];
      out.clusters.push_back(cluster);
    }
    const std::size_t points = tree_.lambda.size();
    out.cluster_of.resize(points);
    out.lambda = tree_.lambda;
    out.weights = tree_.weights;
    for (std::size_t p = 0; p < points; ++p) {
      const std::uint32_t last = tree_.cluster_of[p];
      out.cluster_of[p] = number[last];
      if (leaves_at_[last] >= 0) out.lambda[p] = leaves_at_[last];
    }
    return out;
  }

  const CondensedTree& tree_;
  double least_;                            // persistence below which a cluster is merged
  std::vector<double> deepest_;             // by cluster: greatest lambda of its points, below it too
  std::vector<std::uint32_t> into_;         // by cluster: the cluster that it is merged into, or itself
  std::vector<double> leaves_at_;           // by cluster: lambda at which its own points leave; negative: as before
  std::vector<std::uint8_t> has_children_;  // by cluster: 1: a split below it is left
};

}  // namespace

// Simplification by persistence, cluster_selection_persistence of hdbscan.
CondensedTree simplify(const CondensedTree& tree, double persistence) {
  if (!(persistence >= 0)) throw UsageError("persistence: " + number_text(persistence) + "; allowed: 0 and more");
  if (persistence == 0 || tree.clusters.size() < 2) return tree;
  return Simplifier(tree, persistence).run();
}

CondensedTree condense(const Dendrogram& d, const HdbscanOptions& options, std::span<const double> weights) {
  CondensedTree tree = condense(d, options.min_cluster_size, options.ties, weights);
  return options.persistence == 0 ? tree : simplify(tree, options.persistence);  // which refuses bad values
}

}  // namespace merganser::msf
