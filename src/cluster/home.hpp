#pragma once
/// Parcels as messages, and the way to their owner.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Appends parcel i to a message: its site, then its payload row.
void append_parcel(std::vector<std::byte>& message, const Site& site, const double* row, std::size_t width);
/// Appends the parcels of a message to the container. @throws CommError if the length is no multiple of a parcel
void take_parcels(std::span<const std::byte> message, Parcels& parcels);

struct Rehomed {
  std::int64_t sent = 0;
  std::int64_t travelling = 0;  ///< of these, sent to a rank that is not their owner
};
/// One neighbour wave; see Clusterer::rehome.
Rehomed rehome(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox);

}  // namespace merganser::cluster
