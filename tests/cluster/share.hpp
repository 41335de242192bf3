#pragma once
/// Selection of one rank's part of parcels that every rank holds.
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::test {

/// Returns those of `all` that lie in the block of this rank, in the same order. Local.
inline Parcels owned_parcels(const comm::Transport& t, const Parcels& all, const Decomposition& d) {
  Parcels mine(all.schema());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (d.owner({all.site(i).x, all.site(i).y, all.site(i).z}) == t.rank()) mine.append(all.site(i), all.row(i));
  return mine;
}

}  // namespace merganser::test
