#pragma once
/// Pruning of a nearest-neighbour graph into stars: single pass by a closed form, or iterative as published; and the
/// cutting of cycles longer than two.
/// Invariant: no kept target is itself a kept source, and both prunings keep the same links.
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/links/links.hpp"

namespace merganser::links {

/// Communication objects for pruning and contraction of links, over one symmetric process graph; made once, used by every call.
struct Channels {
  comm::Transport& transport;  ///< ranks over which the vertices are distributed
  comm::Mailbox& mailbox;      ///< waves of tokens, queries and flags
  comm::Stream& stream;        ///< labels of the single-pass pruning
};

/// Cost counters of one pruning of nearest-neighbour links on this rank.
struct PruneStatistics {
  std::int64_t rounds = 0;  ///< iterations of Algorithm 1, or length of the longest chain of cross-rank labels received
  std::int64_t words_written = 0;  ///< words sent to other ranks: labels, or puts of the published algorithm
  std::int64_t words_read = 0;     ///< words fetched from other ranks (prune_iterative only)
  std::int64_t syncs = 0;          ///< process synchronisations as [frey2025] counts them (prune_iterative only)
  std::int64_t reductions = 0;     ///< global reductions made (prune_iterative only)
};

/// Cuts links into stars in a single pass: every vertex is labelled once, every cross-rank link carries one label once;
/// no barrier, no reduction.
///
/// - v is a CENTRE if some child (source pointing at it, not its dual partner) is a LEAF; else it is a LEAF.
/// - A LEAF keeps its link, a CENTRE drops its own.
/// - Dual link (a, b): both CENTRE: both links dropped; one CENTRE: the other joins it; none: the lower global id stays
///   and the other joins it.
///
/// Called by every rank with a cross-rank link or a label to relay; others may call. The result does not depend on the
/// number of ranks, the backend or the order of messages.
/// Two calls must be separated by a Mailbox step on every arc with cross-rank links (see comm::Stream).
/// @param links  cycles of length 2 only, CrossLinks ordered by arc, then slot; on return `target` holds kept links
/// only (kNone elsewhere)
/// @param ids  global ids of the local vertices, unique over all ranks
/// @param statistics  written if not null
/// @return stars of this rank
/// @throws InputError before any label is sent if a target is no vertex, a vertex links to itself, or cross-rank links
/// violate the numbering above; or, after all labels of other vertices are sent (so that no other rank blocks), if a
/// cycle of three or more links lies on this rank and no leaf cuts it. A cycle over several ranks is excluded by
/// contract.
/// Cost: O(links) work; one record per cross-rank link, and one more for each relay; critical path: the longest chain
/// of cross-rank links.
/// Source: closed form of [frey2025, Algorithm 1].
Stars prune_single_pass(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

/// Single-pass pruning of links into stars, with reusable buffers: about 10 bytes per vertex, kept from call to call.
class SinglePass {
 public:
  SinglePass();
  ~SinglePass();
  SinglePass(SinglePass&&) noexcept;
  SinglePass& operator=(SinglePass&&) noexcept;

  /// Cuts nearest-neighbour links into stars, with the parameters and errors of prune_single_pass() and the memory of the last call.
  /// Called by the ranks that would call prune_single_pass(). Returns the stars of this rank, valid until the next call.
  const Stars& prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Communication parameters of the iterative pruning; the same on every rank.
struct IterativeOptions {
  /// Restrict rounds to the ranks with links, where the model supports sub-communicators
  bool sub_communicator = false;
  comm::Epoch epoch = comm::Epoch::per_operation;  ///< access epochs of one-sided models
};

/// Cuts links into stars by Algorithm 1 of [frey2025], faithful: the same phases, puts, gets and synchronisations, on
/// three Segments of flags. The choice inside an isolated dual link is by global id, as in prune_single_pass, so both
/// give the same stars. Collective over every rank of the transport (with sub_communicator too: all ranks agree on the
/// participants).
///
/// Counters follow the publication: one put or get for every remote access to a flag; 3 synchronisations in each round
/// (4 where the model is two-sided) and 2 after the rounds; one reduction per round. Gets of a Segment deliver at the
/// end of a phase, so each use needs one more Segment::sync; comm::Counters holds the synchronisations made.
/// @param links  as for prune_single_pass, without relays; on return `target` holds kept links only (kNone elsewhere)
/// @param ids  global ids of the local vertices, unique over all ranks
/// @param statistics  written if not null
/// @return stars of this rank
/// @throws InputError on every rank for links that prune_single_pass would refuse, and for relays: puts and gets reach
/// only ranks that share an arc
Stars prune_iterative(Links& links, const Ids& ids, const Channels& channels, const IterativeOptions& options = {},
                      PruneStatistics* statistics = nullptr);

/// Iterative pruning with Segments and sub-communicator kept from call to call. Constructed, used and destroyed
/// collectively over the ranks of the transport.
class IterativePruner {
 public:
  explicit IterativePruner(const IterativeOptions& options = {});
  ~IterativePruner();
  IterativePruner(IterativePruner&&) noexcept;
  IterativePruner& operator=(IterativePruner&&) noexcept;

  /// Cuts links into stars; parameters and errors are those of prune_iterative(). Collective. Every call must pass the
  /// same channels.
  Stars prune(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Cuts every cycle of three or more links at its largest link (Key). Such cycles exist only where candidate sets are
/// not symmetric (search rule cells8). Collective: one Mailbox step and one reduction per wave until no token is left.
/// Cross-rank links that are cut are removed from Links::out and Links::in, and the slots above them move down at both
/// ends.
/// @param distance2  squared length of the link of each vertex; ignored where there is none
/// @return number of cycles cut on all ranks
/// @throws InputError on every rank for links that violate their numbering, for relays, or for too few distances
/// Cost: linear where there are no cycles and every link is shorter than the one before it, as in a symmetric search.
std::int64_t cut_long_cycles(Links& links, const Ids& ids, const std::vector<double>& distance2,
                             const Channels& channels);

}  // namespace merganser::links
