#pragma once
/// The tree over components that a forest's own contraction leaves [king1997], and every edge of a graph against the
/// forest's path between its ends.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf::detail {

using graphs::Edge24;

inline constexpr std::uint64_t kNone = ~std::uint64_t{0};

/// A component of one level.
struct Node {
  std::uint64_t parent = kNone;  ///< the component of the next level that it is part of; kNone: a whole tree
  Edge24 least{0, 0, 0};         ///< its least edge out, with a parent
};

/// Components of one level, dealt evenly; a small level lies on every rank.
struct Level {
  graphs::Ranges ranges;
  bool everywhere = false;
  std::vector<Node> nodes;  ///< all, or this rank's
};

struct Hierarchy {
  std::vector<Level> levels;
  std::optional<Edge24> closes_cycle;  ///< the least edge of this rank's that does; the levels end there
};

/// Contracts a forest without loops and equal edges, `edges` being this rank's share, until no edge is left or one is
/// found that closes a cycle. Every edge met on the way from two vertices to the component where they meet is on the
/// path between them or less than the greatest one there. Collective.
[[nodiscard]] Hierarchy contract(std::uint64_t vertices, std::span<const Edge24> edges, comm::Transport& transport);

struct Violation {
  Edge24 edge{0, 0, 0};
  Edge24 greatest{0, 0, 0};  ///< on the path between its ends
};

/// What this rank's edges show; the least edge that shows it.
struct PathFindings {
  std::optional<Edge24> between_trees;
  std::optional<Violation> too_small;
};

/// Edges of one rank: how many, and a copy of some of them.
struct EdgeSource {
  std::size_t size = 0;
  std::function<void(std::size_t first, std::span<Edge24> to)> read;
};

/// Lets the ends of every edge climb the hierarchy until they meet. Collective.
/// @param equal  called by every rank the same number of times with edges that equal the greatest one on their paths:
///               those of the forest that the graph has
/// @param done   called now and then with the share that is done
[[nodiscard]] PathFindings check_paths(const Hierarchy& hierarchy, const EdgeSource& edges, comm::Transport& transport,
                                       const std::function<void(std::span<const Edge24>)>& equal,
                                       const std::function<void(double)>& done);

}  // namespace merganser::msf::detail
