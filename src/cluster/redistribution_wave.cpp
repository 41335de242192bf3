// One wave of the redistribution between merge steps: parcels go to the ranks that own their positions, or one hop nearer.
#include "src/cluster/redistribution_wave.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/remove_parcels.hpp"
#include "src/cluster/wrap_into_box.hpp"

namespace merganser::cluster {
namespace {

/// Serialised merged parcel that the ranks around a hole forward to member rank `to` of their component.
struct ParcelInTransit {
  int to;
  std::vector<std::byte> parcel;
};

/// Removes from this rank's container, and returns, the merged parcels whose owner is no candidate of this rank, but is another
/// member of the component around the hole, or a candidate of one. Wraps all positions of this rank into the box first.
std::vector<ParcelInTransit> extract_leaving(Parcels& parcels, const Decomposition& d, int rank,
                                             const comm::Mailbox& mailbox, FarComponent& around) {
  const auto& neighbours = mailbox.graph().out;
  std::vector<ParcelInTransit> leaving;
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    wrap_into_box(d.grid().box, parcels, i, s, Walls::clamp);
    const int owner = d.owner({s.x, s.y, s.z});
    if (owner == rank || std::binary_search(neighbours.begin(), neighbours.end(), owner)) continue;
    const int to = around.nearest_candidate_of(owner);
    if (to < 0) continue;
    gone[i] = 1;
    append_parcel(leaving.emplace_back(ParcelInTransit{to, {}}).parcel, parcels, i);
  }
  if (!leaving.empty()) remove_parcels(parcels, gone);
  return leaving;
}

/// Sends merged parcels, hop by hop, to the members of the component around a hole that own them or have their owners as
/// candidates. Called by every member.
/// @return number of parcels sent from this rank, less those that have arrived here and will be sent again
std::int64_t send_to_members(Parcels& parcels, const Decomposition& d, int rank, comm::Mailbox& mailbox,
                             FarComponent& around) {
  std::vector<ParcelInTransit> here = extract_leaving(parcels, d, rank, mailbox, around);
  auto sent = static_cast<std::int64_t>(here.size());
  const std::size_t arcs = mailbox.graph().out.size();
  for (int wave = 1; wave <= around.waves(); ++wave) {
    for (const ParcelInTransit& t : here) {
      const std::size_t arc = around.arc_to(around.next_hop(t.to));
      mailbox.post(arc, std::int32_t{t.to});
      mailbox.post_all(arc, std::span<const std::byte>(t.parcel));
    }
    here.clear();
    around.step(wave);
    for (std::size_t arc = 0; arc < arcs; ++arc) {
      const auto message = mailbox.inbox(arc);
      const std::size_t bytes = sizeof(std::int32_t) + parcels.parcel_bytes();
      if (message.size() % bytes != 0)
        throw CommError("a message of " + std::to_string(message.size()) + " bytes is no number of parcels in transit");
      for (std::size_t at = 0; at < message.size(); at += bytes) {
        std::int32_t to = 0;
        std::memcpy(&to, message.data() + at, sizeof to);
        const auto parcel = message.subspan(at + sizeof to, parcels.parcel_bytes());
        if (to != rank) {
          here.push_back({to, {parcel.begin(), parcel.end()}});
          continue;
        }
        append_parcels(parcel, parcels);
        const Site& s = parcels.site(parcels.size() - 1);
        if (d.owner({s.x, s.y, s.z}) != rank) --sent;
      }
    }
  }
  return sent;
}

}  // namespace

// Redistribution between merge steps: first within the component around a hole, if there is one, then one wave over all arcs.
Redistributed redistribute(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
                           FarComponent* around) {
  const Box& box = decomposition.grid().box;
  const auto& neighbours = mailbox.graph().out;
  Redistributed count;
  if (around != nullptr) count.sent = send_to_members(parcels, decomposition, rank, mailbox, *around);
  std::vector<std::uint8_t> gone;  // empty while all parcels are where they belong
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    if (!is_well_inside(box, s)) wrap_into_box(box, parcels, i, s, Walls::clamp);
    const int owner = decomposition.ranks() == 1 ? 0 : decomposition.owner({s.x, s.y, s.z});
    if (owner == rank) continue;
    gone.resize(parcels.size(), 0);
    auto at = std::lower_bound(neighbours.begin(), neighbours.end(), owner);
    if (at == neighbours.end() || *at != owner) {
      ++count.in_transit;
      at = std::lower_bound(neighbours.begin(), neighbours.end(), decomposition.next_hop(rank, owner));
    }
    append_parcel(mailbox.outbox(static_cast<std::size_t>(at - neighbours.begin())), s, parcels.row(i),
                  parcels.schema().width());
    gone[i] = 1;
    ++count.sent;
  }
  if (!gone.empty()) remove_parcels(parcels, gone);
  if (neighbours.empty()) return count;
  mailbox.step();
  for (std::size_t arc = 0; arc < neighbours.size(); ++arc) append_parcels(mailbox.inbox(arc), parcels);
  return count;
}

}  // namespace merganser::cluster
