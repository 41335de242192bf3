#pragma once
/// Generator of the artificial parcel configurations of [frey2025, Table 5]. Random numbers are counter-based, keyed by
/// (seed, cell, parcel), so that the parcels are the same for any number of ranks.
#include <cstdint>

#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Parameters of the artificial parcel configuration of generate_random(); the same on every rank.
struct RandomParcels {
  std::int64_t per_cell = 20;  ///< artificial parcels per grid cell, 0 to 4294967294
  /// Vary their number: 10 + uniform integer below max(10, per_cell - 10) in each cell
  bool variable_per_cell = false;
  double min_volume_ratio = 20;  ///< cell volume / V_min, > 0
  double small_fraction = 0.5;   ///< expected fraction of parcels below V_min, 0 to 1
  std::uint64_t seed = 42;       ///< seed of the random numbers
  /// Random order on each rank instead of cell by cell; the order depends on the number of ranks
  bool shuffle = false;
};

/// Generates artificial parcels in the cells of one rank's block, cell by cell (x fastest, then y, then z) or shuffled. Local.
///
/// Parcel k of cell c = (z * ny + y) * nx + x has the id c * per_cell + k, or c * most + k where the number varies and
/// most = 9 + max(10, per_cell - 10) is the largest possible. Positions are uniform in the cell by Grid::cell;
/// vorticity U(-10, 10), buoyancy U(-1, 1), volume max(V_min / 4, V_min (u + 1 - small_fraction)), a/c and a/b U(1, 4),
/// azimuth U(0, 2 pi), polar angle U(0, pi). All numbers have the same bits on every machine.
/// @param rank  0 to decomposition.ranks() - 1
/// @throws UsageError for an option out of range; InputError if the ids do not fit into 63 bits
[[nodiscard]] Parcels generate_random(const RandomParcels& options, const Decomposition& decomposition, int rank);
/// Replaces the parcels of a container of EPIC's schema by artificial parcels of one rank's block, as generate_random() makes them;
/// the memory of the container is kept. Local. @throws UsageError also for a container of another schema
void generate_random(const RandomParcels& options, const Decomposition& decomposition, int rank, Parcels& parcels);

}  // namespace merganser
