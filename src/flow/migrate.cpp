#include "merganser/flow/migrate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::flow {

Migration::Migration(comm::Transport& transport, const Decomposition& decomposition)
    : decomposition_(decomposition), rank_(transport.rank()), neighbours_() {
  if (transport.size() != decomposition.ranks())
    throw UsageError("migration over a decomposition for " + std::to_string(decomposition.ranks()) +
                     " ranks on a transport of " + std::to_string(transport.size()) + "; they must be equal");
  neighbours_ = decomposition.neighbours(rank_);
  const Decomposition::Block block = decomposition.block(rank_);
  for (std::size_t a = 0; a < 3; ++a) {
    const double margin = 1e-9 * decomposition.grid().box.extent[a];
    low_[a] = block.lower[a] + margin;
    high_[a] = block.upper[a] - margin;
    if (decomposition.shape()[a] > 1) continue;
    low_[a] = a == 2 ? std::numeric_limits<double>::lowest() : block.lower[a];
    if (a == 2) high_[a] = std::numeric_limits<double>::max();
  }
  mailbox_ = transport.mailbox(comm::Graph::symmetric(neighbours_));
}

bool Migration::surely_here(const Site& s) const noexcept {
  // No branches: nearly all are.
  const int x = static_cast<int>(s.x >= low_[0]) & static_cast<int>(s.x < high_[0]);
  const int y = static_cast<int>(s.y >= low_[1]) & static_cast<int>(s.y < high_[1]);
  const int z = static_cast<int>(s.z >= low_[2]) & static_cast<int>(s.z < high_[2]);
  return (x & y & z) != 0;
}

/// The arc that leads to the owner of parcel i; the number of arcs if that is this rank.
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

/// The first parcel from i on that is not surely here.
std::size_t Migration::next_away(const Parcels& parcels, std::size_t i) const noexcept {
  constexpr std::size_t kGroup = 8;
  const Site* const sites = parcels.sites();
  for (; i + kGroup <= parcels.size(); i += kGroup) {
    bool here = true;
    for (std::size_t k = i; k < i + kGroup; ++k) here &= surely_here(sites[k]);
    if (!here) break;
  }
  while (i < parcels.size() && surely_here(sites[i])) ++i;
  return i;
}

std::int64_t Migration::send(Parcels& parcels) {
  const Box& box = decomposition_.grid().box;
  holes_.clear();
  for (std::size_t i = next_away(parcels, 0); i < parcels.size(); i = next_away(parcels, i + 1)) {
    Site& s = parcels.site(i);
    if (std::isfinite(s.x)) s.x = box.wrap(0, s.x);
    if (std::isfinite(s.y)) s.y = box.wrap(1, s.y);
    const std::size_t arc = arc_to(parcels, i);
    if (arc == neighbours_.size()) continue;
    append_parcel(mailbox_->outbox(arc), parcels, i);
    holes_.push_back(i);
  }
  // The last parcels fill the holes.
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
  for (std::size_t arc = 0; arc < neighbours_.size(); ++arc) take_parcels(mailbox_->inbox(arc), parcels);
  return static_cast<std::int64_t>(holes_.size());
}

}  // namespace merganser::flow
