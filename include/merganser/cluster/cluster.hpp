#pragma once
/// Merge step of parcels over a transport: search, prune, migrate, merge; and redistribution of parcels to their
/// owners.
/// Invariant: the merged parcels have the same bits for any number of ranks, decomposition, model and order of
/// messages.
#include <cstdint>
#include <memory>
#include <span>

#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Clusterer: merges small parcels with their nearest neighbours, step after step, over one transport.
///
///     Clusterer clusterer(transport, decomposition, parcels.schema(), options);   // collective
///     StepReport report = clusterer.step(parcels);                               // neighbours only
///
/// Parcels must be inside the box and on the rank that owns their cell (see distribute(), redistribute()). The result,
/// row for row, depends neither on the number of ranks nor on the model, decomposition or order. After a step the
/// parcels of a rank are in the order of its cells. A merged parcel stays on the rank of its centre, even if its new
/// position belongs to another: call redistribute() before the next step.
///
/// The candidate ranks of a rank, to which its search may send queries, are fixed by the constructor: all ranks up to
/// 27, above that those whose blocks touch its own, or those that the parcels given to the constructor require. That
/// bounds the cost of a step where parcels are everywhere, not its result: around a hole so large that a nearest parcel
/// may lie beyond, queries are forwarded from neighbour to neighbour, and parcels migrate along the same routes. Ranks
/// that are not beside such a hole take no part in this.
class Clusterer {
 public:
  /// Determines the ranks to which a search of this rank may send queries (candidate ranks), and makes the process graphs and mailboxes
  /// of the steps. Collective.
  /// @param parcels  this rank's parcels, or a sample distributed like those to come: above 27 ranks the candidates are those with blocks
  /// within twice the largest distance of one to its nearest on its rank, so that steps need fewer rounds of messages; null: those with
  /// touching blocks. Up to 27 ranks all are candidates
  /// @throws UsageError on every rank alike for invalid options or a callback that is missing, or if ranks differ in
  /// the options (but for lineage), the schema, the grid or the decomposition
  Clusterer(comm::Transport& transport, const Decomposition& decomposition, const Schema& schema,
            const ClusterOptions& options, const Parcels* parcels = nullptr);
  ~Clusterer();
  Clusterer(Clusterer&&) noexcept;

  /// Makes one merge step: small parcels merge with their nearest, stars become single parcels. Called by every rank;
  /// communicates with neighbours only: at most 4 waves, and labels along chains of cross-rank links; one wave if
  /// neither this rank nor a neighbour has small parcels. No collective with Search::exact and Prune::single_pass.
  /// Above 27 ranks, the ranks around a hole that is wider than their blocks make additional waves. Let d be the number
  /// of arcs from a rank to the farthest rank around the same hole: it makes at most d additional waves, or at most 3 d if
  /// a parcel has its nearest parcel beyond the candidate ranks. In such a step Prune::iterative, which writes to
  /// neighbours only, is replaced by Prune::single_pass, which gives the same stars.
  ///
  /// With a policy (ClusterOptions::policy) that is not the default, a step has one or more rounds; each sends along all arcs of the
  /// candidate ranks: queries, replies, announcements of links, answers of centres (MergePolicy::has_answers), leaves. Where a step
  /// may have several rounds (MergePolicy::has_rounds), then parcels that have left their rank's block, counts of cells that ranks
  /// share, and time_to_live() steps of an announcement network by which all ranks find the last round; after such a step every
  /// parcel is on its owner, but for parcels restored from groups of two (PolicyNumbers::undone). No collective, unless
  /// MergePolicy::has_collectives(). docs/merge-policies.md has the rules.
  /// @return counts and times of this rank
  /// @throws UsageError on this rank alone, before anything is sent, for parcels of another schema than the Clusterer's
  /// @throws InputError on this rank alone, before anything is sent, for more than kMaxParcels parcels, a parcel that is not
  /// in this rank's block, a volume out of the bounds of limits.hpp, or an id that two parcels of this rank have; after
  /// messages were sent, if an id that another rank sends is that of a parcel of this rank or of a third one. With the
  /// decorator `checked` every rank throws for blocks, volumes and ids, and all ids of all ranks are compared. With a policy of
  /// friends of friends, whose step is collective, every rank throws what one of them finds
  /// @throws CommError if the transport has ended
  StepReport step(Parcels& parcels);

  /// Sends parcels that left this rank's block to their owner, with one neighbour wave, after wrapping them on periodic
  /// axes; one that has moved beyond a wall is moved onto it. Parcels whose owner is no neighbour are forwarded by the
  /// next call (Redistribution makes as many as necessary); but after a step that merged over a large hole, the ranks
  /// around it first make as many waves as bring its merged parcels to ranks of which the owner is a candidate. Called
  /// by every rank; neighbours only.
  /// @return number of parcels sent by this rank
  std::int64_t redistribute(Parcels& parcels);
  /// Returns how many of the parcels that the last redistribute() sent are still in transit: not at their owner yet.
  /// Local.
  [[nodiscard]] std::int64_t in_transit() const;
  /// Returns whether the candidates of this rank are all ranks, or exactly those whose blocks touch its own. Local. If
  /// it is true on every rank, one redistribute() after a step() brings every merged parcel to its owner: along each
  /// axis it lies between its centre and one of the sources, which come from touching blocks, or over a large hole.
  /// Parcels that the caller has moved may travel farther.
  [[nodiscard]] bool redistributes_in_one_wave() const;

  /// Returns the number of the next step in the key of a merge policy's random numbers: MergePolicy::step plus the steps made.
  /// Local. A program that goes on from a file stores it there.
  [[nodiscard]] std::uint64_t policy_step() const;

  /// Returns the decomposition by which the Clusterer determines the owners of parcels. Local.
  [[nodiscard]] const Decomposition& decomposition() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Sends every parcel to its owner from any rank, after wrapping it on periodic axes. Collective (set-up). Besides the
/// parcels it sends the ids, 8 bytes each, to find duplicates (a second time if ids of a short range are not distinct), unless
/// they ascend on every rank and the ranges of ranks are disjoint, as in parcels read from a file.
/// @throws UsageError if the decomposition is for another number of ranks, or ranks differ in it or in the schema
/// @throws InputError for a coordinate that is not finite or, by more than rounding, outside of a wall, a volume that
/// is not from 1e-120 to 1e120, or an id that two parcels have; all on every rank alike, with nothing moved yet
void distribute(Parcels& parcels, const Decomposition& decomposition, comm::Transport& transport);

/// Checks that the ids of points or parcels are distinct over all ranks. Collective (set-up). Sends 8 bytes for each id,
/// unless ids ascend on every rank and the ranges of ranks are disjoint.
/// @param ids  of this rank's points
/// @throws InputError naming the id, on every rank alike
void check_distinct(std::span<const std::int64_t> ids, comm::Transport& transport);

}  // namespace merganser
