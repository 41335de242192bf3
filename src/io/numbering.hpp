#pragma once
/// Ids of parcels in files: numbering of parcels without ids by a distributed sample sort, and the check that ids are
/// unique over all ranks.
#include <algorithm>
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

/// Range of the ids of one rank's parcels; add() extends it.
struct IdRange {
  std::int64_t count = 0;      ///< number of ids
  std::int64_t least = 0;      ///< the least id
  std::int64_t most = 0;       ///< the greatest id
  std::int64_t ascending = 1;  ///< 1 if each id is above the one before, else 0
  /// Adds the id of the next parcel.
  void add(std::int64_t id) {
    if (count++ == 0) least = most = id;
    ascending &= static_cast<std::int64_t>(count == 1 || id > most);
    least = std::min(least, id);
    most = std::max(most, id);
  }
};

/// Returns true, on every rank, if the ids of all ranks' parcels are at least 0 and distinct, found without a sort: ids that ascend,
/// or one bit for each number of their range. False also if that range is too long to tell: check_ids() then does, and names what
/// is wrong. Collective: one gather; if ids do not ascend, or ranges of ranks overlap, comm::are_surely_distinct().
[[nodiscard]] bool are_surely_valid_ids(const Parcels& parcels, comm::Transport& transport);
/// Returns true, on every rank, if the ids of all ranks' parcels are at least 0 and distinct, and false also if their range is too
/// long to tell, for parcels whose ids this rank has added to `range` in their order. Collective.
[[nodiscard]] bool are_surely_valid_ids(const Parcels& parcels, const IdRange& range, comm::Transport& transport);

/// Checks that ids are at least 0 and unique over all ranks, in a distributed directory: every id is sent to the rank that
/// it hashes to. Collective.
/// @param places  number by which an error message names each parcel
/// @throws InputError on every rank, naming the file and the parcels
void check_ids(const std::string& file, std::span<const std::int64_t> ids, std::span<const std::int64_t> places,
               comm::Transport& transport);

}  // namespace merganser::io
