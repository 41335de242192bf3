// Ranks of a simulated MPI_COMM_WORLD, and notifications between them.
#include <mpi.h>

#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/simulated/events.hpp"

namespace merganser::comm::detail {
namespace {

/// State of the notifications of a simulated rank, by which wait_for_notification() and notify_rank() meet.
struct NotificationState {
  bool rung = false;        // notify_rank() was called since the rank's last wait
  bool waited_for = false;  // the rank is blocked in wait_for_notification()
};

/// Returns the notification states of all simulated ranks, by rank of the world: any rank may notify any other one, and
/// so may the simulator.
std::vector<NotificationState>& notification_states() {
  static std::vector<NotificationState> all;
  return all;
}

}  // namespace

// Rank of the calling coroutine in the simulated MPI_COMM_WORLD; the first call makes the notification states of all ranks.
World simulated_world() {
  int started = 0;
  check(MPI_Initialized(&started), "MPI_Initialized");
  if (started == 0) check(MPI_Init(nullptr, nullptr), "MPI_Init");
  World world;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &world.size), "MPI_Comm_size");
  if (notification_states().empty()) notification_states().resize(static_cast<std::size_t>(world.size));
  return world;
}

void wait_for_notification() { wait_for_notification(simulated_world().rank); }

// Waits of a simulated rank end at once if it was notified since the last one.
void wait_for_notification(int world_rank) {
  NotificationState& state = notification_states()[static_cast<std::size_t>(world_rank)];
  if (!state.rung) {
    state.waited_for = true;
    Events::get().block(world_rank);
    state.waited_for = false;
  }
  state.rung = false;
}

void notify_rank(int world_rank) {
  NotificationState& state = notification_states()[static_cast<std::size_t>(world_rank)];
  if (state.rung) return;
  state.rung = true;
  if (state.waited_for) Events::get().wake(world_rank);
}

}  // namespace merganser::comm::detail
