#pragma once
/// Merges of one height, one by one as other programs make them: in the order in which Prim's algorithm finds the edges.
///
/// scikit-learn's HDBSCAN grows the tree from point 0, sorts its edges by NumPy's argsort, which is not stable, and undoes
/// the merges one by one. Here the first two steps are made again, from a forest that is there already. All is local.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"
#include "merganser/msf/gathered_points.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// An edge by which a tree grew.
struct GrownEdge {
  std::uint32_t from;  ///< in the tree already
  std::uint32_t to;    ///< comes in
  double weight;
  friend bool operator==(const GrownEdge&, const GrownEdge&) = default;
};

/// The edges of a forest in the order in which Prim's algorithm, starting with vertex 0, takes them. Local.
///
/// Of the edges of least weight that leave the tree the one to the lowest vertex is taken, from the vertex that came in
/// first. The choice is among the edges of the forest. Where it falls apart, the next component starts with its lowest vertex
/// and an edge of infinite weight from vertex 0: n - 1 edges in all.
/// @throws InputError for more vertices than kMaxLinkageVertices, and edges that are no forest or whose ends are no vertices
/// Cost: O(n log n) time; beside the result 48 bytes per vertex
[[nodiscard]] std::vector<GrownEdge> grow(const Forest& forest);

/// What the growth of a tree of points gives.
struct Growth {
  std::vector<GrownEdge> edges;  ///< one less than the points
  bool exact = false;            ///< the choice was among all edges of equal weight; false: among those of the forest
};

/// Steps after which grow() no longer looks for edges of equal weight: about a minute on one core, estimated from smaller runs. So many are needed
/// where all of 131,000 points in the plane are equal.
inline constexpr std::uint64_t kMaxGrowSteps = std::uint64_t{1} << 34;

/// Orders the edges of a minimum spanning tree of points as Prim's algorithm from point 0 takes them, choosing among all pairs
/// of points. Local.
///
/// Weights compare as they are given out (distances, not their squares). The edges may be others than the forest's, of the
/// same weights. Only edges that could stand in a minimum spanning tree are looked at, by boxes of points: few where few
/// distances are equal, all n (n - 1) / 2 where all are.
/// @param points      those of the forest, on rank 0; none: as grow(forest), not exact
/// @param most_steps  coordinates that are compared, of points and boxes, before it gives up: then the edges are those of
///                    grow(forest), not exact. The same on every processor
/// @throws as grow(forest), and InputError for points that are not those of the forest
/// Cost: memory of 16 bytes per coordinate and 60 per point
[[nodiscard]] Growth grow(const Forest& forest, const GatheredPoints& points, std::uint64_t most_steps = kMaxGrowSteps);

/// Positions of weights in ascending order, equal ones as NumPy's argsort leaves them where it does not use vector
/// instructions: on ARM, and on x86 before AVX2. With them it leaves them otherwise.
/// @throws InputError for more weights than 2^31 or one that is not a number
[[nodiscard]] std::vector<std::uint32_t> sorted_like_numpy(std::span<const double> weights);

/// The dendrogram of edges taken in an order. Of a merge, `a` is the cluster that the edge came from, which may be above `b`.
/// @param edges  of grow(): one less than the vertices
/// @param order  places in `edges`, by ascending weight; each once
/// @throws InputError for an order of another length, with places that are not there or descending weights, or edges that
///         close a cycle
/// Cost: as that of dendrogram()
[[nodiscard]] Dendrogram dendrogram_in_order(std::span<const GrownEdge> edges, std::span<const std::uint32_t> order);

/// The dendrogram of grown edges, sorted_like_numpy(): its merges are those that condense() undoes as scikit-learn does
/// (HdbscanTies::sequential).
[[nodiscard]] Dendrogram grown_dendrogram(const std::vector<GrownEdge>& edges);

}  // namespace merganser::msf
