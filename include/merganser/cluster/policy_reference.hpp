#pragma once
/// Serial oracle of a step under a merge policy, slow and obvious: every pair is compared, rounds are made one after the
/// other on a list of parcels. It shares with the step the arithmetic of one merge (parcels/merge.hpp) and of one draw,
/// not the search, the pruning or the exchange.
///
/// One round, whose rules the step must reproduce to the bit. A pair is *admissible* if both have equal columns `same`
/// and rest mass, their positions are at most `within` apart (distance2 <= within * within), the sum of their volumes is
/// at most max_weight and that of their members at most max_members, and it has not been refused in this step.
///
/// 1. Lookers. small, mask: in the first round the parcels that qualify; in the next ones those of 4. crowded: in each
///    cell with more than crowded_above parcels, by (volume, id) ascending, parcels are taken while their number fits
///    into the difference to crowded_target; those that found no partner earlier in the step are passed over, until they
///    are a centre.
/// 2. Links. Every looker has a link to the admissible parcel of least links::Key (metric2, lower id, higher id);
///    greedy_pairs: to the 1 + fall_backs least.
/// 3. Form. stars: links::prune_single_pass. mutual_pairs: links that are the least, by Key, of all that touch their
///    ends. greedy_pairs: pairs by ascending Key whose ends are both free. In a pair of two lookers the lower id is the
///    centre, in one of a looker and another parcel that is.
/// 4. Answers. The leaves of a centre in the order of (metric2, id): one that would exceed max_members or max_weight
///    (volumes added in this order) is refused with all after it; one with which `allowed` is false for the place of
///    the merged parcel is refused alone. Refused pairs are not admissible for the rest of the step. Refused leaves, and
///    lookers that are centres of refused leaves alone, look in the next round (not with crowded, see 1).
/// 5. Merge. Members are the centre, then the leaves by ascending id: merge_star(), then the place by the policy.
///
/// Rounds end when nobody looks, with max_rounds, or, but for crowded, when no looker has a link.
///
/// Conserve::momentum_energy: parcels that merge are one *unit* until the end of the step, so they are not each other's
/// candidates. It counts as two in its cell. Its kinetic energy per weight merges like a mean, from
/// kinetic_energy() of each parcel. In the end two parcels remain of a unit, at its place, with the two lowest ids of
/// its members, half the volume and half of every sum each, and two_momenta(). A unit of two is undone instead, bit for
/// bit; with crowded only if its place and its two members are in one cell, so that counts of cells stay as they are.
///
/// Splitting, after the rounds: in each cell with at least one parcel and fewer than split_below, while that is so, the parcel of
/// greatest volume, of the lowest id among equals, is split (the arithmetic of one split is shared); the k-th split of cell c in C
/// cells, numbered (x Ny + y) Nz + z, makes the id new_ids + (step C + c) (split_below - 1) + k.
///
/// Friends of friends: parcels with equal columns `same` and distance2 <= linking * linking are in one group; its id is
/// the lowest of its members, which is its centre. Along its edges positions are continued over periodic faces: member i
/// is at x_i + k_i L. Where two ways give different k the group winds round the box: it is left as it is. Sums are exact
/// (ExactSum), rounded once, of rounded terms: V = sum V_i; w = 1 / V; D = sum(V_i ((x_i - x_c) + k_i L)) * w; means
/// sum(V_i a_i) * w; sums sum(a_i).
///
/// Levelling thinning: in each cell of the grid with at least level_least parcels, level = level_ratio * (exact sum of
/// the volumes / their number). A parcel of volume V <= level stays if draw_uniform() < V / level, with volume `level`
/// and its sums times level / V; else it is removed.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/cluster/merge_policy.hpp"
#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"

namespace merganser {

/// Result of policy_reference() beside the parcels.
struct PolicyOutcome {
  /// Report of the step: before, small (lookers of the first round), merged, after, unmatched, clusters (stars of all
  /// rounds), lineage (every parcel that is gone, and the parcel of the output that holds it; none by levelling).
  StepReport report;
  int rounds = 0;                               ///< rounds made
  bool settled = true;                          ///< false if max_rounds ended the step
  std::int64_t refused = 0;                     ///< pairs refused
  std::int64_t undone = 0;                      ///< units of two that were undone (Conserve::momentum_energy)
  std::map<std::int64_t, std::int64_t> groups;  ///< friends of friends: id of the group of each parcel before the step
  std::vector<std::int64_t> winding;            ///< friends of friends: groups that wind round the box, ascending
};

/// Makes one step under a merge policy in place on one rank, without a transport. The parcels are as a set those of
/// Clusterer::step, bit for bit; their order is that of ids. Cost: O(n^2) each round.
/// @throws UsageError for a policy that is not valid for the parcels; InputError for columns that hold what it does not allow
PolicyOutcome policy_reference(Parcels& parcels, const Grid& grid, const ClusterOptions& options,
                               const MergePolicy& policy);

}  // namespace merganser
