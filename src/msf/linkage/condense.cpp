#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/msf/hdbscan.hpp"

namespace merganser::msf {
namespace {

double lambda_of(double height) { return height > 0 ? 1 / height : std::numeric_limits<double>::infinity(); }

/// From the top down: a node stays in its cluster, founds one, or falls out of it with all that is below it.
class Condenser {
 public:
  Condenser(const Dendrogram& d, std::uint64_t min_cluster_size)
      : d_(d),
        points_(static_cast<std::size_t>(d.vertices)),
        least_(min_cluster_size),
        cluster_(points_ + d.merges.size()),
        fall_(cluster_.size(), kStays) {}

  CondensedTree run() {
    tree_.clusters.push_back({0, static_cast<std::uint32_t>(points_), 0});
    for (std::size_t i = d_.merges.size(); i-- > 0;) part(i);
    tree_.cluster_of.assign(cluster_.begin(), cluster_.begin() + static_cast<std::ptrdiff_t>(points_));
    tree_.lambda.resize(points_);
    for (std::size_t p = 0; p < points_; ++p) {
      tree_.lambda[p] = fall_[p] == kStays ? 0 : lambda_of(d_.merges[fall_[p]].height);
    }
    return std::move(tree_);
  }

 private:
  static constexpr std::uint32_t kStays = ~0U;

  [[nodiscard]] std::uint32_t size(std::uint32_t node) const {
    return node < points_ ? 1 : d_.merges[node - points_].size;
  }

  void part(std::size_t i) {
    const Merge& m = d_.merges[i];
    const std::size_t node = points_ + i;
    const bool whole = fall_[node] == kStays;
    const bool splits = whole && size(m.a) >= least_ && size(m.b) >= least_;
    for (const std::uint32_t child : {m.a, m.b}) {
      cluster_[child] = cluster_[node];
      fall_[child] = fall_[node];
      if (splits) {
        tree_.clusters.push_back({cluster_[node], size(child), lambda_of(m.height)});
        cluster_[child] = static_cast<std::uint32_t>(tree_.clusters.size() - 1);
      } else if (whole && size(child) < least_) {
        fall_[child] = static_cast<std::uint32_t>(i);
      }
    }
  }

  const Dendrogram& d_;
  std::size_t points_;
  std::uint64_t least_;
  CondensedTree tree_;
  std::vector<std::uint32_t> cluster_;  // by node
  std::vector<std::uint32_t> fall_;     // by node: the merge at which it falls
};

}  // namespace

CondensedTree condense(const Dendrogram& d, std::uint64_t min_cluster_size) {
  if (min_cluster_size < 2) {
    throw UsageError("condense: min_cluster_size is " + std::to_string(min_cluster_size) + "; allowed: 2 and more");
  }
  if (d.vertices == 0) return {};
  if (d.components() != 1) {
    throw UsageError("condense: a dendrogram of " + std::to_string(d.components()) +
                     " components; allowed: one, as Apart::join makes it");
  }
  return Condenser(d, min_cluster_size).run();
}

std::vector<double> stabilities(const CondensedTree& tree) {
  std::vector<double> sums(tree.clusters.size());
  const auto leaves = [&](std::uint32_t cluster, double lambda, double points) {
    const double birth = tree.clusters[cluster].birth;
    if (lambda > birth) sums[cluster] += (lambda - birth) * points;  // not where both are infinite
  };
  for (std::size_t p = 0; p < tree.lambda.size(); ++p) leaves(tree.cluster_of[p], tree.lambda[p], 1);
  for (std::size_t c = 1; c < sums.size(); ++c) {
    leaves(tree.clusters[c].parent, tree.clusters[c].birth, tree.clusters[c].size);
  }
  return sums;
}

}  // namespace merganser::msf
