#pragma once
/// What one rank holds of the graph while its components grow, and what it does with that alone.
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

/// Components of this rank are numbers 0 .. own - 1; those of others that share an edge with one of them, the ghosts,
/// follow. A component goes by the same name (one of its vertices) on every rank that knows it. Its owner holds all its
/// edges, so an edge between ranks is on both.
struct Part {
  static constexpr std::uint32_t kNone = 0xffffffffU;

  int rank = 0;
  std::uint32_t own = 0;
  std::vector<std::uint64_t> names;  ///< of own components, then of ghosts
  std::vector<int> ghost_owner;
  std::vector<Live> edges;
  std::vector<graphs::Edge24> forest;  ///< what was found here; it is never moved

  [[nodiscard]] bool is_own(std::uint32_t component) const { return component < own; }
  [[nodiscard]] int owner(std::uint32_t component) const {
    return is_own(component) ? rank : ghost_owner[component - own];
  }
};

/// @throws InputError for more than one rank's numbers can tell apart
void check_sizes(std::size_t components, std::size_t edges);

/// Vertices as components. `mine`: every edge with an end in the rank's range, once, no loops.
/// @throws InputError as check_sizes()
[[nodiscard]] Part first_part(const graphs::EdgeList& mine, const graphs::Ranges& ranges, int rank, msf::Sense sense);

/// Weight bits whose ascending order is the wanted one; its own inverse.
[[nodiscard]] constexpr std::uint64_t directed(std::uint64_t weight, msf::Sense sense) {
  return sense == msf::Sense::maximum ? ~weight : weight;
}

struct Contraction {
  std::int64_t rounds = 0;
  std::int64_t added = 0;
  std::vector<std::uint32_t> image;  ///< number that an own component has now, by the number it had before
};
/// Boruvka rounds over own components. One whose least edge leads to a ghost halts; others may still join it. Ends after
/// a round that adds nothing or fewer edges than `least`.
Contraction contract(Part& part, double least);

/// The least edge of every own component, as a position in part.edges (Part::kNone without edges).
[[nodiscard]] std::vector<std::uint32_t> least_edges(const Part& part);

/// Of all edges between two components the least is kept.
void drop_parallel(Part& part);

/// Forgets components without edges.
void drop_idle(Part& part);

}  // namespace merganser::mnd::detail
