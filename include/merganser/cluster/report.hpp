#pragma once
/// Report of a merge step: counts, times and lineage of one rank.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/links/prune.hpp"

namespace merganser {

/// Wall-clock times of the stages of a merge step on this rank, in seconds, in the order of the step.
struct StageTimes {
  double search = 0;    ///< binning into cells, sorting, local nearest-neighbour search
  double exchange = 0;  ///< queries to candidate ranks, replies, and far links
  double graph = 0;     ///< assembly of links, announcement to the ranks of their targets
  double prune = 0;     ///< pruning of the links into stars
  double migrate = 0;   ///< migration of leaves to the ranks of their centres
  double merge = 0;     ///< merge of the stars, packing of the container
  /// Returns the time of the merge step over all stages, in seconds.
  [[nodiscard]] double total() const { return search + exchange + graph + prune + migrate + merge; }
};

/// Numbers of a merge step under a merge policy, on one rank; all 0 with the default policy. Weight is the parcels' volume.
/// Weights, momenta and energies are sums over the parcels of the rank, each rounded once; a rank's own change too where parcels
/// move between ranks in the step, so only sums over ranks tell what a step changed.
struct PolicyNumbers {
  std::int64_t rounds = 0;  ///< rounds made, the same on every rank where a step may have more than one
  std::int64_t unsettled =
      0;  ///< 1 if the greatest number of rounds ended the step (the same on every rank); a sum over ranks
          ///< or steps takes the maximum
  std::int64_t answers = 0;  ///< waves in which centres answered their leaves, 1 a round where the policy has answers
  std::int64_t refused = 0;  ///< pairs refused by limits or the predicate, counted on the rank of the centre
  std::int64_t winding =
      0;  ///< groups of friends that wind round the box and stay as they are, on the rank of their root
  std::int64_t undone = 0;   ///< groups of two restored in the end, where momentum and energy are conserved
  std::int64_t split = 0;    ///< parcels that splitting has added
  double weight_before = 0;  ///< sum of volumes before the step
  double weight_after = 0;   ///< sum of volumes after the step
  double energy_before = 0;  ///< sum of volume times kinetic energy before the step; 0 unless MergePolicy::conserve
  double energy_after = 0;   ///< sum of volume times kinetic energy after the step; 0 unless MergePolicy::conserve
  Vec3 momentum_before{};    ///< sum of volume times momentum before the step; 0 unless MergePolicy::conserve
  Vec3 momentum_after{};     ///< sum of volume times momentum after the step; 0 unless MergePolicy::conserve
  /// Adds the numbers of another rank or step: rounds, waves of answers and `unsettled` are maxima.
  PolicyNumbers& operator+=(const PolicyNumbers& o);
};

/// Counts, times and communication of a merge step, or of a search of the StarFinder, on one rank.
struct StepNumbers {
  std::int64_t before = 0;           ///< number of parcels before the step
  std::int64_t small = 0;            ///< number of small parcels before the step
  std::int64_t merged = 0;           ///< number of parcels merged away whose centre is on this rank
  std::int64_t after = 0;            ///< number of parcels after the step
  std::int64_t long_cycles = 0;      ///< number of cycles of three or more links that were cut (cells8 only)
  std::int64_t unmatched = 0;        ///< number of small parcels without any other parcel within reach
  std::int64_t links_to_small = 0;   ///< number of links before pruning whose target is small
  std::int64_t cross_links = 0;      ///< number of links from parcels of this rank to those of another
  std::int64_t merged_into_big = 0;  ///< number of kept links whose target is not small
  StageTimes seconds;                ///< times of the stages
  comm::Counters counters;           ///< operations of the transport in this step
  links::PruneStatistics pruning;    ///< communication of the pruning
  PolicyNumbers policy;              ///< what a merge policy adds; 0 with the default policy
};

/// Report of one merge step on one rank, returned by Clusterer::step(); those of ranks or steps can be added.
struct StepReport : StepNumbers {
  /// Number of merged stars by number of members, centre included, counted on the rank of the centre.
  std::map<int, std::int64_t> clusters;
  /// Ids of a source and its centre, reported on the rank of the centre; none unless ClusterOptions::lineage.
  struct MergedPair {
    std::int64_t source;  ///< id of the parcel merged away
    std::int64_t centre;  ///< id of the parcel that it merged into
  };
  std::vector<MergedPair> lineage;
  /// Ids of a new parcel and the one that was split, in the order of splitting; none unless ClusterOptions::lineage.
  struct SplitPair {
    std::int64_t child;   ///< id of the new parcel
    std::int64_t parent;  ///< id of the parcel that was split, which keeps it
  };
  std::vector<SplitPair> splits;

  /// Adds the merge report of another rank or step; of rounds, syncs and reductions of the pruning it takes the
  /// maximum.
  StepReport& operator+=(const StepReport& o);
};

}  // namespace merganser
