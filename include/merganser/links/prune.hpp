#pragma once
/// Policy "stars": cuts a nearest-neighbour graph so that no kept target is itself a kept source.
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/links/links.hpp"

namespace merganser::links {

/// Communication objects of one symmetric graph, made once, used every step.
struct Channels {
  comm::Transport& transport;
  comm::Mailbox& mailbox;
  comm::Stream& stream;
};

/// What one pruning took on this rank.
struct PruneStatistics {
  std::int64_t rounds = 0;         ///< iterations of Algorithm 1, or longest chain of cross-rank labels waited for
  std::int64_t words_written = 0;  ///< to other ranks: labels sent, or puts of the published algorithm
  std::int64_t words_read = 0;     ///< from other ranks (prune_iterative only)
  std::int64_t syncs = 0;          ///< process synchronisations as [frey2025] counts them (prune_iterative only)
  std::int64_t reductions = 0;     ///< global reductions (prune_iterative only)
};

/// Cuts links into stars in a single pass: every vertex is labelled once, every cross-rank link carries one label once;
/// no barrier, no reduction.
///
/// - v is a CENTRE if some child (source pointing at it, not its dual partner) is a LEAF; else it is a LEAF.
/// - A LEAF keeps its link, a CENTRE drops its own.
/// - Dual link (a, b): both CENTRE: both links dropped; one CENTRE: the other joins it; none: the lower global id stays
///   and the other joins it.
///
/// Called by every rank with a cross-rank link or a label to relay; others may call. The result does not depend on ranks,
/// backend or order.
/// Two calls must be separated by a Mailbox step on every arc with cross-rank links (see comm::Stream).
/// @param links  only 2-cycles, CrossLinks ordered by arc, then slot; on return `target` holds kept links only
///               (kNone elsewhere)
/// @throws InputError if a target is no vertex, a vertex links to itself, or cross-rank links are not numbered as said
///         (before any label is sent); or if a cycle of three or more links lies on this rank and no leaf cuts it
///         (after all labels of other vertices, so no other rank is left waiting). A cycle over several ranks is
///         excluded by contract.
/// Cost: O(links) work; one record per cross-rank link, and one more each time it is relayed; critical path: the longest
/// chain of cross-rank links.
/// Source: closed form of [frey2025, Algorithm 1].
Stars prune_single_pass(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

/// prune_single_pass that keeps its memory (about 10 bytes per vertex) from call to call.
class SinglePass {
 public:
  SinglePass();
  ~SinglePass();
  SinglePass(SinglePass&&) noexcept;
  SinglePass& operator=(SinglePass&&) noexcept;

  /// The result is valid until the next call.
  const Stars& prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// How the published pruning talks.
struct IterativeOptions {
  bool sub_communicator = false;                   ///< only ranks with links take part (where the model allows)
  comm::Epoch epoch = comm::Epoch::per_operation;  ///< how one-sided models open epochs
};

/// Cuts links into stars by Algorithm 1 of [frey2025], faithful: the same phases, puts, gets and synchronisations, on
/// three Segments of flags. The choice inside an isolated dual link is by global id, as in prune_single_pass, so both
/// give the same stars. Collective over every rank of the transport (with sub_communicator too: the ranks agree on who
/// takes part).
///
/// Counted as published: one put or get for every remote access to a flag; 3 synchronisations in each round (4 where
/// the model is two-sided) and 2 after the rounds; one reduction per round. Gets of a Segment deliver at the end of a
/// phase, so it takes one more Segment::sync wherever they are needed: comm::Counters has the synchronisations made.
/// @throws InputError on every rank for links that are not as prune_single_pass asks, and for relays: words are written
/// into ranks that share an arc only
Stars prune_iterative(Links& links, const Ids& ids, const Channels& channels, const IterativeOptions& options = {},
                      PruneStatistics* statistics = nullptr);

/// prune_iterative that keeps its Segments and sub-communicator from call to call. Made, used and destroyed by every
/// rank of the transport alike.
class IterativePruner {
 public:
  explicit IterativePruner(const IterativeOptions& options = {});
  ~IterativePruner();
  IterativePruner(IterativePruner&&) noexcept;
  IterativePruner& operator=(IterativePruner&&) noexcept;

  /// As prune_iterative(). Collective. Every call must be given the same channels.
  Stars prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Cuts every cycle of three or more links at its largest (Key). Such cycles exist only where candidate sets are not
/// symmetric (search rule cells8). Collective: one Mailbox step and one reduction per wave until no token is left.
/// Cross-rank links that are cut vanish from Links::out and Links::in, and the slots above them move down at both ends.
/// @param distance2  squared length of the link of each vertex; ignored where there is none
/// @return number of cycles cut on all ranks
/// Cost: linear where there are no cycles and every link is shorter than the one before it, as in a symmetric search.
std::int64_t cut_long_cycles(Links& links, const Ids& ids, const std::vector<double>& distance2,
                             const Channels& channels);

}  // namespace merganser::links
