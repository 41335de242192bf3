#include "src/cluster/redistribute.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "merganser/parcels/limits.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/distinct_ids.hpp"

namespace merganser {
namespace cluster {
namespace {

/// Validates the volume of parcel i. @throws InputError naming the parcel if its volume is out of bounds
void check_volume(const Parcels& parcels, std::size_t i) {
  const double volume = parcels.site(i).volume;
  if (!is_volume(volume)) throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": " + volume_error(volume));
}

/// Serialized parcel on its way through a FarComponent, to be forwarded to member `to`.
struct ParcelInTransit {
  int to;
  std::vector<std::byte> parcel;
};

/// Removes parcels from the container and returns them serialized: those whose owner is no candidate of this rank and
/// can be reached through the component, because the owner is a member or a candidate of a member.
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

/// Redistribution around a large hole: sends parcels hop by hop to the members of the component that are their owners,
/// or that have the owners as candidates. Called by every member.
/// @return number of parcels sent from this rank, less the number of parcels that arrived here and will be sent once
/// more
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

// Validation of a parcel's position before its owner is computed: a coordinate on a periodic axis is wrapped, one
// beyond a wall clamped or refused.
void wrap_into_box(const Box& box, const Parcels& parcels, std::size_t i, Site& s, Walls walls) {
  const Vec3 given{s.x, s.y, s.z};
  double* const x[3] = {&s.x, &s.y, &s.z};
  for (int a = 0; a < 3; ++a) {
    if (!std::isfinite(given[a]))
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": coordinate " + "xyz"[a] + " is " +
                       number_text(given[a]) + "; must be finite");
    if (box.periodic[a]) {
      *x[a] = box.wrap(a, given[a]);
      continue;
    }
    const double inside = std::clamp(given[a], box.lower[a], box.lower[a] + box.extent[a]);
    if (walls == Walls::refuse && std::fabs(given[a] - inside) > rounding_bound(box, a))
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + " at " + point_text(given) +
                       " is outside of a wall of the box " + box_text(box) +
                       "; allowed: positions between the walls; periodic axes are wrapped");
    *x[a] = inside;
  }
}

// Compaction of the container after parcels have been sent to their owners.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  const std::size_t row_bytes = parcels.schema().width() * sizeof(double);
  std::size_t j = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    if (i != j) {
      parcels.site(j) = parcels.site(i);
      std::memcpy(parcels.row(j), parcels.row(i), row_bytes);
    }
    ++j;
  }
  parcels.resize(j);
}

void check_ranks(const Decomposition& decomposition, const comm::Transport& transport) {
  if (transport.size() == decomposition.ranks()) return;
  throw UsageError("decomposition for " + std::to_string(decomposition.ranks()) + " ranks on a transport of " +
                   std::to_string(transport.size()) + "; they must be equal");
}

// Arguments of a collective constructor that all ranks must pass alike, as text for the comparison.
std::vector<comm::UniformValue> uniform_values(const Schema& schema, const Decomposition& decomposition) {
  std::string attributes;
  for (const Attribute& a : schema.attributes())
    attributes += " " + a.name + ":" + std::to_string(a.components) + ":" + std::to_string(static_cast<int>(a.rule));
  std::vector<comm::UniformValue> uniform{{"the list of attributes", "'" + attributes + "'"}};
  for (auto& where : uniform_values(decomposition)) uniform.push_back(std::move(where));
  return uniform;
}

std::vector<comm::UniformValue> uniform_values(const Decomposition& decomposition) {
  const Grid& grid = decomposition.grid();
  std::string box;
  for (int a = 0; a < 3; ++a) {
    box += std::to_string(grid.cells[a]) + " cells from " + number_text(grid.box.lower[a]) + " over " +
           number_text(grid.box.extent[a]) + (grid.box.periodic[a] ? ", periodic; " : ", walls; ");
  }
  return {{"the grid", "'" + box + "'"}, {"the decomposition", decomposition.identity()}};
}

// Input check of the decorator `checked` before a merge step: volumes in bounds, every parcel on its owner.
void check_parcels(const Parcels& parcels, const Decomposition& decomposition, int rank) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    const Vec3 p{s.x, s.y, s.z};
    check_volume(parcels, i);
    // A position outside of the box has no owner.
    const int owner = decomposition.grid().box.contains(p) ? decomposition.owner(p) : -1;
    if (owner != rank)
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + " at " + point_text(p) + " is on rank " +
                       std::to_string(rank) + ", but " +
                       (owner < 0 ? "not inside the box" : "belongs to rank " + std::to_string(owner)) +
                       "; send parcels to their owners (redistribute, distribute) before a step");
  }
}

// Input check of the decorator `checked` before a star search: every point within the block of its rank.
void check_points(const nearest::PointSet& points, const Decomposition& decomposition, int rank) {
  const auto block = decomposition.block(rank);
  const Box& box = decomposition.grid().box;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Site s = points.site(i);
    const Vec3 p{s.x, s.y, s.z};
    bool inside = true;
    for (int a = 0; a < 3; ++a)
      inside =
          inside && p[a] >= block.lower[a] - rounding_bound(box, a) && p[a] <= block.upper[a] + rounding_bound(box, a);
    if (!inside) throw Indexed<InputError>(points.describe_outside(i, block.lower, block.upper, box));
  }
}

// Redistribution between merge steps: parcels that a merge has moved out of this rank's block go to their owners in one
// wave, through the component first where owners may be no candidates.
Redistributed redistribute(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox,
                           FarComponent* around) {
  const Box& box = decomposition.grid().box;
  const auto& neighbours = mailbox.graph().out;
  Redistributed count;
  if (around != nullptr) count.sent = send_to_members(parcels, decomposition, rank, mailbox, *around);
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  bool any = false;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    wrap_into_box(box, parcels, i, s, Walls::clamp);
    const int owner = decomposition.owner({s.x, s.y, s.z});
    if (owner == rank) continue;
    auto at = std::lower_bound(neighbours.begin(), neighbours.end(), owner);
    if (at == neighbours.end() || *at != owner) {
      ++count.in_transit;
      at = std::lower_bound(neighbours.begin(), neighbours.end(), decomposition.next_hop(rank, owner));
    }
    append_parcel(mailbox.outbox(static_cast<std::size_t>(at - neighbours.begin())), s, parcels.row(i),
                  parcels.schema().width());
    gone[i] = 1;
    any = true;
    ++count.sent;
  }
  if (any) remove_parcels(parcels, gone);
  if (neighbours.empty()) return count;
  mailbox.step();
  for (std::size_t arc = 0; arc < neighbours.size(); ++arc) append_parcels(mailbox.inbox(arc), parcels);
  return count;
}

}  // namespace cluster

// Initial distribution: parcels on any rank go to their owners by one collective exchange, after all ranks have
// validated theirs.
void distribute(Parcels& parcels, const Decomposition& decomposition, comm::Transport& transport) {
  comm::agree(transport, [&] { cluster::check_ranks(decomposition, transport); });
  comm::check_uniform_across_ranks(transport, "distribute", cluster::uniform_values(parcels.schema(), decomposition));
  cluster::check_distinct_over_ranks("parcel id", nearest::PointSet(parcels, 0).ids(nullptr), parcels.size(),
                                     transport);
  const Box& box = decomposition.grid().box;
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  comm::agree(transport, [&] {
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      Site& s = parcels.site(i);
      cluster::check_volume(parcels, i);
      cluster::wrap_into_box(box, parcels, i, s, cluster::Walls::refuse);
      const int owner = decomposition.owner({s.x, s.y, s.z});
      if (owner == transport.rank()) continue;
      append_parcel(to[static_cast<std::size_t>(owner)], s, parcels.row(i), parcels.schema().width());
      gone[i] = 1;
    }
  });
  cluster::remove_parcels(parcels, gone);
  for (const auto message : comm::all_to_all(transport, std::move(to))) append_parcels(message, parcels);
}

}  // namespace merganser
