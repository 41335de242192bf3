#pragma once
/// One digest of the parcels of all ranks.
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"

namespace merganser::test {

/// Collective; the same on every rank.
inline Digest total_digest(comm::Transport& t, const Parcels& mine) {
  Digest sum{};
  for (const Digest& part : comm::all_gather_value(t, digest(mine))) sum += part;
  return sum;
}

}  // namespace merganser::test
