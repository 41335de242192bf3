#pragma once
/// Multi-node Boruvka (MND) for minimum spanning forests, as published for message passing and for symmetric memory: every rank
/// contracts locally as far as it can, removes loops and parallel edges, exchanges component updates with its neighbours, and
/// passes some components on around a ring; when few are left, one rank or a hierarchy of leaders finishes. Implemented as
/// published, for comparison; where the publication leaves a choice, packages/graph/docs/msf-mnd.md records it. Source:
/// [ing2021], after [panja2018].
#include <cstdint>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::mnd {

/// Styles of communication of multi-node Boruvka.
enum class MndStyle : std::uint8_t {
  baseline,  ///< blocking, one pair of ranks at a time: sizes first, then all data
  tuned      ///< all neighbours at once, in chunks; computation on a chunk overlaps the transfer of the next
};

/// Ranks that finish the forest in multi-node Boruvka when few components are left.
enum class MndPost : std::uint8_t {
  single,  ///< rank 0
  leader   ///< the first rank of every group, then of every group of those, and so on
};

/// Communication objects that transfer the chunks of records of multi-node Boruvka in style tuned.
enum class MndCarrier : std::uint8_t {
  automatic,  ///< memory where the model is one-sided, else messages
  messages,   ///< sizes by Mailbox, chunks by Plan
  memory      ///< Segment: sizes are put into slots of the receiver, which gets the chunks
};

/// Parameters of mnd(), the spanning forest by multi-node Boruvka; the same on every rank. mnd() checks the ranges in describe().
struct MndOptions {
  MndStyle style = MndStyle::tuned;
  MndPost post = MndPost::single;
  double independent_threshold =
      1e-3;                     ///< local contraction stops after a round that adds fewer edges per vertex of the rank
  double mst_threshold = 0.24;  ///< finish when fewer active components than this share of all vertices are left
  double stall_threshold = 0.01;  ///< finish after a cycle that adds fewer edges than this share of active components
  double ring_share = 0.05;       ///< share of its components that a rank passes on per cycle
  int leader_group = 4;           ///< ranks per leader, from 2
  int chunk = 2048;               ///< records per chunk of style tuned
  MndCarrier carrier = MndCarrier::automatic;
  msf::Sense sense = msf::Sense::minimum;  ///< not in describe(): a property of the problem, not of the algorithm
};
/// Computes the minimum (or maximum) spanning forest of a graph in the strict order (weight, low, high) by multi-node Boruvka.
///
/// Collective over `transport`; options must be the same on every rank. The forest does not depend on the number of
/// ranks, the model, the style, the thresholds or where edges lie; which rank holds which of its edges does.
/// @param graph   edges on any rank; loops, parallel edges, isolated vertices and ranks without edges are fine
/// @param report  phases "partition", "ghosts", "independent", "merge", "ring", "test", "post"; facts of this rank:
///                "rounds", "cycles", "independent edges" (found before the first exchange), "later edges",
///                "post edges", "arcs left" (when finishing began), "chunks", "arcs"; of all ranks: "largest arcs",
///                "mean arcs"
/// @return this rank's share of the forest, with the ids of the input
/// @throws InputError on every rank if an edge has an end that is no vertex
/// @throws UsageError on every rank if an option is outside of what `describe` allows
/// Cost: O((n + m) / P + cut) memory per rank until finishing begins; then the finishing rank receives all edges that are
/// left.
[[nodiscard]] msf::Forest mnd(const graphs::EdgeList& graph, comm::Transport& transport, const MndOptions& options,
                              msf::Report& report);

}  // namespace merganser::mnd
