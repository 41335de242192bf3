#pragma once
/// Report of a merge step: counts, times and lineage of one rank.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/links/prune.hpp"

namespace merganser {

/// Wall-clock times of the stages of a merge step on this rank, in seconds, in the order of the step.
struct StageTimes {
  double search = 0;    ///< bin, sort, local nearest search
  double exchange = 0;  ///< queries, replies, and far links
  double graph = 0;     ///< assembly of links, announcement
  double prune = 0;     ///< pruning into stars
  double migrate = 0;   ///< migration of leaves to their centres
  double merge = 0;     ///< merge and pack
  /// Returns the time of the merge step over all stages, in seconds.
  [[nodiscard]] double total() const { return search + exchange + graph + prune + migrate + merge; }
};

/// Counts, times and communication of a merge step, or of a search of the StarFinder, on one rank.
struct StepNumbers {
  std::int64_t before = 0;           ///< parcels before the step
  std::int64_t small = 0;            ///< small parcels before the step
  std::int64_t merged = 0;           ///< sources whose centre is on this rank
  std::int64_t after = 0;            ///< parcels after the step
  std::int64_t long_cycles = 0;      ///< cycles of three or more links that were cut (cells8 only)
  std::int64_t unmatched = 0;        ///< small parcels without any other parcel within reach
  std::int64_t links_to_small = 0;   ///< links before pruning whose target is small
  std::int64_t cross_links = 0;      ///< links from this rank to another
  std::int64_t merged_into_big = 0;  ///< kept links whose target is not small
  StageTimes seconds;                ///< times of the stages
  comm::Counters counters;           ///< of this step
  links::PruneStatistics pruning;    ///< communication of the pruning
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

  /// Adds the merge report of another rank or step; of pruning rounds, syncs and reductions it takes the maximum.
  StepReport& operator+=(const StepReport& o);
};

}  // namespace merganser
