#pragma once
/// Messages along the arcs of a graph between simulated ranks, carried by timers (network.hpp) instead of SMPI.
#include <mpi.h>

#include <memory>

#include "src/comm/detail/link.hpp"

namespace merganser::comm::detail {

/// The costs are those of SMPI: each 64 KiB of a message are a message of their own there, of which one begins when the one before
/// has come. Who receives waits for no message that was sent earlier by another rank, as in SMPI.
/// @param tag  the same at both ends, and no other link's in this simulation
[[nodiscard]] std::unique_ptr<Link> timed_link(MPI_Comm comm, int tag, const Graph& graph);

}  // namespace merganser::comm::detail
