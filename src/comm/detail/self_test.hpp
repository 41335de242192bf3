#pragma once
/// Asking a model, before it is used, whether it delivers what is sent: libraries have faults that give wrong bits.
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Whether prove() has found this model good over so many ranks, in this process.
[[nodiscard]] bool proven(std::string_view model, int ranks);

/// Sends known words over each object, in the shapes that libraries have got wrong: small blocks of differing sizes, and
/// ranks with more arcs in than out. Only if some rank has not proven() the model over so many ranks; one rank alone has
/// nothing to prove. Collective. The transport is to be used for nothing else: what the test counts stays in it.
/// @throws CommError on every rank, naming the model, its library and what came out wrong; where something does not come
///         at all, on the rank that has waited for it for half a minute
/// Cost: some milliseconds, see docs/communication.md.
void prove(TransportBase& transport);

}  // namespace merganser::comm::detail
