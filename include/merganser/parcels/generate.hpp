#pragma once
/// The artificial configurations of [frey2025, Table 5]: counter-based random numbers keyed by (seed, cell, parcel), so
/// the same parcels for any number of ranks.
#include <cstdint>

#include "merganser/geometry/box.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

struct RandomParcels {
  std::int64_t per_cell = 20;
  bool variable_per_cell = false;   ///< 10 + uniform integer below max(10, per_cell - 10) in each cell
  double min_volume_ratio = 20;     ///< V_min = cell volume / this
  double small_fraction = 0.5;      ///< expected share of parcels below V_min
  std::uint64_t seed = 42;
  bool shuffle = false;             ///< random order on each rank instead of cell by cell
};

/// The parcels of the cells of one rank's block. Local.
[[nodiscard]] Parcels generate_random(const RandomParcels& options, const Decomposition& decomposition, int rank);

}  // namespace merganser
