#pragma once
/// Ids of parcels in files: numbering of parcels without ids by a distributed sample sort, and the check that ids are
/// unique over all ranks.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// Sorts the parcels of all ranks by (x, y, z, volume, attributes) and sets each one's id to its position in that order,
/// from 0. Numbers compare by value, -0 before 0; parcels that agree in every bit compare by the id that they come with, which
/// must be unique. Parcels move between ranks: rank r ends up with the r-th part of the order, of about equal size. The
/// ids do not depend on the number of ranks. Collective.
/// Cost: a sample sort; one message with its share of the parcels between any two ranks.
/// @param before  receives (new id, former id as place) of the parcels that this rank ends up with, if not null
void number_by_content(Parcels& parcels, comm::Transport& transport, std::vector<FilePlace>* before);

/// Returns true if the ids of this rank's parcels are at least 0 and distinct, found with one bit for each number of their range.
/// False also if that range is too long to tell: check_ids() then does, and names what is wrong. Local.
[[nodiscard]] bool are_surely_valid_ids(const Parcels& parcels);

/// Checks that ids are at least 0 and unique over all ranks, in a distributed directory: every id is sent to the rank that
/// it hashes to. Collective.
/// @param places  number by which an error message names each parcel
/// @throws InputError on every rank, naming the file and the parcels
void check_ids(const std::string& file, std::span<const std::int64_t> ids, std::span<const std::int64_t> places,
               comm::Transport& transport);

}  // namespace merganser::io
