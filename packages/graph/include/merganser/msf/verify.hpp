#pragma once
/// Verification of minimum spanning forests, without computing one.
#include <cstdint>
#include <string>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// Kinds of faults of a spanning forest, in the order in which verify_forest() checks them; the first one found is reported.
enum class Fault : std::uint8_t {
  none,
  vertices,      ///< an edge of the forest has an end that is no vertex, or the counts or kinds of weights differ
  cycle,         ///< edges of the forest close a cycle (a loop and equal edges twice are cycles)
  foreign,       ///< an edge of the forest is not, with this weight, an edge of the graph
  not_spanning,  ///< an edge of the graph joins two trees
  not_minimal,   ///< an edge of the graph is less than the greatest one on the forest's path between its ends
};

/// Result of verify_forest(), the check that a forest is a graph's minimum spanning forest; the same on every rank.
struct Verification {
  Fault fault = Fault::none;  ///< first fault found
  /// Description of an edge that shows the fault, empty if there is none: "edge (3, 7) of weight 5 is less than edge (3, 9) of
  /// weight 8 on the forest's path between its ends". Of all such edges the least one, whatever the number of ranks.
  std::string witness;
  std::int64_t graph_edges = 0;   ///< edges of the graph on all ranks, loops and parallel ones too
  std::int64_t forest_edges = 0;  ///< edges of the forest on all ranks
  std::int64_t trees = 0;         ///< trees of the forest, single vertices too: vertices less forest edges
  /// Returns whether the verification found no fault of the forest.
  [[nodiscard]] bool is_correct() const noexcept { return fault == Fault::none; }
};

/// Checks that a forest is the minimum (or maximum) spanning forest of a graph: its edges are edges of the graph with
/// their weights, they close no cycle, every edge of the graph joins vertices of one tree, and none is less than the
/// greatest edge on the forest's path between its ends (the cycle property) in the strict order (weight, low, high);
/// for the maximum weights compare the other way round, ids do not.
///
/// Collective. Edges of both may be on any rank; the result is the same on every rank. No code of the algorithms for forests is
/// used: the forest is contracted level by level along each component's least edge, which yields a tree over components in
/// which paths are short and have the same greatest edges [king1997]; both ends of every edge of the graph ascend it level by
/// level until they meet.
/// @param report  gets the phases "verify: forest", "verify: paths" and the fact "verify: levels"
/// @throws InputError on every rank if an edge of the graph has an end that is no vertex
/// Cost: O((n + m) / ranks) memory a rank, levels <= log2 n; O(m log n) work at worst; levels above the first few lie
/// on every rank (those of at most n / ranks components), look-ups below go to their owners in blocks of bounded size.
[[nodiscard]] Verification verify_forest(const graphs::EdgeList& graph, const Forest& forest, Sense sense,
                                         comm::Transport& transport, Report& report);

}  // namespace merganser::msf
