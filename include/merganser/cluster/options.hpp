#pragma once
/// Options of a merge step of the Clusterer: search rule, pruning, merge callbacks.
#include <cstdint>
#include <vector>

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

/// Options of the merge steps of a Clusterer; the same on every rank, but for lineage.
struct ClusterOptions {
  double min_volume_ratio = 40;          ///< cell volume / V_min, > 0; a parcel is small if its volume is below V_min
  Search search = Search::exact;         ///< search rule: which parcel counts as nearest
  Prune prune = Prune::single_pass;      ///< pruning method
  links::IterativeOptions iterative;     ///< parameters of Prune::iterative
  std::vector<MergeCallback> callbacks;  ///< by attribute index, required where the schema has Rule::callback
  bool lineage = false;                  ///< report each source with its centre (StepReport::lineage)
};

}  // namespace merganser
