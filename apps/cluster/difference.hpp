#pragma once
/// Comparison of two sets of parcels, as text for reports of verification failures.
#include <string>

#include "merganser/cluster/options.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::app {

/// Compares two sets of parcels by id, bit for bit, whatever their order. Local.
/// @return empty if they are equal; else the lowest id that differs, the attribute and both values, in decimal and hexadecimal:
/// "parcel 17: buoyancy is 0.5 (0x1p-1), expected 0.25 (0x1p-2)"
[[nodiscard]] std::string first_difference(const Parcels& expected, const Parcels& got);

/// Merges parcels by the serial reference, of the default policy or of another, and compares them with others as
/// first_difference(). Local. @param parcels  of all ranks before the first step; merged on return
[[nodiscard]] std::string difference_from_reference(Parcels& parcels, const Parcels& got, const Grid& grid,
                                                    const ClusterOptions& options, int steps);

}  // namespace merganser::app
