#pragma once
/// Wrapping of parcels that have moved: into the box on periodic axes, onto its walls on the others.
#include <cstddef>
#include <cstdint>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Treatment of a parcel outside of a wall: input is refused, unless it is beyond by rounding; a parcel that has moved
/// there between steps is moved onto the wall.
enum class Walls : std::uint8_t { refuse, clamp };
/// Moves the site of parcel i, before its owner is determined, into the box: wrapped on periodic axes, clamped at walls. Local.
/// @throws InputError naming the parcel if a coordinate is not finite, or outside of a wall with Walls::refuse
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls);

}  // namespace merganser::cluster
