#pragma once
/// Multi-node Boruvka: updates of components that are exchanged between ranks: new names after a contraction, new owners before a
/// migration, and whole components that migrate.
#include <vector>

#include "src/mnd/exchange.hpp"
#include "src/mnd/part.hpp"

namespace merganser::mnd::detail {

/// Component of this rank that is a ghost on another rank, because an edge joins it to a component there. find_shared_components()
/// lists them.
struct SharedComponent {
  int rank;                 ///< rank that has the component as a ghost
  std::uint32_t component;  ///< number of the component on this rank
};
/// Returns the components of this rank that are ghosts on other ranks, once for each such rank, by scanning its edges. Local.
[[nodiscard]] std::vector<SharedComponent> find_shared_components(const Part& part);

/// Snapshot of a rank's components before a local contraction, by which exchange_names() finds the ghosts on other ranks to rename.
struct NamesBefore {
  std::vector<SharedComponent> known;  ///< components that are ghosts on other ranks
  std::vector<std::uint64_t> names;    ///< names of this rank's components, by their old numbers
};
/// Sends the new names of this rank's contracted components to the ranks that have them as ghosts, and merges this rank's ghosts
/// that their owners have contracted. Collective. @param ranks  number of ranks
/// @throws CommError for a name that is no ghost of its sender
void exchange_names(Part& part, const NamesBefore& before, const Contraction& contraction, RecordExchange& exchange,
                    int ranks);

/// Ranks that will own this rank's components and ghosts after the next migration. exchange_owners() fills it.
struct FutureOwners {
  std::vector<int> own;     ///< by component of this rank: its future owner
  std::vector<int> ghosts;  ///< by ghost, from 0: its future owner
};
/// Exchanges the future owners of components: this rank sends those of its components that will move to the ranks that have them as
/// ghosts. Collective.
/// @param own  future owner of every component of this rank
[[nodiscard]] FutureOwners exchange_owners(const Part& part, std::vector<int> own, RecordExchange& exchange, int ranks);
/// Ranks that migrate components to and from this rank: neighbours in the ring of active ranks, or leader and members of a group.
struct MigrationRoute {
  int receiver;              ///< rank that this rank sends components to; itself: none
  std::vector<int> senders;  ///< ranks that may send components to this rank
};
/// Migrates components with all their edges to their new owners. Collective. All ranks that hold a component, or have it as a
/// ghost, must give the same new owner; components that leave a rank all go to route.receiver.
void migrate_components(Part& part, const FutureOwners& owners, const MigrationRoute& route, RecordExchange& exchange,
                        int ranks);

}  // namespace merganser::mnd::detail
