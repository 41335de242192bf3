#pragma once
/// Options of artificial configurations of parcels, shared by `gen random` and `bench random`.
#include <array>

#include "merganser/base/options.hpp"
#include "merganser/parcels/generate.hpp"

namespace merganser::app {

/// Options of the grid of artificial parcels; nx, ny, nz and lx, ly, lz that are 0 follow from `cells` and `spacing`.
struct GridOptions {
  std::array<std::int64_t, 3> cells{32, 32, 32};  ///< cells of the grid along each axis
  std::int64_t nx = 0, ny = 0, nz = 0;            ///< cells along x, y and z, instead of `cells`
  double spacing = 0.3125;                        ///< edge of a cell, where lx, ly, lz do not give it
  double lx = 0, ly = 0, lz = 0;                  ///< lengths of the domain along x, y and z
  AxisFlags periodic{true, true, false};          ///< axes that are periodic, not bounded by walls
};
/// Passes name, value, meaning and range of every grid option to option(...).
void describe(GridOptions& o, auto&& option) {
  option.section("Grid");
  option("cells", o.cells, "cells per axis", at_least(1));
  option("nx", o.nx, "cells along x", at_least(1), ShownDefault{"from --cells"}, NotWith{"--cells"});
  option("ny", o.ny, "cells along y", at_least(1), ShownDefault{"from --cells"}, NotWith{"--cells"});
  option("nz", o.nz, "cells along z", at_least(1), ShownDefault{"from --cells"}, NotWith{"--cells"});
  option("spacing", o.spacing, "edge of a cell", positive(), UsedWith{"without --lx", "without --ly", "without --lz"});
  option("lx", o.lx, "length of the domain along x", positive(), ShownDefault{"cells times spacing"});
  option("ly", o.ly, "length of the domain along y", positive(), ShownDefault{"cells times spacing"});
  option("lz", o.lz, "length of the domain along z", positive(), ShownDefault{"cells times spacing"});
  option("periodic", o.periodic, "periodic axes, as letters; the others have walls");
}
/// Returns the grid that the grid options describe. @throws UsageError if they describe none
[[nodiscard]] Grid make_grid(const GridOptions& o);
/// Estimates the largest number of random parcels on a rank, for forecasts of memory, with blocks as equal as possible.
[[nodiscard]] double parcels_per_rank(const RandomParcels& o, const Grid& grid, int ranks);

/// Passes name, value, meaning and range of the options of random parcels to option(...); their defaults are those that the
/// caller has set in `o`.
void describe_random(RandomParcels& o, auto&& option) {
  option.section("Parcels");
  option("per-cell", o.per_cell, "parcels per cell", at_least(1));
  option("variable", o.variable_per_cell, "10 to --per-cell parcels in a cell, at random");
  option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest volume that is not small", positive());
  option("small-fraction", o.small_fraction, "expected share of small parcels", between(0, 1));
  option("seed", o.seed, "seed; the parcels are the same for any number of ranks");
}

}  // namespace merganser::app
