#pragma once
/// Asking a model, before it is used, whether it delivers what is sent: libraries have faults that give wrong bits.
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Whether run_self_test() has passed for this model over so many ranks in this process.
[[nodiscard]] bool self_test_passed(std::string_view model, int ranks);

/// Sends known words over each object, in the shapes that libraries have got wrong: small blocks of differing sizes, and
/// ranks with more arcs in than out. Does nothing on one rank, and nothing if self_test_passed() on every rank. Collective. The
/// transport is to be used for nothing else: what the test counts stays in it.
/// @throws CommError on every rank, naming the model, its library and what came out wrong; where something does not come
///         at all, on the rank that has waited for it for half a minute
/// Cost: some milliseconds, see docs/communication.md.
void run_self_test(TransportBase& transport);

}  // namespace merganser::comm::detail
