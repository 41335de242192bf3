#pragma once
/// Single-linkage clusters of a spanning tree as ranges of places in the order in which Prim's algorithm adds its points.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/msf/grow.hpp"

namespace merganser::msf {

/// Single-linkage clusters of a spanning tree of points. Points of a cluster have consecutive places in the order of Prim's
/// algorithm, which enters a cluster once and leaves it when all its points have been added. Merges of equal height that touch
/// make one cluster of several parts.
class NestedClusters {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< parent of the cluster of all points

  /// Cluster of at least two points, whose parts (smaller clusters and single points) are joined at one height.
  struct Cluster {
    double height;              ///< weight of the edges that join its parts; all edges within the parts are lighter
    std::uint32_t begin;        ///< place of its first point
    std::uint32_t end;          ///< place behind that of its last point
    std::uint32_t parent;       ///< cluster that it is a part of; kNone: it has all points
    std::uint32_t visited = 0;  ///< number of points in those of its parts that have been visited completely
  };

  /// Computes the clusters in O(n). @param grown  edges of a spanning tree in the order of Prim's algorithm
  explicit NestedClusters(std::span<const GrownEdge> grown);
  /// Returns the smallest cluster of at least two points that has the point at a place as a part; kNone if it is the only point.
  [[nodiscard]] std::uint32_t around(std::uint32_t place) const { return around_[place]; }
  /// Returns a cluster by its number.
  [[nodiscard]] Cluster& operator[](std::uint32_t cluster) { return clusters_[cluster]; }

 private:
  std::vector<std::uint32_t> around_;  ///< by place: the smallest cluster around the point
  std::vector<Cluster> clusters_;      ///< in the order of their first edges
};

}  // namespace merganser::msf
