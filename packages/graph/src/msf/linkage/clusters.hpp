#pragma once
/// Union-find for single-linkage clustering, which records the merges of clusters in a dendrogram.
#include <algorithm>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// Checks that a number of vertices (or weights) for single linkage does not exceed kMaxLinkageVertices, so that cluster numbers
/// fit 32 bits. @param who  name of the function for the message  @throws InputError
inline void check_linkage_size(const char* who, std::uint64_t size, const char* of_what = "vertices") {
  if (size > kMaxLinkageVertices)
    throw InputError(std::string(who) + ": " + std::to_string(size) + ' ' + of_what + "; allowed: at most " +
                     std::to_string(kMaxLinkageVertices));
}

/// Disjoint sets of the vertices of a spanning forest during single linkage, each with the number of its cluster in the dendrogram.
class Clusters {
 public:
  /// Starts single linkage: makes every vertex a set and a cluster of its own.
  explicit Clusters(std::size_t vertices) : up_(vertices), cluster_(vertices) {
    std::iota(up_.begin(), up_.end(), 0U);
    std::iota(cluster_.begin(), cluster_.end(), 0U);
  }

  /// Returns the vertex that is the root of the set (single-linkage cluster) of vertex v; halves the path to it.
  [[nodiscard]] std::uint32_t find(std::uint32_t v) {
    while (up_[v] != v) {
      up_[v] = up_[up_[v]];
      v = up_[v];
    }
    return v;
  }

  /// Joins the single-linkage clusters of two root vertices, and appends the merge at a height to the dendrogram; the cluster of
  /// `x` is its `a`.
  void join(std::uint32_t x, std::uint32_t y, double height, Dendrogram& d) {
    const auto vertices = static_cast<std::uint32_t>(up_.size());
    const auto size = [&](std::uint32_t cluster) {
      return cluster < vertices ? 1U : d.merges[cluster - vertices].size;
    };
    const std::uint32_t size_x = size(cluster_[x]);
    const std::uint32_t size_y = size(cluster_[y]);
    const auto number = static_cast<std::uint32_t>(vertices + d.merges.size());
    d.merges.push_back({cluster_[x], cluster_[y], height, size_x + size_y});
    if (size_x < size_y) std::swap(x, y);
    up_[y] = x;
    cluster_[x] = number;
  }

  /// Joins the single-linkage clusters of two root vertices, and appends the merge at a height to the dendrogram; the cluster of
  /// lower number is its `a`.
  void join_lower_first(std::uint32_t x, std::uint32_t y, double height, Dendrogram& d) {
    if (cluster_[x] > cluster_[y]) std::swap(x, y);
    join(x, y, height, d);
  }

 private:
  std::vector<std::uint32_t> up_;       // by vertex: its parent in the union-find forest
  std::vector<std::uint32_t> cluster_;  // by root vertex: number of the cluster in the dendrogram
};

}  // namespace merganser::msf
