#pragma once
/// Serialization of parcels to messages: site and payload row, Parcels::parcel_bytes() each. Sender and receiver use
/// the same schema.
#include <cstddef>
#include <span>
#include <vector>

#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Appends a parcel, site and payload row of `width` numbers, to a message to another rank.
void append_parcel(std::vector<std::byte>& message, const Site& site, const double* row, std::size_t width);
/// Appends site and payload row of parcel i of a container to a message.
inline void append_parcel(std::vector<std::byte>& message, const Parcels& from, std::size_t i) {
  append_parcel(message, from.site(i), from.row(i), from.schema().width());
}
/// Appends the parcels of a message of another rank to the container. @throws CommError if the length is no multiple of a parcel
void append_parcels(std::span<const std::byte> message, Parcels& parcels);

}  // namespace merganser
