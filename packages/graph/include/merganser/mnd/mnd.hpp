#pragma once
/// Multi-node Boruvka as published for message passing and for symmetric memory: every rank contracts what it can
/// without a word, cleans up, tells its neighbours, hands a few components on around a ring, and when little is left
/// few ranks or one finish. Kept faithful, for comparison; packages/graph/docs/msf-mnd.md says what the publication
/// leaves open and what is done here. Source: [ing2021], after [panja2018].
#include <cstdint>

#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::mnd {

/// How ranks talk.
enum class MndStyle : std::uint8_t {
  baseline,  ///< one pair of ranks at a time, waiting for each other; sizes first, then all at once
  tuned      ///< all neighbours at once, in chunks that are applied while the next ones move
};

/// Who finishes.
enum class MndPost : std::uint8_t {
  single,  ///< rank 0
  leader   ///< the first rank of every group, then of every group of those, and so on
};

/// What carries the chunks of style tuned.
enum class MndCarrier : std::uint8_t {
  automatic,  ///< memory where the model is one-sided, else messages
  messages,   ///< sizes by Mailbox, chunks by Plan
  memory      ///< Segment: sizes are put into slots of the reader, who gets the chunks
};

/// Style and thresholds of the published algorithm; ranges are checked where they are used.
struct MndOptions {
  MndStyle style = MndStyle::tuned;
  MndPost post = MndPost::single;
  double independent_threshold = 1e-3;
  double mst_threshold = 0.24;
  double stall_threshold = 0.01;
  double ring_share = 0.05;
  int leader_group = 4;
  int chunk = 2048;
  MndCarrier carrier = MndCarrier::automatic;
  msf::Sense sense = msf::Sense::minimum;  ///< not in `describe`: it belongs to the question, not to the algorithm
};
/// The minimum (or maximum) spanning forest of the strict order (weight, low, high).
///
/// Collective over `transport`; options must be the same on every rank. The forest does not depend on the number of
/// ranks, the model, the style, the thresholds or where edges lie; which rank holds which of its edges does.
/// @param graph   edges on any rank; loops, parallel edges, isolated vertices and ranks without edges are fine
/// @param report  phases "partition", "ghosts", "independent", "merge", "ring", "test", "post"; facts of this rank:
///                "rounds", "cycles", "independent edges" (found before the first word was said), "later edges",
///                "post edges", "arcs left" (when finishing began), "chunks", "arcs"; of all ranks: "largest arcs",
///                "mean arcs"
/// @return this rank's share, with the ids of the input
/// @throws InputError on every rank if an edge has an end that is no vertex
/// @throws UsageError on every rank if an option is outside of what `describe` allows
/// Cost: O((n + m) / P + cut) memory per rank until finishing begins, where the finishing rank takes in all edges that
/// are left.
[[nodiscard]] msf::Forest mnd(const graphs::EdgeList& graph, comm::Transport& transport, const MndOptions& options,
                              msf::Report& report);

}  // namespace merganser::mnd
