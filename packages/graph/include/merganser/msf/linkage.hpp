#pragma once
/// Single-linkage clustering: the dendrogram of a spanning forest, as SciPy's linkage matrix, and flat clusters by cutting it.
///
/// All functions but gather_forest() are local and take the whole forest. The order (weight, low, high) is strict, so that a
/// forest has one dendrogram, ties included, whatever algorithm and number of ranks computed it.
#include <cstdint>
#include <limits>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// Most vertices of a dendrogram: clusters are numbered up to 2 n - 2 in 32 bits.
inline constexpr std::uint64_t kMaxLinkageVertices = std::uint64_t{1} << 31;

/// Bytes per vertex on rank 0 while forests are gathered and dendrograms made: edges, merges, trees of clusters.
inline constexpr double kLinkageBytesPerVertex = 56;

/// Gathers a spanning forest on rank 0, for single linkage. Collective.
/// @param mine  this rank's share of the edges
/// @return on rank 0 all edges in ascending order of (weight, low, high); none on the others
///
/// Memory: 24 bytes per edge on rank 0, and pieces of a few MiB while they travel.
/// @throws InputError on every rank for more vertices than kMaxLinkageVertices, UsageError if ranks differ in them
[[nodiscard]] Forest gather_forest(const Forest& mine, comm::Transport& transport);

/// Merge of two clusters of single linkage. Merge i makes cluster n + i; vertices are the clusters 0 .. n - 1.
struct Merge {
  std::uint32_t a;     ///< one cluster that is merged, of lower number than b unless dendrogram_in_order() made it
  std::uint32_t b;     ///< the other cluster that is merged
  double height;       ///< weight of the spanning forest's edge between them
  std::uint32_t size;  ///< number of vertices of the new cluster
  friend bool operator==(const Merge&, const Merge&) = default;
};

/// Dendrogram of single linkage over n vertices: its merges in ascending order of height. A graph of c components has n - c
/// merges, which form c dendrograms.
struct Dendrogram {
  std::uint64_t vertices = 0;  ///< number n of vertices
  std::vector<Merge> merges;   ///< in ascending order of height

  /// Returns the number of clusters after all merges of the dendrogram: components of the graph.
  [[nodiscard]] std::uint64_t components() const noexcept { return vertices - merges.size(); }
};

/// Treatment in a dendrogram of components between which the forest has no edge.
enum class Apart : std::uint8_t {
  stay,  ///< each has a dendrogram of its own
  join,  ///< joined at infinite height, in the order of their lowest vertices: n - 1 merges, as SciPy's functions need
};

/// Computes the dendrogram of single linkage from a whole spanning forest. Local.
/// @param forest  with its edges in ascending order, as gather_forest() returns it on rank 0
/// @throws InputError for edges that are not in ascending order, are no forest, or have ends that are no vertices
/// Cost: O(n a(n)) time, 8 bytes per vertex beside the result.
[[nodiscard]] Dendrogram dendrogram(const Forest& forest, Apart apart = Apart::stay);

/// Flat clusters from cutting a dendrogram: the cluster of every vertex, numbered 0, 1, ... in the order of their lowest vertices.
struct Labels {
  std::uint32_t clusters = 0;     ///< number of flat clusters
  std::vector<std::uint32_t> of;  ///< by vertex: the number of its flat cluster
};

/// Computes the flat clusters of a dendrogram at height h: those after the merges of at most that height (SciPy's fcluster,
/// criterion "distance"). Local.
/// @throws UsageError if h is not a number
[[nodiscard]] Labels cut_by_height(const Dendrogram& d, double h);

/// Treatment of merges of one height of which a cut of a dendrogram to a count of clusters would make only some.
enum class Ties : std::uint8_t {
  together,  ///< makes all of them: there may be fewer clusters (SciPy's fcluster, criterion "maxclust")
  apart,     ///< makes those that come first in the strict order: exactly k clusters
};

/// Computes at most k flat clusters of a dendrogram, as many as possible. Local. @throws UsageError if k is below the number of
/// components or 1, and with Ties::apart if it is above the number of vertices
[[nodiscard]] Labels cut_by_count(const Dendrogram& d, std::uint64_t k, Ties ties = Ties::together);

}  // namespace merganser::msf
