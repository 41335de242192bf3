#pragma once
/// What a simulated MPI (SimGrid's SMPI, base/simulated.hpp) needs of us: waits that block, because polling moves no simulated
/// time and costs an event each, and forms of what it does not have. Defined in src/comm/simulated/, in such builds alone.
///
/// All ranks are played by one thread of one process, in contexts of their own that change hands inside calls of the simulator
/// only. So ranks see each other's memory, need no lock, and share every variable that belongs to none of them.
#include "merganser/base/simulated.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::comm::detail {

/// Rank and number of the ranks, as MPI says, which it starts: the environment is the same for all.
[[nodiscard]] World simulated_world();

/// Waits until another rank has rung for this one since the last such wait.
void wait_for_bell();
void wait_for_bell(int world_rank);  // of this rank, if it is known
/// Rings for a rank of the world, which has called simulated_world(): something has landed in its memory. Timers may ring, too.
void ring_bell(int world_rank);

}  // namespace merganser::comm::detail
