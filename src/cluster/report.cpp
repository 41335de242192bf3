// Sum of step reports (report.hpp).
#include <algorithm>

#include "merganser/cluster/cluster.hpp"

namespace merganser {

// Numbers of a policy: what all ranks count alike are maxima.
PolicyNumbers& PolicyNumbers::operator+=(const PolicyNumbers& o) {
  rounds = std::max(rounds, o.rounds);
  unsettled = std::max(unsettled, o.unsettled);
  answers = std::max(answers, o.answers);
  refused += o.refused;
  undone += o.undone;
  winding += o.winding;
  split += o.split;
  weight_before += o.weight_before;
  weight_after += o.weight_after;
  energy_before += o.energy_before;
  energy_after += o.energy_after;
  for (std::size_t a = 0; a < 3; ++a) {
    momentum_before[a] += o.momentum_before[a];
    momentum_after[a] += o.momentum_after[a];
  }
  return *this;
}

// Sum of the reports of steps or ranks: counts and times add up, rounds of the pruning are maxima.
StepReport& StepReport::operator+=(const StepReport& o) {
  before += o.before;
  small += o.small;
  merged += o.merged;
  after += o.after;
  long_cycles += o.long_cycles;
  unmatched += o.unmatched;
  links_to_small += o.links_to_small;
  cross_links += o.cross_links;
  merged_into_big += o.merged_into_big;
  for (const auto& [members, count] : o.clusters) clusters[members] += count;
  lineage.insert(lineage.end(), o.lineage.begin(), o.lineage.end());
  splits.insert(splits.end(), o.splits.begin(), o.splits.end());
  seconds.search += o.seconds.search;
  seconds.exchange += o.seconds.exchange;
  seconds.graph += o.seconds.graph;
  seconds.prune += o.seconds.prune;
  seconds.migrate += o.seconds.migrate;
  seconds.merge += o.seconds.merge;
  counters += o.counters;
  pruning.rounds = pruning.rounds > o.pruning.rounds ? pruning.rounds : o.pruning.rounds;
  pruning.words_written += o.pruning.words_written;
  pruning.words_read += o.pruning.words_read;
  pruning.syncs = pruning.syncs > o.pruning.syncs ? pruning.syncs : o.pruning.syncs;
  pruning.reductions = pruning.reductions > o.pruning.reductions ? pruning.reductions : o.pruning.reductions;
  policy += o.policy;
  return *this;
}

}  // namespace merganser
