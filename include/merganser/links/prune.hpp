#pragma once
/// Policy "stars": cuts a nearest-neighbour graph so that no kept target is itself a kept source.
#include <cstdint>

#include "merganser/comm/transport.hpp"
#include "merganser/links/links.hpp"

namespace merganser::links {

/// Communication objects of one symmetric graph, made once, used every step.
struct Channels {
  comm::Transport& transport;
  comm::Mailbox& mailbox;
  comm::Stream& stream;
};

struct PruneStatistics {
  std::int64_t rounds = 0;       ///< iterations of Algorithm 1, or longest chain of cross-rank labels
  std::int64_t puts = 0;         ///< words written to other ranks
  std::int64_t gets = 0;         ///< words read from other ranks
  std::int64_t syncs = 0;        ///< process synchronisations as [frey2025] counts them
  std::int64_t reductions = 0;   ///< global reductions (prune_iterative only)
};

/// Single pass. Every vertex is settled once, every cross-rank link carries one label once; no barrier, no reduction.
///
///   v is a CENTRE if some child (source pointing at it, not its dual partner) is a LEAF; else it is a LEAF.
///   A LEAF keeps its link, a CENTRE drops its own. Dual link (a, b): both CENTRE -> both links dropped; one CENTRE ->
///   the other joins it; none -> the lower global id stays and the other joins it.
///
/// Called by every rank with a cross-rank link; others may call. The result does not depend on ranks, backend or order.
/// @param links  only 2-cycles; on return `target` holds kept links only (kNone elsewhere)
/// Cost: O(links) work; one record per cross-rank link; critical path: the longest chain of cross-rank links.
/// Source: closed form of [frey2025, Algorithm 1].
Stars prune_single_pass(Links& links, const Ids& ids, const Channels& channels, PruneStatistics* statistics = nullptr);

struct IterativeOptions {
  bool sub_communicator = false;                  ///< only ranks with links take part (where the model allows)
  comm::Epoch epoch = comm::Epoch::per_operation; ///< how one-sided models open epochs
};

/// Algorithm 1 of [frey2025], faithful: the same phases, puts, gets and synchronisations, on three Segments of flags.
/// The choice inside an isolated dual link is by global id, as in prune_single_pass, so both give the same stars.
/// Collective over every rank of the transport (unless sub_communicator).
Stars prune_iterative(Links& links, const Ids& ids, const Channels& channels, const IterativeOptions& options = {},
                      PruneStatistics* statistics = nullptr);

/// Cuts every cycle of three or more links at its largest (Key). Such cycles exist only where candidate sets are not
/// symmetric (search rule cells8). Collective: uses sync_any-like rounds until no token is left.
/// @return number of cycles cut on all ranks
std::int64_t cut_long_cycles(Links& links, const Ids& ids, const std::vector<double>& distance2,
                             const Channels& channels);

}  // namespace merganser::links
