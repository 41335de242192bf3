#include "support/random_options.hpp"

#include <cmath>

#include "merganser/base/error.hpp"

namespace merganser::app {

Grid make_grid(const GridOptions& o) {
  Grid grid;
  grid.cells = o.cells;
  const std::array<std::int64_t, 3> single{o.nx, o.ny, o.nz};
  const Vec3 length{o.lx, o.ly, o.lz};
  double count = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    if (single[a] > 0) grid.cells[a] = single[a];
    grid.box.extent[a] = length[a] > 0 ? length[a] : static_cast<double>(grid.cells[a]) * o.spacing;
    count *= static_cast<double>(grid.cells[a]);
  }
  if (count > 0x1p40) throw UsageError("a grid of " + number_text(count) + " cells; allowed: up to 2^40");
  grid.box.periodic = o.periodic;
  return grid;
}

}  // namespace merganser::app
