#pragma once
/// Multi-node Boruvka: updates of components that are exchanged between ranks: new names, new owners, and whole components.
#include <vector>

#include "src/mnd/exchange.hpp"
#include "src/mnd/part.hpp"

namespace merganser::mnd::detail {

/// An own component that is a ghost on another rank, because an edge joins it to a component there.
struct Known {
  int rank;
  std::uint32_t component;
};
/// Returns the own components that are ghosts elsewhere, once for each such rank. Local.
[[nodiscard]] std::vector<Known> find_shared_components(const Part& part);

/// Names of a rank's components before a contraction.
struct Before {
  std::vector<Known> known;          ///< find_shared_components()
  std::vector<std::uint64_t> names;  ///< of own components
};
/// Sends the new names of contracted components to the ranks that have them as ghosts, and merges the ghosts that were contracted
/// there. Collective.
void exchange_names(Part& part, const Before& before, const Contraction& contraction, RecordExchange& exchange,
                    int ranks);

/// Future owners of this rank's components and ghosts.
struct Owners {
  std::vector<int> own;
  std::vector<int> ghosts;
};
/// Exchanges future owners: sends those of own components that move to the ranks that have them as ghosts. Collective.
/// @param own  future owner of every own component
[[nodiscard]] Owners exchange_owners(const Part& part, std::vector<int> own, RecordExchange& exchange, int ranks);
/// Ring neighbour or leader that a rank sends components to, and ranks that may send to it.
struct Route {
  int receiver;
  std::vector<int> senders;
};
/// Moves components with all their edges to their new owners. Collective. All ranks that hold a component, or have it as a ghost,
/// must give the same new owner; components that leave a rank all go to route.receiver.
void migrate_components(Part& part, const Owners& owners, const Route& route, RecordExchange& exchange, int ranks);

}  // namespace merganser::mnd::detail
