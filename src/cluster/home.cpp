#include "cluster/home.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser {
namespace cluster {
namespace {

/// Into the box: wrapped on periodic axes, clamped on walls. @throws InputError if it is not finite
void settle(const Box& box, const Parcels& parcels, std::size_t i, Site& s) {
  double* const x[3] = {&s.x, &s.y, &s.z};
  for (int a = 0; a < 3; ++a) {
    if (!std::isfinite(*x[a]))
      throw InputError("parcel id " + std::to_string(parcels.id(i)) + ": coordinate " + "xyz"[a] + " is " +
                       std::to_string(*x[a]) + "; must be finite");
    *x[a] = box.periodic[a] ? box.wrap(a, *x[a]) : std::clamp(*x[a], box.lower[a], box.lower[a] + box.extent[a]);
  }
}

/// Next rank on the way from `rank` to `owner`: one part along every axis that differs, the shorter way round.
int next_hop(const Decomposition& d, int rank, int owner) {
  auto c = d.coordinates(rank);
  const auto o = d.coordinates(owner);
  for (int a = 0; a < 3; ++a) {
    if (c[a] == o[a]) continue;
    const int parts = d.shape()[a];
    int step = o[a] > c[a] ? 1 : -1;
    if (d.grid().box.periodic[a] && 2 * std::abs(o[a] - c[a]) > parts) step = -step;
    c[a] = (c[a] + step + parts) % parts;
  }
  return d.rank_at(c);
}

/// Removes the marked parcels, keeping the order of the others.
void remove(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
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

}  // namespace

void append_parcel(std::vector<std::byte>& message, const Site& site, const double* row, std::size_t width) {
  const std::size_t at = message.size();
  message.resize(at + sizeof site + width * sizeof(double));
  std::memcpy(message.data() + at, &site, sizeof site);
  std::memcpy(message.data() + at + sizeof site, row, width * sizeof(double));
}

void take_parcels(std::span<const std::byte> message, Parcels& parcels) {
  const std::size_t row_bytes = parcels.schema().width() * sizeof(double);
  const std::size_t bytes = sizeof(Site) + row_bytes;
  if (message.size() % bytes != 0)
    throw CommError("a message of " + std::to_string(message.size()) + " bytes is no number of parcels of " +
                    std::to_string(bytes) + " bytes");
  const std::size_t count = message.size() / bytes;
  std::size_t i = parcels.size();
  parcels.resize(i + count);
  for (const std::byte* p = message.data(); p != message.data() + message.size(); p += bytes, ++i) {
    std::memcpy(&parcels.site(i), p, sizeof(Site));
    std::memcpy(parcels.row(i), p + sizeof(Site), row_bytes);
  }
}

Rehomed rehome(Parcels& parcels, const Decomposition& decomposition, int rank, comm::Mailbox& mailbox) {
  const Box& box = decomposition.grid().box;
  const auto& neighbours = mailbox.graph().out;
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  Rehomed count;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    settle(box, parcels, i, s);
    const int owner = decomposition.owner({s.x, s.y, s.z});
    if (owner == rank) continue;
    auto at = std::lower_bound(neighbours.begin(), neighbours.end(), owner);
    if (at == neighbours.end() || *at != owner) {
      ++count.travelling;
      at = std::lower_bound(neighbours.begin(), neighbours.end(), next_hop(decomposition, rank, owner));
    }
    append_parcel(mailbox.outbox(static_cast<std::size_t>(at - neighbours.begin())), s, parcels.row(i),
                  parcels.schema().width());
    gone[i] = 1;
    ++count.sent;
  }
  if (count.sent > 0) remove(parcels, gone);
  if (neighbours.empty()) return count;
  mailbox.step();
  for (std::size_t arc = 0; arc < neighbours.size(); ++arc) take_parcels(mailbox.inbox(arc), parcels);
  return count;
}

}  // namespace cluster

void distribute(Parcels& parcels, const Decomposition& decomposition, comm::Transport& transport) {
  const Box& box = decomposition.grid().box;
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  std::vector<std::uint8_t> gone(parcels.size(), 0);
  comm::agree(transport, [&] {
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      Site& s = parcels.site(i);
      cluster::settle(box, parcels, i, s);
      const int owner = decomposition.owner({s.x, s.y, s.z});
      if (owner == transport.rank()) continue;
      cluster::append_parcel(to[static_cast<std::size_t>(owner)], s, parcels.row(i), parcels.schema().width());
      gone[i] = 1;
    }
  });
  cluster::remove(parcels, gone);
  for (const auto& message : transport.all_to_all(to)) cluster::take_parcels(message, parcels);
}

}  // namespace merganser
