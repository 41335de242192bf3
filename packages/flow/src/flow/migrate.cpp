// Migration of flow parcels between the stages of a time step, over a mailbox to the blocks that touch this rank's.
#include "merganser/flow/migrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::flow {

namespace {

/// Returns true if a parcel's position is certainly in the rank's block whose bounds are `inside`, so that it need not migrate.
bool is_in_interior(const InteriorBounds& inside, const Site& s) noexcept {
  const Vec3& low = inside.low;
  const Vec3& high = inside.high;
  return s.x >= low[0] && s.x < high[0] && s.y >= low[1] && s.y < high[1] && s.z >= low[2] && s.z < high[2];
}

}  // namespace

// Bounds within which a parcel surely is its rank's, without the exact test of its cell.
InteriorBounds interior_bounds(const Decomposition& decomposition, int rank) {
  InteriorBounds sure;
  const Decomposition::Block block = decomposition.block(rank);
  for (std::size_t a = 0; a < 3; ++a) {
    const double margin = 1e-9 * decomposition.grid().box.extent[a];
    sure.low[a] = block.lower[a] + margin;
    sure.high[a] = block.upper[a] - margin;
    if (decomposition.shape()[a] > 1) continue;
    sure.low[a] = a == 2 ? std::numeric_limits<double>::lowest() : block.lower[a];
    if (a == 2) sure.high[a] = std::numeric_limits<double>::max();
  }
  return sure;
}

Migration::Migration(comm::Transport& transport, const Decomposition& decomposition)
    : decomposition_(decomposition), rank_(transport.rank()) {
  if (transport.size() != decomposition.ranks())
    throw UsageError("migration over a decomposition for " + std::to_string(decomposition.ranks()) +
                     " ranks on a transport of " + std::to_string(transport.size()) + "; they must be equal");
  inside_ = interior_bounds(decomposition, rank_);
  neighbours_ = decomposition.neighbours(rank_);
  mailbox_ = transport.mailbox(comm::Graph::symmetric(neighbours_));
}

/// Returns the arc of the migration mailbox to the owner of parcel i; the number of arcs if this rank owns it. @throws InputError,
/// naming the id, for a position that is not finite or of a rank that is no neighbour
std::size_t Migration::arc_to(const Parcels& parcels, std::size_t i) const {
  const Site& s = parcels.site(i);
  const auto who = [&] {
    return "parcel " + std::to_string(parcels.id(i)) + " has moved to (" + std::to_string(s.x) + ", " +
           std::to_string(s.y) + ", " + std::to_string(s.z) + ")";
  };
  if (!std::isfinite(s.x) || !std::isfinite(s.y) || !std::isfinite(s.z))
    throw InputError(who() + "; allowed: finite positions");
  const int owner = decomposition_.owner({s.x, s.y, s.z});
  if (owner == rank_) return neighbours_.size();
  const auto found = std::lower_bound(neighbours_.begin(), neighbours_.end(), owner);
  if (found == neighbours_.end() || *found != owner)
    throw InputError(who() + ", a place of rank " + std::to_string(owner) +
                     "; allowed: blocks that touch this rank's, in one stage");
  return static_cast<std::size_t>(found - neighbours_.begin());
}

/// Wraps parcel i, which may have left, into the periodic box, and appends it to the migration message for its owner if that is
/// another rank.
void Migration::send_if_left(Parcels& parcels, std::size_t i) {
  const Box& box = decomposition_.grid().box;
  Site& s = parcels.site(i);
  if (std::isfinite(s.x)) s.x = box.wrap(0, s.x);
  if (std::isfinite(s.y)) s.y = box.wrap(1, s.y);
  const std::size_t arc = arc_to(parcels, i);
  if (arc == neighbours_.size()) return;
  append_parcel(mailbox_->outbox(arc), parcels, i);
  holes_.push_back(i);
}

// Migration of parcels between blocks after a time step: all parcels are tested.
std::int64_t Migration::send(Parcels& parcels) {
  holes_.clear();
  const Site* const sites = parcels.sites();
  for (std::size_t i = 0; i < parcels.size(); ++i)
    if (!is_in_interior(inside_, sites[i])) send_if_left(parcels, i);
  return exchange(parcels);
}

// Migration of parcels between blocks after a stage: only those that may have left are tested.
std::int64_t Migration::send(Parcels& parcels, std::span<const std::uint32_t> candidates) {
  holes_.clear();
  candidates_.assign(candidates.begin(), candidates.end());
  std::sort(candidates_.begin(), candidates_.end());
  for (const std::uint32_t i : candidates_)
    if (!is_in_interior(inside_, parcels.site(i))) send_if_left(parcels, i);
  return exchange(parcels);
}

/// Closes the holes of parcels that migrate to other ranks, and exchanges migrating parcels with the neighbours. Called by every
/// rank. @return number of parcels sent
std::int64_t Migration::exchange(Parcels& parcels) {
  // The last parcels fill the holes, from the highest hole down, so that no parcel is moved into a hole that is still open.
  for (auto hole = holes_.rbegin(); hole != holes_.rend(); ++hole) {
    const std::size_t last = parcels.size() - 1;
    if (*hole != last) {
      parcels.site(*hole) = parcels.site(last);
      std::copy_n(parcels.row(last), parcels.schema().width(), parcels.row(*hole));
    }
    parcels.resize(last);
  }
  if (neighbours_.empty()) return 0;
  mailbox_->step();
  for (std::size_t arc = 0; arc < neighbours_.size(); ++arc) append_parcels(mailbox_->inbox(arc), parcels);
  return static_cast<std::int64_t>(holes_.size());
}

}  // namespace merganser::flow
