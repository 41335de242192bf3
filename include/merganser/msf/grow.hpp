#pragma once
/// Merges of one height, one by one as other programs make them: in the order in which Prim's algorithm finds the edges.
///
/// scikit-learn's HDBSCAN grows the tree from point 0, sorts its edges by NumPy's argsort, which is not stable, and undoes
/// the merges one by one. Here the first two steps are made again, on a forest that is there already. All is local.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"
#include "merganser/msf/linkage.hpp"

namespace merganser::msf {

/// An edge by which a tree grew.
struct GrownEdge {
  std::uint32_t from;  ///< in the tree already
  std::uint32_t to;    ///< comes in
  double weight;
  friend bool operator==(const GrownEdge&, const GrownEdge&) = default;
};

/// The nearest points of every point, and the distance to the last of them. Of these come the other edges that a tree of
/// mutual reachability distances could have: a point has its core distance to all of them whose own is not greater.
struct NearestPoints {
  std::size_t each = 0;                    ///< points named per point; 0: nothing is known
  std::span<const std::int64_t> points;    ///< `each` per point, in any order; the point itself may be among them
  std::span<const double> core_distances;  ///< by point
};

/// The edges of a forest in the order in which Prim's algorithm, starting with vertex 0, takes them. Local.
///
/// Of the edges of least weight that leave the tree the one to the lowest vertex is taken, from the vertex that came in
/// first. With `nearest` the choice is among all edges of that weight which these lists give (the edges that result may then
/// be others than the forest's, of the same weights), else among those of the forest. Where the forest falls apart, the next
/// component starts with its lowest vertex and an edge of infinite weight from vertex 0: n - 1 edges in all.
/// @throws InputError for more vertices than kMostLinkageVertices, edges that are no forest or whose ends are no vertices, and
///         lists of other lengths or with points that are not there
/// Cost: O(n each log n) time; beside the result 48 bytes per vertex, and 4 more for each point of the lists.
[[nodiscard]] std::vector<GrownEdge> grow(const Forest& forest, const NearestPoints& nearest = {});

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

/// The three together: the dendrogram whose merges condense() undoes as scikit-learn does (HdbscanTies::sequential).
[[nodiscard]] Dendrogram grown_dendrogram(const Forest& forest, const NearestPoints& nearest = {});

}  // namespace merganser::msf
