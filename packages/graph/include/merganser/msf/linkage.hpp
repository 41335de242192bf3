#pragma once
/// Single linkage: the dendrogram of a spanning forest, as SciPy writes it, and cuts through it.
///
/// All but gather_forest() is local and takes the whole forest. The order (weight, low, high) is strict, so that a forest
/// has one dendrogram, ties included, whatever found it on however many ranks.
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

/// All ranks' edges on rank 0, in ascending order of (weight, low, high); none on the others. Collective.
///
/// Memory: 24 bytes per edge on rank 0, and pieces of a few MiB while they travel.
/// @throws InputError on every rank for more vertices than kMaxLinkageVertices, UsageError if ranks differ in them
[[nodiscard]] Forest gather_forest(const Forest& mine, comm::Transport& transport);

/// Two clusters become one. Merge i makes cluster n + i; vertices are the clusters 0 .. n - 1.
struct Merge {
  std::uint32_t a;  ///< below b
  std::uint32_t b;
  double height;       ///< weight of the edge between them
  std::uint32_t size;  ///< vertices of the new cluster
  friend bool operator==(const Merge&, const Merge&) = default;
};

/// Merges in ascending order of height. A graph of c components has n - c of them, which is a forest of dendrograms.
struct Dendrogram {
  std::uint64_t vertices = 0;
  std::vector<Merge> merges;

  /// Clusters that are left when all merges are made.
  [[nodiscard]] std::uint64_t components() const noexcept { return vertices - merges.size(); }
};

/// What becomes of components between which there is no edge.
enum class Apart : std::uint8_t {
  stay,  ///< each has a dendrogram of its own
  join,  ///< joined at infinite height, in the order of their lowest vertices: n - 1 merges, as SciPy's functions need
};

/// The dendrogram of a forest in ascending order of its edges, as gather_forest() gives it. Local.
/// @throws InputError for edges that are not in ascending order, are no forest, or have ends that are no vertices
/// Cost: O(n a(n)) time, 8 bytes per vertex beside the result.
[[nodiscard]] Dendrogram dendrogram(const Forest& forest, Apart apart = Apart::stay);

/// Cluster of every vertex, numbered 0, 1, ... in the order of their lowest vertices.
struct Labels {
  std::uint32_t clusters = 0;
  std::vector<std::uint32_t> of;  ///< by vertex
};

/// Clusters at height h: merges of at most that height are made (SciPy's fcluster, criterion "distance").
/// @throws UsageError if h is not a number
[[nodiscard]] Labels cut_by_height(const Dendrogram& d, double h);

/// What a cut does with merges of one height of which only some would be made.
enum class Ties : std::uint8_t {
  together,  ///< makes all of them: there may be fewer clusters (SciPy's fcluster, criterion "maxclust")
  apart,     ///< makes those that come first in the strict order: exactly as many clusters as asked for
};

/// At most k clusters, as many as can be. @throws UsageError if k is below the number of components or 1, and with
/// Ties::apart if it is above the number of vertices
[[nodiscard]] Labels cut_by_count(const Dendrogram& d, std::uint64_t k, Ties ties = Ties::together);

}  // namespace merganser::msf
