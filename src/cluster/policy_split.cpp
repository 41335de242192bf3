// Splitting of one parcel under a merge policy.
#include "src/cluster/policy_split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "merganser/parcels/split.hpp"

namespace merganser::cluster {
namespace {

constexpr double kInside = 0.99;  // of the way to a wall

/// Returns how far the children of a parcel may be from it along each axis: half the mean distance of the least number of parcels in a
/// cell, and within walls. Not within the cell: displacements that keep the centre and end at its faces gather parcels there.
Vec3 reach_of(const MergePolicy& policy, const Grid& cells, const Vec3& x) {
  const double share = 0.5 / cube_root(static_cast<double>(policy.split_below));
  Vec3 reach{};
  for (std::size_t a = 0; a < 3; ++a) {
    reach[a] = cells.spacing(static_cast<int>(a)) * share;
    if (cells.box.periodic[a]) continue;
    const double lower = x[a] - cells.box.lower[a];
    const double upper = (cells.box.lower[a] + cells.box.extent[a]) - x[a];
    reach[a] = std::min(reach[a], kInside * std::max(std::min(lower, upper), 0.0));
  }
  return reach;
}

/// Returns the displacement of one child of a parcel, the opposite of that of the other. A momentum of which a component is not finite
/// has no direction.
Vec3 displacement(const MergePolicy& policy, const PolicyColumns& columns, const Vec3& reach, const double* row,
                  std::int64_t child) {
  Vec3 d{};
  double most = 0;
  const bool along = policy.split_along == SplitAlong::velocity;
  bool finite = true;
  for (std::size_t a = 0; along && a < 3; ++a) {
    const double p = columns.value(row, columns.momentum[a]);
    finite = finite && std::isfinite(p);
    most = std::max(most, std::fabs(p));
  }
  if (!(most > 0) || !finite) {
    const Vec3 u = draw_uniform3({policy.seed, policy.step, 0}, Draw::split, child);
    for (std::size_t a = 0; a < 3; ++a) d[a] = (2 * u[a] - 1) * reach[a];
    return d;
  }
  double length = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < 3; ++a) {
    d[a] = columns.value(row, columns.momentum[a]) / most;
    if (std::fabs(d[a]) > 1e-100) length = std::min(length, reach[a] / std::fabs(d[a]));
  }
  for (double& x : d) x *= length;
  return d;
}

}  // namespace

std::int64_t first_new_id(const MergePolicy& policy, const Grid& grid) {
  constexpr std::int64_t kMaxId = std::numeric_limits<std::int64_t>::max();
  const std::int64_t cells = grid.cells[0] * grid.cells[1] * grid.cells[2];
  const std::int64_t room = cells <= kMaxId / (policy.split_below - 1) ? cells * (policy.split_below - 1) : kMaxId;
  // Steps that have room above the first id; the last of them ends below 2^63.
  const auto steps = static_cast<std::uint64_t>((kMaxId - policy.new_ids) / room);
  if (policy.step >= steps)
    throw UsageError("policy: split: step " + std::to_string(policy.step) + " in " + std::to_string(cells) +
                     " cells has new ids above 2^63 - 1; allowed: " + std::to_string(steps) +
                     " steps, more with a lower first id (ids:N)");
  return policy.new_ids + static_cast<std::int64_t>(policy.step) * room;
}

void split_parcel(const MergePolicy& policy, const PolicyColumns& columns, const Grid& cells, Parcels& parcels,
                  std::size_t i, std::int64_t child) {
  if (policy.split_along == SplitAlong::axis) return merganser::split_parcel(parcels, i, cells.box, child);
  const std::size_t j = parcels.size();
  parcels.resize(j + 1);
  const Site s = parcels.site(i);
  const Vec3 x{s.x, s.y, s.z};
  const Vec3 d = displacement(policy, columns, reach_of(policy, cells, x), parcels.row(i), child);
  Vec3 one{};
  Vec3 two{};
  for (std::size_t a = 0; a < 3; ++a) {
    one[a] = detail::wrap_or_clamp(cells.box, static_cast<int>(a), x[a] + d[a]);
    two[a] = detail::wrap_or_clamp(cells.box, static_cast<int>(a), x[a] - d[a]);
  }
  scale_sums(parcels.schema(), 0.5, parcels.row(i));
  std::copy_n(parcels.row(i), parcels.schema().width(), parcels.row(j));
  parcels.set_id(j, child);
  parcels.site(i) = {one[0], one[1], one[2], 0.5 * s.volume};
  parcels.site(j) = {two[0], two[1], two[2], 0.5 * s.volume};
}

void scale_sums(const Schema& schema, double factor, double* row) {
  std::size_t column = 1;
  for (const Attribute& a : schema.attributes())
    for (int k = 0; k < a.components; ++k, ++column)
      if (a.rule == Rule::sum || a.rule == Rule::sum_present) row[column] *= factor;
}

}  // namespace merganser::cluster
