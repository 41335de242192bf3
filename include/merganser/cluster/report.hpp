#pragma once
/// What a merge step did.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/links/prune.hpp"

namespace merganser {

/// Seconds per stage on this rank, in the order of the step.
struct StageTimes {
  double search = 0;    ///< bin, sort, local nearest search
  double exchange = 0;  ///< ask and answer
  double graph = 0;     ///< links, announcement
  double prune = 0;
  double migrate = 0;
  double merge = 0;  ///< merge and pack
  /// Sum over all stages.
  [[nodiscard]] double total() const { return search + exchange + graph + prune + migrate + merge; }
};

/// Numbers of a step on one rank.
struct StepNumbers {
  std::int64_t before = 0;
  std::int64_t small = 0;
  std::int64_t merged = 0;  ///< sources whose centre is on this rank
  std::int64_t after = 0;
  std::int64_t long_cycles = 0;      ///< cycles of three or more links that were cut (cells8 only)
  std::int64_t unmatched = 0;        ///< small parcels without any other parcel in reach
  std::int64_t links_to_small = 0;   ///< links before pruning whose target is small
  std::int64_t cross_links = 0;      ///< links from this rank to another
  std::int64_t merged_into_big = 0;  ///< kept links whose target is not small
  StageTimes seconds;
  comm::Counters counters;  ///< of this step
  links::PruneStatistics pruning;
};

/// What one step did on one rank.
struct StepReport : StepNumbers {
  std::map<int, std::int64_t> clusters;  ///< by number of members, centre included, counted where the centre is
  /// Ids of a source and its centre, counted where the centre is; empty unless ClusterOptions::lineage.
  struct MergedPair {
    std::int64_t source;
    std::int64_t centre;
  };
  std::vector<MergedPair> lineage;

  /// Adds another rank's or step's report (times add).
  StepReport& operator+=(const StepReport& o);
};

}  // namespace merganser
