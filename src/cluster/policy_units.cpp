// Units of one rank in a step under a merge policy, and their messages.
#include "src/cluster/policy_units.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "merganser/base/error.hpp"
#include "src/cluster/remove_parcels.hpp"

namespace merganser::cluster {
namespace {

/// Part of fixed length of a unit's state in a message; after it come ids and bytes of the lengths that it holds.
struct StateHeader {
  std::int64_t members;
  double energy;
  std::array<std::int64_t, 2> low;
  std::uint32_t flags;
  std::uint32_t refused;
  std::uint32_t parts;
  std::uint32_t originals;
};

/// Appends objects to a message as bytes.
template <class T>
void append(std::vector<std::byte>& message, const T* from, std::size_t count) {
  const auto bytes = std::as_bytes(std::span(from, count));
  message.insert(message.end(), bytes.begin(), bytes.end());
}

/// Takes `count` objects from the front of a message. @throws CommError if it is too short
template <class T>
void take(std::span<const std::byte>& message, T* to, std::size_t count) {
  const std::size_t bytes = count * sizeof(T);
  if (message.size() < bytes)
    throw CommError("a message of units ends " + std::to_string(bytes - message.size()) + " bytes early");
  if (bytes > 0) std::memcpy(to, message.data(), bytes);
  message = message.subspan(bytes);
}

/// Removes the entries of an array whose flag is set.
template <class T>
void remove_entries(std::vector<T>& values, const std::vector<std::uint8_t>& gone) {
  if (values.empty()) return;
  T* const to = values.data();
  const std::uint8_t* const is_gone = gone.data();
  const std::size_t n = gone.size();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {  // which are gone is as good as random, so no branch tells
    to[kept] = to[i];
    kept += is_gone[i] == 0;
  }
  values.resize(kept);
}

}  // namespace

void Units::assign(Parcels& from, const MergePolicy& policy, const PolicyColumns& columns) {
  parcels = std::move(from);
  from = Parcels(parcels.schema());
  const std::size_t n = parcels.size();
  members.assign(n, 1);
  flags.assign(n, 0);
  gone.assign(n, 0);
  changed.clear();
  energy.clear();
  low.clear();
  extra.clear();
  if (!with_two) return;
  for (std::size_t i = 0; i < n; ++i) {
    energy.push_back(kinetic_energy(policy, columns, parcels.row(i)));
    low.push_back({parcels.id(i), std::numeric_limits<std::int64_t>::max()});
  }
}

void Units::append_to(std::vector<std::byte>& message, std::size_t i) const {
  static const Extra none;
  const Extra* const found = extra.empty() ? nullptr : find_extra(parcels.id(i));
  const Extra& e = found == nullptr ? none : *found;
  StateHeader h{members[i],
                0,
                {},
                flags[i],
                static_cast<std::uint32_t>(e.refused.size()),
                static_cast<std::uint32_t>(e.parts.size()),
                static_cast<std::uint32_t>(e.originals.size())};
  if (with_two) h.energy = energy[i], h.low = low[i];
  append(message, &parcels.site(i), 1);
  append(message, parcels.row(i), parcels.schema().width());
  append(message, &h, 1);
  append(message, e.refused.data(), e.refused.size());
  append(message, e.parts.data(), e.parts.size());
  append(message, e.originals.data(), e.originals.size());
}

void Units::append_from(std::span<const std::byte> message) {
  std::vector<double> row(parcels.schema().width());
  while (!message.empty()) {
    Site site;
    StateHeader h;
    take(message, &site, 1);
    take(message, row.data(), row.size());
    take(message, &h, 1);
    parcels.append(site, row.data());
    members.push_back(h.members);
    flags.push_back(static_cast<std::uint8_t>(h.flags));
    gone.push_back(0);
    if (with_two) energy.push_back(h.energy), low.push_back(h.low);
    if (h.refused + h.parts + h.originals == 0) continue;
    if (message.size() < (std::size_t{h.refused} + h.parts) * sizeof(std::int64_t) + h.originals)
      throw CommError("a message of units is shorter than the lengths in it");
    Extra& e = extra[parcels.id(parcels.size() - 1)];
    e.refused.resize(h.refused);
    e.parts.resize(h.parts);
    e.originals.resize(h.originals);
    take(message, e.refused.data(), e.refused.size());
    take(message, e.parts.data(), e.parts.size());
    take(message, e.originals.data(), e.originals.size());
  }
}

void Units::compact() {
  std::vector<std::uint32_t> number(gone.size());  // by unit: those before it that stay
  std::uint32_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    number[i] = kept;
    kept += gone[i] == 0;
  }
  std::size_t left = 0;
  for (const std::uint32_t i : changed) {
    changed[left] = number[i];
    left += gone[i] == 0;
  }
  changed.resize(left);
  remove_parcels(parcels, gone);
  remove_entries(members, gone);
  remove_entries(flags, gone);
  remove_entries(energy, gone);
  remove_entries(low, gone);
  gone.assign(parcels.size(), 0);
}

}  // namespace merganser::cluster
