#pragma once
/// One neighbour wave that sends parcels to their owners, or one hop towards them.
#include <cstdint>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/cluster/far_component.hpp"

namespace merganser::cluster {

/// Numbers of parcels that this rank sent towards their owners in one redistribution wave; redistribute() fills it.
struct Redistributed {
  std::int64_t sent = 0;        ///< parcels that this rank sent
  std::int64_t in_transit = 0;  ///< of these, those sent to a rank that is not their owner
};
/// Sends the parcels of this rank that lie in other blocks to the ranks that own them, or one hop towards them, in one neighbour
/// wave between merge steps. Called by every rank.
/// @param around  component of this rank if merged parcels may have to go beyond candidates: it first sends them to
/// members of which the owners are candidates; null: no such parcels
Redistributed redistribute(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
                           FarComponent* around);

}  // namespace merganser::cluster
