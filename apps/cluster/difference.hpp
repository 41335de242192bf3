#pragma once
/// The first difference between two sets of parcels, for people.
#include <string>

#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

/// Compares as sets, by id, every bit. Empty if equal; else the lowest id that differs, the attribute and both values,
/// in decimal and hexadecimal: "parcel 17: buoyancy is 0.5 (0x1p-1), expected 0.25 (0x1p-2)".
[[nodiscard]] std::string first_difference(const Parcels& expected, const Parcels& got);

}  // namespace merganser::app
