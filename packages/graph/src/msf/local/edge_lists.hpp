#pragma once
/// Vectorised passes of filter-Kruskal: lists of light edges and of edges that leave a range of vertices, and paths to roots.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "merganser/graphs/edges.hpp"

namespace merganser::msf {

/// Number of entries behind the last one of a list that list_edges() may overwrite.
inline constexpr std::size_t kListSlack = 16;

/// Consecutive vertices first .. last of a graph, one at least; all, unless set.
struct VertexRange {
  std::uint64_t first = 0;                                         ///< first vertex
  std::uint64_t last = std::numeric_limits<std::uint64_t>::max();  ///< last vertex
};

/// Returns whether an edge is greater than the pivot of a filter-Kruskal round; mostly decided by the weights.
template <class Edge>
bool is_above(const Edge& e, const Edge& pivot) {
  if (e.weight != pivot.weight) [[likely]]
    return e.weight > pivot.weight;
  return pivot < e;
}

/// Result of list_edges(): numbers of positions in the lists, and the largest end.
struct ListedEdges {
  std::size_t light = 0;      ///< number of light edges
  std::size_t away = 0;       ///< number of edges with an end outside the range of vertices
  std::uint64_t highest = 0;  ///< largest end of all edges; 0 if there are none
};

/// Lists the positions of light edges, which with their weights xored with `flip` are at most `pivot`, and of edges with an end outside
/// a range of vertices, both ascending. Local.
/// @param edges  fewer than 2^32
/// @param light,away  lists, each with memory for all edges and kListSlack entries more
template <class Edge>
ListedEdges list_edges(std::span<const Edge> edges, typename Edge::bits_type flip, const Edge& pivot,
                       const VertexRange& range, std::uint32_t* light, std::uint32_t* away) {
  ListedEdges found;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Edge e = edges[i];
    e.weight ^= flip;
    found.highest = std::max<std::uint64_t>(found.highest, e.high);
    light[found.light] = static_cast<std::uint32_t>(i);
    found.light += static_cast<std::size_t>(!is_above(e, pivot));
    away[found.away] = static_cast<std::uint32_t>(i);
    found.away += static_cast<std::size_t>(e.low < range.first) | static_cast<std::size_t>(e.high > range.last);
  }
  return found;
}
/// list_edges() for edges of 12 bytes, by vector instructions.
template <>
ListedEdges list_edges<graphs::Edge12>(std::span<const graphs::Edge12> edges, std::uint32_t flip,
                                       const graphs::Edge12& pivot, const VertexRange& range, std::uint32_t* light,
                                       std::uint32_t* away);

/// Lists the positions of the edges of which at most one end is in a set of vertices, ascending. Local.
/// @param edges  fewer than 2^32
/// @param set    one bit per vertex, the lowest of a word first
/// @param list   memory for all edges and kListSlack entries more
/// @return       number of positions
template <class Edge>
std::size_t list_outside(std::span<const Edge> edges, const std::uint32_t* set, std::uint32_t* list) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    list[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>((set[e.low / 32] >> (e.low % 32) & set[e.high / 32] >> (e.high % 32) & 1U) == 0);
  }
  return count;
}
/// list_outside() for edges of 12 bytes, by vector instructions.
template <>
std::size_t list_outside<graphs::Edge12>(std::span<const graphs::Edge12> edges, const std::uint32_t* set,
                                         std::uint32_t* list);

/// Points vertices first .. end - 1 of disjoint sets to their roots, ascending, by vector instructions. Local. Cost: O(end - first).
/// Vertices before `first`, and parents that lie behind their children, must point to their roots already.
/// @param parent   by vertex: its parent, with other bits outside `mask` that go with that parent; a root is its own parent
/// @param mask     bits of a parent that are a vertex
/// @param root     of the set that is marked
/// @param members  one bit per vertex, the lowest of a word first, all 0; set for vertices of that set; null: not wanted
void flatten_paths(std::uint32_t* parent, std::size_t first, std::size_t end, std::uint32_t mask, std::uint32_t root,
                   std::uint32_t* members);

}  // namespace merganser::msf
