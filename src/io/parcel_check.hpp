#pragma once
/// What a parcel from outside must satisfy before the library works with it.
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// Brings positions on periodic axes into the box and checks every parcel: finite position and attributes, inside the
/// walls, positive volume, ellipsoids whose B33 can be recovered.
/// @throws InputError naming file, id, what is wrong, the value and what is allowed, for the first bad parcel
void check_parcels(const std::string& file, Parcels& parcels, const Box& box);

}  // namespace merganser::io
