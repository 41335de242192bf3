#pragma once
/// Ids of parcels that come from files or go into them.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// Gives every parcel its place in the order of (x, y, z, volume, attributes) over all ranks as its id: each number by
/// value, -0 before 0; parcels that agree in every bit by the id that they come with, which must be unique. Parcels move
/// between ranks: rank r ends up with the r-th part of that order, of about equal size. Collective.
/// Cost: a sort; one message with its share of the parcels between any two ranks.
/// @param before  gets the ids that this rank's parcels came with, as places, if not null
void number_by_content(Parcels& parcels, comm::Transport& transport, std::vector<FilePlace>* before);

/// Checks that ids are at least 0 and unique over all ranks. Collective.
/// @param places  what to call the parcels in an error, one number each
/// @throws InputError on every rank, naming the file and the parcels
void check_ids(const std::string& file, std::span<const std::int64_t> ids, std::span<const std::int64_t> places,
               comm::Transport& transport);

}  // namespace merganser::io
