#pragma once
/// Units of one rank in a step under a merge policy: the parcels of a round, and what they hold of those before the step.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "merganser/links/links.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/cluster/policy_arithmetic.hpp"

namespace merganser::cluster {

/// Units of one rank, by index; a unit is a parcel of the step's rounds, with the id of its centre. Units that have merged into
/// others or left the rank keep their index until compact(), so that what refers to units stays valid over rounds.
struct Units {
  /// State of a unit that few units have, by its id.
  struct Extra {
    std::vector<std::int64_t> refused;  ///< ids of units that may not be its partners in this step
    std::vector<std::int64_t> parts;    ///< ids of its members, where the step reports lineage; empty: itself
    std::vector<std::byte> originals;   ///< its two members as before the step, if it can be undone
  };
  /// Bits of `flags`: found no partner since it was last a centre; looks in the next round; its place has changed in this round.
  enum Flag : std::uint8_t { kPassedOver = 1, kAgain = 2, kMoved = 4 };

  /// Makes an empty set of units with the attributes of a schema. @param two  whether units carry energies and lowest ids
  Units(const Schema& schema, bool two) : parcels(schema), with_two(two) {}

  Parcels parcels;                    ///< positions, volumes, attributes
  bool with_two;                      ///< Conserve::momentum_energy: energy and low are kept
  std::vector<std::int64_t> members;  ///< number of parcels before the step that the unit holds
  std::vector<std::uint8_t> flags;    ///< Flag
  std::vector<std::uint8_t> gone;     ///< 1 for a unit that is no longer on this rank
  std::vector<std::uint32_t>
      changed;  ///< units gone or new, or with another place, weight or row, since the last search or removal
  std::vector<double> energy;                     ///< mean kinetic energy per weight
  std::vector<std::array<std::int64_t, 2>> low;   ///< the two lowest ids of its members, ascending
  std::unordered_map<std::int64_t, Extra> extra;  ///< by id of the unit

  /// Returns the number of units, those gone included.
  [[nodiscard]] std::size_t size() const { return parcels.size(); }
  /// Returns the state of a unit that few have, null if it has none.
  [[nodiscard]] const Extra* find_extra(std::int64_t id) const {
    const auto at = extra.find(id);
    return at == extra.end() ? nullptr : &at->second;
  }
  /// Returns the ids that may not be partners of a unit.
  [[nodiscard]] std::span<const std::int64_t> refused(std::int64_t id) const {
    const Extra* const e = find_extra(id);
    return e == nullptr ? std::span<const std::int64_t>() : std::span(e->refused);
  }
  /// Returns how many parcels a unit leaves in its cell.
  [[nodiscard]] std::int64_t count_of(std::size_t i) const { return with_two && members[i] > 1 ? 2 : 1; }

  /// Replaces the units by the parcels of a rank, each a unit of its own; `from` is left empty.
  void assign(Parcels& from, const MergePolicy& policy, const PolicyColumns& columns);
  /// Appends unit i with its state to a message.
  void append_to(std::vector<std::byte>& message, std::size_t i) const;
  /// Appends the units of a message of another rank. @throws CommError if it is malformed
  void append_from(std::span<const std::byte> message);
  /// Marks a unit as gone, and removes what few units have of it.
  void set_gone(std::size_t i) {
    gone[i] = 1;
    changed.push_back(static_cast<std::uint32_t>(i));
    if (!extra.empty()) extra.erase(parcels.id(i));
  }
  /// Removes the units that are gone, keeping the order of the others, and renumbers `changed`.
  void compact();
};

}  // namespace merganser::cluster
