#pragma once
/// The models over a simulated MPI (detail/simulated.hpp). Defined in src/comm/simulated/, in such builds alone.
#include <mpi.h>

#include <memory>

#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

/// MpiLink with a receive that is always posted instead of probes.
[[nodiscard]] std::unique_ptr<Link> simulated_link(MPI_Comm comm, int tag, const Graph& graph);

/// The memory of rma: locks by target instead of MPI_Win_lock_all, whose cost there grows with the square of the ranks, and a
/// bell for who waits for what was put. Collective.
[[nodiscard]] std::shared_ptr<Memory> simulated_memory(MPI_Comm comm, std::size_t bytes, Epoch epoch, Counters& counters);

/// The mailbox of neighborhood. SMPI has no neighbourhood collectives, so they are emulated as libraries without hardware for
/// them do it: a message along every arc, all at once, first the sizes and then what the outboxes hold.
[[nodiscard]] std::unique_ptr<Mailbox> simulated_neighborhood(Place place, Graph graph, std::unique_ptr<Link> link,
                                                              MPI_Comm comm, int tag);

}  // namespace merganser::comm::detail
