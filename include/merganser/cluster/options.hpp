#pragma once
/// What a merge step does.
#include <cstdint>
#include <vector>

#include "merganser/links/prune.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser {

/// Which parcel is the nearest one.
enum class Search : std::uint8_t {
  exact,   ///< the true nearest parcel
  cells8,  ///< the nearest within the 2x2x2 cells around the nearest grid node, as published
};
/// How links are cut into stars: links::prune_single_pass, or links::prune_iterative as published. Both give the same.
enum class Prune : std::uint8_t { single_pass, iterative };

/// What a merge step does; the same on every rank, but for lineage.
struct ClusterOptions {
  double min_volume_ratio = 40;  ///< V_min = cell volume / this; a parcel is small if its volume is below V_min
  Search search = Search::exact;
  Prune prune = Prune::single_pass;
  links::IterativeOptions iterative;
  std::vector<MergeCallback> callbacks;  ///< by attribute index, where the schema says Rule::callback
  bool lineage = false;                  ///< report who merged into whom (StepReport::lineage)
};

}  // namespace merganser
