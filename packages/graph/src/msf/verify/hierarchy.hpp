#pragma once
/// Verification of spanning forests: the tree over components that contraction of the forest yields [king1997], and the
/// comparison of every edge of a graph with the forest's path between its ends.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf::detail {

using graphs::Edge24;

/// No component, in the hierarchy of the verification of a forest.
inline constexpr std::uint64_t kNone = ~std::uint64_t{0};

/// Component (a tree of contracted vertices) of one level of the contraction of a forest that is verified.
struct Node {
  std::uint64_t parent = kNone;  ///< component of the next level that contains this one; kNone: this is a whole tree
  Edge24 least{0, 0, 0};         ///< least edge from this component to another; valid with a parent
};

/// Components of one level of the contraction of a verified forest, distributed evenly over the ranks; a small level is replicated
/// on every rank.
struct Level {
  graphs::Ranges ranges;    ///< components of the level that the ranks own
  bool everywhere = false;  ///< the components of the level are replicated on every rank
  std::vector<Node> nodes;  ///< all components of the level if replicated, else those of this rank's range
};

/// Result of contract(), the first step of the verification of a forest: the levels of components, from single vertices to the last
/// before whole trees.
struct Hierarchy {
  std::vector<Level> levels;           ///< the components of a level are parents of those of the level before
  std::optional<Edge24> closes_cycle;  ///< least edge of this rank that closes a cycle, at which the levels end
};

/// First step of the verification of a forest: contracts the forest, which has neither loops nor equal edges, by
/// Boruvka's algorithm until no edge is left or an edge is found that closes a cycle. Collective.
///
/// The result serves check_paths() by this property: let two vertices ascend the levels until they are in one
/// component. The greatest of the least edges of the components that they leave equals the greatest edge on the
/// forest's path between the two vertices.
/// @param edges  this rank's share of the forest's edges
[[nodiscard]] Hierarchy contract(std::uint64_t vertices, std::span<const Edge24> edges, comm::Transport& transport);

/// Proof that a forest is not minimum: an edge of the graph that is less than the greatest edge on the forest's path
/// between its ends.
struct Violation {
  Edge24 edge{0, 0, 0};      ///< edge of the graph
  Edge24 greatest{0, 0, 0};  ///< greatest edge on the forest's path between the ends of `edge`
};

/// Result of check_paths(): faults of a forest that this rank's edges of the graph prove, of each kind the least edge.
struct PathFindings {
  std::optional<Edge24> between_trees;  ///< edge whose ends are in different trees of the forest, which is not spanning
  std::optional<Violation> too_small;   ///< edge less than the greatest on its path: the forest is not minimum
};

/// Access to one rank's edges of the graph against which a forest is verified: their number, and a function that copies a range.
struct EdgeSource {
  std::size_t size = 0;  ///< number of edges of the graph on this rank
  /// Copies to.size() of this rank's edges of the graph, from position `first` on, to `to`.
  std::function<void(std::size_t first, std::span<Edge24> to)> read;
};

/// Second step of the verification of a forest: compares every edge of the graph with the greatest edge on the forest's
/// path between the ends of that edge. The forest is a minimum spanning forest if no edge is less and no edge joins two
/// trees. To find the greatest edge, both ends ascend the hierarchy that contract() made until they are in one
/// component. Collective.
/// @param edges  this rank's edges of the graph
/// @param equal  called by every rank the same number of times, with edges of the graph that equal the greatest edge on
/// their path: the edges that forest and graph have in common
/// @param done   called repeatedly with the share of this rank's edges that has been compared, 0 to 1
/// @return the faults that this rank's edges prove
[[nodiscard]] PathFindings check_paths(const Hierarchy& hierarchy, const EdgeSource& edges, comm::Transport& transport,
                                       const std::function<void(std::span<const Edge24>)>& equal,
                                       const std::function<void(double)>& done);

}  // namespace merganser::msf::detail
