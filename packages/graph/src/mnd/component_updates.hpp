#pragma once
/// What ranks tell each other about components: new names, new owners, and whole components.
#include <vector>

#include "src/mnd/exchange.hpp"
#include "src/mnd/part.hpp"

namespace merganser::mnd::detail {

/// An own component that another rank knows, because they share an edge.
struct Known {
  int rank;
  std::uint32_t component;
};
/// Every one, once per rank.
[[nodiscard]] std::vector<Known> known_elsewhere(const Part& part);

/// What a rank was before it contracted.
struct Before {
  std::vector<Known> known;
  std::vector<std::uint64_t> names;  ///< of own components
};
/// Tells the others which components have merged, and puts the ghosts together that have merged there. Collective.
void exchange_names(Part& part, const Before& before, const Contraction& contraction, RecordExchange& exchange,
                    int ranks);

/// Owner to be of every component that this rank knows.
struct Owners {
  std::vector<int> own;
  std::vector<int> ghosts;
};
/// Owners to be, where each rank knows them for its own components only: others hear of those that go. Collective.
[[nodiscard]] Owners announce_moves(const Part& part, std::vector<int> own, RecordExchange& exchange, int ranks);
/// Moves components with all their edges. Every rank that knows a component names the same new owner, and a rank's
/// components that go all go to `receiver`; `senders` are the ranks that may send something here. Collective.
struct Route {
  int receiver;
  std::vector<int> senders;
};
void relocate(Part& part, const Owners& owners, const Route& route, RecordExchange& exchange, int ranks);

}  // namespace merganser::mnd::detail
