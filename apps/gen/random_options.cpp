#include "apps/gen/random_options.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"

namespace merganser::app {

// Grid of artificial parcels from --cells, --nx .., --spacing and --lx ...
Grid make_grid(const GridOptions& o) {
  Grid grid;
  grid.cells = o.cells;
  const std::array<std::int64_t, 3> single{o.nx, o.ny, o.nz};
  const Vec3 length{o.lx, o.ly, o.lz};
  for (std::size_t a = 0; a < 3; ++a) {
    if (single[a] > 0) grid.cells[a] = single[a];
    grid.box.extent[a] = length[a] > 0 ? length[a] : static_cast<double>(grid.cells[a]) * o.spacing;
  }
  grid.box.periodic = o.periodic;
  try {
    check_grid(grid);
  } catch (const InputError& e) {  // it comes from options
    throw UsageError(e.what());
  }
  return grid;
}

double parcels_per_rank(const RandomParcels& o, const Grid& grid, int ranks) {
  const auto most = static_cast<double>(o.per_cell);
  const double each = o.variable_per_cell ? 9.5 + std::max(10.0, most - 10) / 2 : most;
  return each * std::ceil(static_cast<double>(grid.cell_count()) / ranks);
}

}  // namespace merganser::app
