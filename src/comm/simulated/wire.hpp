#pragma once
/// Link between simulated ranks whose messages are timers of the simulator (network.hpp) instead of messages of SMPI.
#include <mpi.h>

#include <memory>

#include "src/comm/detail/link.hpp"

namespace merganser::comm::detail {

/// Makes a Link of a simulated rank along its arcs of a process graph, with the costs of SMPI: each 64 KiB of a message are a
/// message of their own, which starts when the one before has arrived. Messages of different senders are received in the order of
/// arrival. Local.
/// @param tag  the same at both ends, and different from that of every other link in this simulation
[[nodiscard]] std::unique_ptr<Link> timed_link(MPI_Comm comm, int tag, const Graph& graph);

}  // namespace merganser::comm::detail
