// Summaries of dendrograms and condensed trees for run records: the upper merges, and the largest clusters.
#include "apps/linkage/trees_json.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace merganser::app {
namespace {

/// Converts a height or lambda to JSON, which has no infinity: null in its place.
Json finite_or_null(double x) { return std::isfinite(x) ? Json(x) : Json(); }

/// Upper part of a dendrogram: merges whose two sides both have enough vertices, the highest first.
class UpperMerges {
 public:
  explicit UpperMerges(const msf::Dendrogram& d)
      : d_(d), min_size_(static_cast<std::uint32_t>(std::max<std::uint64_t>(1, d.vertices / 200))) {}

  /// Returns the member of the run record.
  [[nodiscard]] Json json() {
    add_roots();
    split();
    Json out = {{"min_size", min_size_}, {"merges_left_out", d_.merges.size() - shown_}};
    for (const char* column : {"parent", "height", "size"}) out[column] = Json::array();
    for (const Node& node : nodes_) {
      out["parent"].push_back(node.parent);
      out["height"].push_back(finite_or_null(height(node.place)));
      out["size"].push_back(node.size);
    }
    return out;
  }

 private:
  /// Node of the drawn tree: its place in the dendrogram is the highest merge below it with two sides of enough vertices, if any.
  struct Node {
    std::int64_t parent;  // position in nodes_; -1: none
    std::uint32_t place;  // cluster of the dendrogram: a vertex below n, else merge place - n
    std::uint32_t size;   // number of vertices where the node begins
  };

  [[nodiscard]] bool is_vertex(std::uint32_t cluster) const { return cluster < d_.vertices; }
  [[nodiscard]] const msf::Merge& merge(std::uint32_t cluster) const { return d_.merges[cluster - d_.vertices]; }
  [[nodiscard]] std::uint32_t size(std::uint32_t cluster) const { return is_vertex(cluster) ? 1 : merge(cluster).size; }
  [[nodiscard]] double height(std::uint32_t cluster) const { return is_vertex(cluster) ? 0 : merge(cluster).height; }

  /// Adds a node for a cluster: descends past merges that have but one side of enough vertices.
  void add(std::int64_t parent, std::uint32_t cluster) {
    const std::uint32_t points = size(cluster);
    while (!is_vertex(cluster)) {
      const msf::Merge& m = merge(cluster);
      const bool a = size(m.a) >= min_size_;
      const bool b = size(m.b) >= min_size_;
      if (a == b) break;
      cluster = a ? m.a : m.b;
    }
    nodes_.push_back({parent, cluster, points});
  }

  /// Adds a node for each component of enough vertices, the largest first, up to kMaxRecordedLeaves.
  void add_roots() {
    std::vector<bool> merged(d_.vertices + d_.merges.size());
    for (const msf::Merge& m : d_.merges) merged[m.a] = merged[m.b] = true;
    std::vector<std::uint32_t> roots;
    for (std::uint32_t c = 0; c < merged.size(); ++c)
      if (!merged[c] && size(c) >= min_size_) roots.push_back(c);
    std::stable_sort(roots.begin(), roots.end(), [&](auto a, auto b) { return size(a) > size(b); });
    roots.resize(std::min(roots.size(), kMaxRecordedLeaves));
    for (const std::uint32_t root : roots) add(-1, root);
  }

  /// Splits the highest node of two sides of enough vertices until there are kMaxRecordedLeaves leaves.
  void split() {
    const auto is_lower = [&](std::size_t a, std::size_t b) {
      return height(nodes_[a].place) != height(nodes_[b].place) ? height(nodes_[a].place) < height(nodes_[b].place)
                                                                : a > b;
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(is_lower)> open(is_lower);
    for (std::size_t i = 0; i < nodes_.size(); ++i) open.push(i);
    for (std::size_t leaves = nodes_.size(); leaves < kMaxRecordedLeaves && !open.empty();) {
      const std::size_t at = open.top();
      open.pop();
      const std::uint32_t place = nodes_[at].place;
      if (is_vertex(place) || size(merge(place).a) < min_size_ || size(merge(place).b) < min_size_) continue;
      for (const std::uint32_t part : {merge(place).a, merge(place).b}) {
        add(static_cast<std::int64_t>(at), part);
        open.push(nodes_.size() - 1);
      }
      ++shown_;
      ++leaves;
    }
  }

  const msf::Dendrogram& d_;
  std::uint32_t min_size_;
  std::vector<Node> nodes_;
  std::size_t shown_ = 0;  // number of merges that are in nodes_ with both sides
};

}  // namespace

Json dendrogram_json(const msf::Dendrogram& d) { return UpperMerges(d).json(); }

Json condensed_json(const msf::CondensedTree& tree, const std::vector<std::uint32_t>& selected) {
  const std::size_t count = tree.clusters.size();
  std::vector<double> end(count);
  for (std::size_t c = 0; c < count; ++c) end[c] = tree.clusters[c].birth;
  for (std::size_t c = 1; c < count; ++c)
    end[tree.clusters[c].parent] = std::max(end[tree.clusters[c].parent], tree.clusters[c].birth);
  for (std::size_t p = 0; p < tree.lambda.size(); ++p)
    end[tree.cluster_of[p]] = std::max(end[tree.cluster_of[p]], tree.lambda[p]);
  std::vector<std::int64_t> label(count, -1);
  for (std::size_t i = 0; i < selected.size(); ++i) label[selected[i]] = static_cast<std::int64_t>(i);

  // A cluster is smaller than its parent, so the largest ones come with their parents.
  std::vector<std::uint32_t> largest(count);
  std::iota(largest.begin(), largest.end(), 0U);
  std::stable_sort(largest.begin(), largest.end(),
                   [&](auto a, auto b) { return tree.clusters[a].size > tree.clusters[b].size; });
  largest.resize(std::min(count, kMaxRecordedClusters));
  std::sort(largest.begin(), largest.end());
  std::vector<std::int64_t> place(count, -1);
  for (std::size_t i = 0; i < largest.size(); ++i) place[largest[i]] = static_cast<std::int64_t>(i);
  Json out = {{"clusters_left_out", count - largest.size()}};
  for (const std::uint32_t c : largest) {
    const auto& cluster = tree.clusters[c];
    out["parent"].push_back(c == 0 ? -1 : place[cluster.parent]);
    out["size"].push_back(cluster.size);
    out["birth"].push_back(finite_or_null(cluster.birth));
    out["end"].push_back(finite_or_null(end[c]));
    out["label"].push_back(label[c]);
  }
  return out;
}

}  // namespace merganser::app
