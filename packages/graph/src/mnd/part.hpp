#pragma once
/// Multi-node Boruvka: the part of the contracted graph that one rank holds (components, ghosts, edges), and local operations on
/// it.
#include <cstdint>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::mnd::detail {

/// Edge of the input graph between two components of multi-node Boruvka, given by their numbers in this rank's Part.
struct ComponentEdge {
  std::uint32_t a;      ///< component of this rank
  std::uint32_t b;      ///< component of this rank, or a ghost
  graphs::Edge24 edge;  ///< the edge with the ids of the input, its weight oriented by the sense
};

/// Part of the contracted graph that one rank holds in multi-node Boruvka: its components, numbered 0 .. own - 1, followed by the
/// ghosts: components of other ranks that share an edge with them. A component has the same name (one of its vertices) on every
/// rank. Its owner holds all its edges, so an edge between two ranks is stored by both.
struct Part {
  static constexpr std::uint32_t kNone = 0xffffffffU;  ///< position of no edge, number of no component

  int rank = 0;           ///< rank that holds this part
  std::uint32_t own = 0;  ///< number of components that this rank owns
  std::vector<std::uint64_t>
      names;                     ///< vertices that name the components of this rank, then those that name its ghosts
  std::vector<int> ghost_owner;  ///< by ghost, from 0: the rank that owns the component
  std::vector<ComponentEdge> edges;    ///< edges between different components, at least one of which this rank owns
  std::vector<graphs::Edge24> forest;  ///< edges of the forest found by this rank; they are never moved

  /// Returns whether this rank owns a component, given by its number in the part; false: it is a ghost.
  [[nodiscard]] bool is_own(std::uint32_t component) const { return component < own; }
  /// Returns the rank that owns a component or ghost, given by its number in the part.
  [[nodiscard]] int owner(std::uint32_t component) const {
    return is_own(component) ? rank : ghost_owner[component - own];
  }
};

/// Checks that the components and the edges that one rank holds in multi-node Boruvka can be numbered in 31 bits.
/// @throws InputError if not
void check_sizes(std::size_t components, std::size_t edges);

/// Builds a rank's part of the graph for multi-node Boruvka, with every vertex as a component. Local.
/// @param mine  every edge with an end in the rank's range of vertices, once, no loops
/// @throws InputError for more components or edges than 31 bits can number
[[nodiscard]] Part make_part(const graphs::EdgeList& mine, const graphs::Ranges& ranges, int rank, msf::Sense sense);

/// Returns the bits of an edge weight such that ascending order finds the minimum, or (complemented) the maximum spanning forest.
/// A second call restores the weight.
[[nodiscard]] constexpr std::uint64_t orient_weight(std::uint64_t weight, msf::Sense sense) {
  return sense == msf::Sense::maximum ? ~weight : weight;
}

/// Result of contract(), the local contraction of one rank's components in multi-node Boruvka.
struct Contraction {
  std::int64_t rounds = 0;  ///< rounds of Boruvka's algorithm
  std::int64_t added = 0;   ///< edges of the spanning forest found by this rank
  std::vector<std::uint32_t>
      image;  ///< by component of this rank before the contraction: the number of the one it is in now
};
/// Contracts this rank's components along their least edges by rounds of Boruvka's algorithm, the independent computation of
/// multi-node Boruvka. Local. A component whose least edge leads to a ghost halts; others may still be joined to it. Ends after a
/// round that adds no edge to the forest or fewer than `least_added`.
Contraction contract(Part& part, double least_added);

/// Returns the least edge of each of this rank's components, as a position in part.edges (Part::kNone without edges). Local.
[[nodiscard]] std::vector<std::uint32_t> least_edges(const Part& part);

/// Drops parallel edges from a rank's part of the contracted graph: of all edges between two components the least is kept. Local,
/// linear in the edges.
void drop_parallel(Part& part);

/// Drops components and ghosts without edges from a rank's part of the contracted graph: they are complete trees of the forest, or
/// no longer adjacent. Local.
void drop_idle(Part& part);

}  // namespace merganser::mnd::detail
