#pragma once
/// Removal of parcels from a rank's container after they have merged or were sent to another rank.
#include <cstdint>
#include <vector>

#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Removes parcels from this rank's container, keeping the order of the others. Local.
/// @param gone  1 for each parcel to remove
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone);

}  // namespace merganser::cluster
