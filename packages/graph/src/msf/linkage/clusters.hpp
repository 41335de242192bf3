#pragma once
/// Trees of vertices that are joined into a dendrogram.
#include <algorithm>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// @throws InputError for more than the numbers of vertices and merges do for. @param who  "dendrogram", of the message
inline void check_linkage_size(const char* who, std::uint64_t size, const char* of_what = "vertices") {
  if (size > kMaxLinkageVertices)
    throw InputError(std::string(who) + ": " + std::to_string(size) + ' ' + of_what + "; allowed: at most " +
                     std::to_string(kMaxLinkageVertices));
}

/// Trees of vertices, and the cluster that each is now.
class Clusters {
 public:
  explicit Clusters(std::size_t vertices) : up_(vertices), cluster_(vertices) {
    std::iota(up_.begin(), up_.end(), 0U);
    std::iota(cluster_.begin(), cluster_.end(), 0U);
  }

  [[nodiscard]] std::uint32_t find(std::uint32_t v) {
    while (up_[v] != v) {
      up_[v] = up_[up_[v]];
      v = up_[v];
    }
    return v;
  }

  /// Joins the trees of two roots at a height, the cluster of `x` as the first.
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

  /// The same, the lower of the two clusters as the first.
  void join_lower_first(std::uint32_t x, std::uint32_t y, double height, Dendrogram& d) {
    if (cluster_[x] > cluster_[y]) std::swap(x, y);
    join(x, y, height, d);
  }

 private:
  std::vector<std::uint32_t> up_;
  std::vector<std::uint32_t> cluster_;  // of the root of a tree
};

}  // namespace merganser::msf
