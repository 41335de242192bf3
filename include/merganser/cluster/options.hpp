#pragma once
/// Options of a merge step of the Clusterer: search rule, pruning, merge callbacks, merge policy.
#include <cstdint>
#include <vector>

#include "merganser/cluster/merge_policy.hpp"
#include "merganser/links/prune.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser {

/// Search rule of a merge step: which parcel counts as the nearest of a small one.
enum class Search : std::uint8_t {
  exact,   ///< the true nearest parcel
  cells8,  ///< the nearest within the 2x2x2 cells around the nearest grid node, as published
};
/// Method by which a merge step prunes nearest-neighbour links to stars: links::prune_single_pass, or links::prune_iterative as
/// published. Both give the same stars.
enum class Prune : std::uint8_t { single_pass, iterative };

/// Options of the merge steps of a Clusterer; the same on every rank, but for lineage (with a policy that is not
/// the default, lineage too).
struct ClusterOptions {
  double min_volume_ratio = 40;          ///< cell volume / V_min, > 0; a parcel is small if its volume is below V_min
  Search search = Search::exact;         ///< search rule: which parcel counts as nearest
  Prune prune = Prune::single_pass;      ///< pruning method
  links::IterativeOptions iterative;     ///< parameters of Prune::iterative
  std::vector<MergeCallback> callbacks;  ///< by attribute index, required where the schema has Rule::callback
  bool lineage = false;                  ///< report each source with its centre (StepReport::lineage)
  MergePolicy policy;                    ///< who merges with whom, how many, what is conserved; the default is EPIC's
};

}  // namespace merganser
