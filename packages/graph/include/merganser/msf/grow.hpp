#pragma once
/// Order of the merges of single linkage as in scikit-learn's HDBSCAN, where several merges have one height: that in which
/// Prim's algorithm adds the edges.
///
/// scikit-learn's HDBSCAN grows the tree from point 0, sorts its edges by NumPy's argsort, which is not stable, and undoes
/// the merges one by one. The first two steps are repeated here, starting from a forest that is known. All functions are
/// local.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"
#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// Edge that Prim's algorithm added to a spanning tree, with the vertex that it added.
struct GrownEdge {
  std::uint32_t from;  ///< vertex that was in the tree already
  std::uint32_t to;    ///< vertex that the edge added to the tree
  double weight;       ///< weight of the edge; infinite where a new component begins
  friend bool operator==(const GrownEdge&, const GrownEdge&) = default;
};

/// Orders the edges of a forest as Prim's algorithm adds them, starting with vertex 0. Local.
///
/// Of the edges of least weight that leave the tree the one to the lowest vertex is taken, from the vertex that was added
/// first. The choice is among the edges of the forest. After a component is complete, the next one starts with its lowest
/// vertex and an edge of infinite weight from vertex 0: n - 1 edges in all.
/// @throws InputError for more vertices than kMaxLinkageVertices, and edges that are no forest or whose ends are no vertices
/// Cost: O(n log n) time; beside the result 48 bytes per vertex
[[nodiscard]] std::vector<GrownEdge> grow(const Forest& forest);

/// Result of grow() on gathered points: the edges of a minimum spanning tree in the order of Prim's algorithm.
struct Growth {
  std::vector<GrownEdge> edges;  ///< edges in the order in which they are added, one less than the points
  bool exact = false;            ///< the choice was among all edges of equal weight; false: among those of the forest
};

/// Default limit of steps after which grow() stops the search for edges of equal weight: about a minute on one core, estimated
/// from smaller runs. 131,000 equal points in the plane reach it.
inline constexpr std::uint64_t kMaxGrowSteps = std::uint64_t{1} << 34;

/// Orders the edges of a minimum spanning tree of points as Prim's algorithm from point 0 adds them, where it chooses among all
/// pairs of points. Local.
///
/// Weights compare as they are returned (distances, not their squares). The edges may differ from those of the forest, with the
/// same weights. Only edges that some minimum spanning tree has are searched for, with a tree of boxes, from the smaller side of
/// each merge, and only where GatheredPoints::neighbours leaves it open whether there are others than those of the forest and of its lists.
/// @param points      the points of the forest, on rank 0; empty: the result is that of grow(forest), not exact
/// @param most_steps  comparisons of coordinates, of points and boxes, after which the search stops: then the result is that
///                    of grow(forest), not exact. Their number does not depend on the processor
/// @throws as grow(forest), and InputError for points, or a metric, min_samples or alpha, that are not those of the forest: a minimum
/// spanning tree of them has other weights
/// Cost: memory of 16 bytes per coordinate and 84 per point; with core distances 13 more per point and 2 for each of min_samples up to 32, and
/// meanwhile that of a search for core distances where GatheredPoints::neighbours is null; where those are complete, in up to three dimensions,
/// 44 more per point and 5 for each of min_samples
[[nodiscard]] Growth grow(const Forest& forest, const GatheredPoints& points, std::uint64_t most_steps = kMaxGrowSteps);

/// Returns the positions of weights in ascending order (argsort), equal ones in the order of NumPy's argsort without vector
/// instructions: on ARM, and on x86 before AVX2. With vector instructions NumPy's order differs. Local.
/// @throws InputError for more weights than 2^31 or one that is not a number
[[nodiscard]] std::vector<std::uint32_t> sorted_like_numpy(std::span<const double> weights);

/// Computes the dendrogram of edges that are merged in a given order. Local. Of a merge, `a` is the cluster of the edge's
/// `from`, and may be above `b`.
/// @param edges  of grow(): one less than the vertices
/// @param order  positions in `edges`, by ascending weight; each once
/// @throws InputError for an order of another length, positions out of range, descending weights, or edges that close a cycle
/// Cost: as dendrogram()
[[nodiscard]] Dendrogram dendrogram_in_order(std::span<const GrownEdge> edges, std::span<const std::uint32_t> order);

/// Computes the dendrogram of edges of grow() in the order of sorted_like_numpy(), for condense() with
/// HdbscanTies::sequential, which then undoes the merges in scikit-learn's order. Local. @throws as dendrogram_in_order()
[[nodiscard]] Dendrogram grown_dendrogram(const std::vector<GrownEdge>& edges);

}  // namespace merganser::msf
