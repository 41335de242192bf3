#pragma once
/// Support for a simulated MPI (SimGrid's SMPI, base/simulated.hpp): blocking waits, because polling does not advance simulated
/// time and costs an event each, and substitutes for calls that it lacks. Defined in src/comm/simulated/, in such builds only.
///
/// One thread of one process runs all ranks, as coroutines that switch inside calls of the simulator only. So ranks can access
/// each other's memory, need no lock, and share every global variable.
#include "merganser/base/simulated.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::comm::detail {

/// Returns rank and size of this simulated rank in the simulated MPI_COMM_WORLD, and initialises MPI for that, because the
/// environment is the same for all simulated ranks. Local.
[[nodiscard]] World simulated_world();

/// Blocks this simulated rank until notify_rank() was called for it since the last such wait.
void wait_for_notification();
/// Blocks this simulated rank, whose number in the world is `world_rank`, until notify_rank() was called for it since the last such
/// wait.
void wait_for_notification(int world_rank);
/// Ends the present or next wait_for_notification() of a simulated rank, which must have called simulated_world(), after data were
/// written to its memory. Local; timers of the simulator may call it, too.
void notify_rank(int world_rank);

}  // namespace merganser::comm::detail
