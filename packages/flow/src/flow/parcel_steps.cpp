// Steps of the flow model on single parcels: reflection at walls, numbering, splitting, sums of vorticity.
#include <algorithm>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/split.hpp"
#include "src/flow/placement.hpp"

namespace merganser::flow {

// Walls: a parcel that a stage has moved beyond one is mirrored, with the signs of its shape and vorticity.
void reflect(Parcels& parcels, const Box& box) {
  const double low = box.lower[2];
  const double high = low + box.extent[2];
  const std::size_t shape = parcels.schema().offset("B");
  const bool offsets = parcels.schema() == schema();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    double& z = parcels.site(i).z;
    if (z >= low && z <= high) continue;
    z = z < low ? 2 * low - z : 2 * high - z;
    double* const b = parcels.row(i) + shape;
    b[2] = -b[2];
    b[4] = -b[4];
    if (offsets) parcels.row(i)[Row::offsets] = std::numeric_limits<double>::quiet_NaN();  // B has changed: recompute
  }
}

// Ids by cell and rank in the cell, which do not depend on the number of ranks.
void renumber(Parcels& parcels, const NodeLayout& layout) {
  Placement placement(layout);
  placement.locate(parcels);
  placement.renumber(parcels);
}

// Splitting of long or large parcels by the limits of the flow.
std::int64_t split(Parcels& parcels, const Grid& grid, const FlowOptions& options) {
  SplitOptions how;
  how.max_aspect_ratio = options.max_aspect_ratio;
  how.max_semi_axis =
      cube_root(detail::semi_axes_product(1)) * std::min({grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  how.consecutive_ids = true;
  return merganser::split(parcels, grid, how);
}

void VorticitySums::add(const VorticitySums& o) {
  volume.add(o.volume);
  for (std::size_t c = 0; c < 3; ++c) moment[c].add(o.moment[c]);
}

Vec3 VorticitySums::mean() const {
  const double all = volume.value();
  if (!(all > 0)) return {0, 0, 0};
  return {moment[0].value() / all, moment[1].value() / all, moment[2].value() / all};
}

namespace {

/// Throws InputError for parcel i, whose volume or vorticity w is not finite, with its id and these numbers.
[[noreturn]] void throw_bad_vorticity(const Parcels& parcels, std::size_t i, const double* w) {
  throw InputError("parcel " + std::to_string(parcels.id(i)) + " has volume " + std::to_string(parcels.site(i).volume) +
                   ", vorticity (" + std::to_string(w[0]) + ", " + std::to_string(w[1]) + ", " + std::to_string(w[2]) +
                   "); allowed: finite numbers");
}

/// Returns the volume of parcel i, m^3, and volume times vorticity, m^3/s. @throws InputError for numbers that are not finite
std::array<double, 4> parcel_moments(const Parcels& parcels, std::size_t i, std::size_t vorticity) {
  const double volume = parcels.site(i).volume;
  const double* const w = parcels.row(i) + vorticity;
  // 0 * x is 0 for finite x and not a number for all others.
  const std::array<double, 4> all{volume, volume * w[0], volume * w[1], volume * w[2]};
  const double check = 0 * all[0] + 0 * all[1] + 0 * all[2] + 0 * all[3];
  if (!(check == 0)) throw_bad_vorticity(parcels, i, w);
  return all;
}

/// Adds volume, and volume times vorticity, of a parcel or of all parcels of a cell to the exact sums for the mean vorticity.
void add_to(VorticitySums& sums, const std::array<double, 4>& all) {
  sums.volume.add(all[0]);
  for (std::size_t c = 0; c < 3; ++c) sums.moment[c].add(all[1 + c]);
}

}  // namespace

VorticitySums vorticity_sums(const Parcels& parcels) {
  const std::size_t vorticity = parcels.schema().offset("vorticity");
  VorticitySums sums;
  for (std::size_t i = 0; i < parcels.size(); ++i) add_to(sums, parcel_moments(parcels, i, vorticity));
  return sums;
}

// Sums by cell in doubles, then exactly over cells: fewer exact additions, and still independent of the ranks.
VorticitySums vorticity_sums(const Parcels& parcels, const Placement& placement) {
  VorticitySums sums;
  std::size_t n = 0;
  for (std::size_t cell = 0; cell + 1 < placement.first().size(); ++cell) {
    std::array<double, 4> of_cell{};
    if (n == placement.first()[cell + 1]) continue;
    for (; n < placement.first()[cell + 1]; ++n) {
      __builtin_prefetch(parcels.row(placement.order()[std::min(n + 24, placement.size() - 1)]));
      const std::array<double, 4> one = parcel_moments(parcels, placement.order()[n], Row::vorticity);
      for (std::size_t c = 0; c < 4; ++c) of_cell[c] += one[c];
    }
    add_to(sums, of_cell);
  }
  return sums;
}

Vec3 mean_vorticity(comm::Transport& transport, const Parcels& parcels) {
  return mean_vorticity(transport, vorticity_sums(parcels));
}

Vec3 mean_vorticity(comm::Transport& transport, const VorticitySums& mine) {
  VorticitySums all;
  for (const VorticitySums& part : comm::all_gather_value(transport, mine)) all.add(part);
  return all.mean();
}

void add_vorticity(Parcels& parcels, const Vec3& by) {
  const std::size_t vorticity = parcels.schema().offset("vorticity");
  for (std::size_t i = 0; i < parcels.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) parcels.row(i)[vorticity + c] += by[c];
}

}  // namespace merganser::flow
