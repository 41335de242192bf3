#pragma once
/// Removal of parcels that were sent to another rank.
#include <cstdint>
#include <vector>

#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Removes the marked parcels, keeping the order of the others.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone);

}  // namespace merganser::cluster
