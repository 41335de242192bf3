#pragma once
/// Multi-node Boruvka: the part of the graph that one rank holds, and local operations on it.
#include <cstdint>
#include <vector>

#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::mnd::detail {

/// An edge between two components, numbered as in Part. `a` is one of this rank's.
struct Live {
  std::uint32_t a;
  std::uint32_t b;
  graphs::Edge24 edge;
};

/// Components of one rank, numbered 0 .. own - 1, followed by the ghosts: components of other ranks that share an edge with them.
/// A component has the same name (one of its vertices) on every rank. Its owner holds all its edges, so an edge between two ranks
/// is stored by both.
struct Part {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  int rank = 0;
  std::uint32_t own = 0;               ///< number of own components
  std::vector<std::uint64_t> names;    ///< of own components, then of ghosts
  std::vector<int> ghost_owner;        ///< by ghost, from 0: its owner
  std::vector<Live> edges;             ///< edges with an own end
  std::vector<graphs::Edge24> forest;  ///< edges of the forest found by this rank; they are never moved

  /// Returns whether a component is this rank's.
  [[nodiscard]] bool is_own(std::uint32_t component) const { return component < own; }
  /// Returns the rank that owns a component.
  [[nodiscard]] int owner(std::uint32_t component) const {
    return is_own(component) ? rank : ghost_owner[component - own];
  }
};

/// Checks that components and edges of one rank can be numbered in 31 bits. @throws InputError if not
void check_sizes(std::size_t components, std::size_t edges);

/// Builds a rank's part with every vertex as a component. Local.
/// @param mine  every edge with an end in the rank's range, once, no loops
/// @throws InputError as check_sizes()
[[nodiscard]] Part make_part(const graphs::EdgeList& mine, const graphs::Ranges& ranges, int rank, msf::Sense sense);

/// Returns weight bits whose ascending order is that of the sense; its own inverse.
[[nodiscard]] constexpr std::uint64_t orient_weight(std::uint64_t weight, msf::Sense sense) {
  return sense == msf::Sense::maximum ? ~weight : weight;
}

/// Result of contract().
struct Contraction {
  std::int64_t rounds = 0;
  std::int64_t added = 0;            ///< edges of the forest
  std::vector<std::uint32_t> image;  ///< number that an own component has now, by the number it had before
};
/// Performs Boruvka's rounds over own components. Local. A component whose least edge leads to a ghost halts; others may still be
/// joined to it. Ends after a round that adds no or fewer edges than `least`.
Contraction contract(Part& part, double least);

/// Returns the least edge of every own component, as a position in part.edges (Part::kNone without edges). Local.
[[nodiscard]] std::vector<std::uint32_t> least_edges(const Part& part);

/// Drops parallel edges: of all edges between two components the least is kept. Local, linear in the edges.
void drop_parallel(Part& part);

/// Drops components and ghosts without edges, which are complete trees or no longer adjacent. Local.
void drop_idle(Part& part);

}  // namespace merganser::mnd::detail
