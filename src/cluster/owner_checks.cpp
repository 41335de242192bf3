// Checks that the parcels or points of a rank lie in its block, before a merge step or a search of stars.
#include "src/cluster/owner_checks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/cluster/crowded_vectors.hpp"

namespace merganser::cluster {

void check_volume(const Parcels& parcels, std::size_t i) {
  const double volume = parcels.site(i).volume;
  if (!is_volume(volume)) throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": " + volume_error(volume));
}

// Check before a merge step under a policy, or with the decorator `checked`: every parcel of this rank is on the rank that owns its
// position.
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank) {
  const Box& box = decomposition.grid().box;
  // Farther inside of the block than rounding can move its faces, every point is this rank's; where one of a lot is near a face, all of
  // the lot are looked up.
  constexpr std::size_t kLot = 64;
  const auto block = decomposition.block(rank);
  const auto bound = [&](const Vec3& face, double inwards, double volume) {
    return Site{face[0] + inwards * rounding_bound(box, 0), face[1] + inwards * rounding_bound(box, 1),
                face[2] + inwards * rounding_bound(box, 2), volume};
  };
  const Site lower = bound(block.lower, 1, kMinVolume);
  const Site upper = bound(block.upper, -1, kMaxVolume);
  const Site* const sites = parcels.sites();
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const std::size_t lot = std::min(kLot, parcels.size() - i);
    if (i % kLot == 0 && are_within(sites + i, lot, lower, upper)) {
      i += lot - 1;
      continue;
    }
    const Site& s = sites[i];
    check_volume(parcels, i);
    const Vec3 p{s.x, s.y, s.z};
    // A position outside of the box has no owner.
    const int owner = box.contains(p) ? decomposition.owner(p) : -1;
    if (owner != rank)
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + " at " + point_text(p) + " is on rank " +
                       std::to_string(rank) + ", but " +
                       (owner < 0 ? "not inside the box" : "belongs to rank " + std::to_string(owner)) +
                       "; send parcels to their owners (redistribute, distribute) before a step");
  }
}

// Check before StarFinder's search, with the decorator `checked`: every point of this rank is in its block, up to rounding.
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank) {
  const auto block = decomposition.block(rank);
  const Box& box = decomposition.grid().box;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Site s = points.site(i);
    const Vec3 p{s.x, s.y, s.z};
    bool inside = true;
    for (int a = 0; a < 3; ++a)
      inside =
          inside && p[a] >= block.lower[a] - rounding_bound(box, a) && p[a] <= block.upper[a] + rounding_bound(box, a);
    if (!inside) throw Indexed<InputError>(points.describe_outside(i, block.lower, block.upper, box));
  }
}

}  // namespace merganser::cluster
