#pragma once
/// Wrapping of parcels that have moved: into the box on periodic axes, onto its walls on the others.
#include <cstddef>
#include <cstdint>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Treatment by wrap_into_box() of a parcel outside of a wall: input is refused, unless it is beyond by rounding; a parcel that has
/// moved there between steps is moved onto the wall.
enum class Walls : std::uint8_t { refuse, clamp };
/// Returns whether a site lies inside of the box beyond doubt, below its upper faces, so that wrap_into_box() would leave it as it is.
[[nodiscard]] inline bool is_well_inside(const Box& box, const Site& s) {
  const double x[3] = {s.x, s.y, s.z};
  bool inside = true;
  for (int a = 0; a < 3; ++a) inside &= (x[a] >= box.lower[a]) & (x[a] < box.lower[a] + box.extent[a]);
  return inside;
}
/// Moves the site of parcel i, before its owner is determined, into the box: wrapped on periodic axes, clamped at walls. Local.
/// @throws InputError naming the parcel if a coordinate is not finite, or outside of a wall with Walls::refuse
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls);

}  // namespace merganser::cluster
