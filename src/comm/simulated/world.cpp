// Ranks of a simulated MPI_COMM_WORLD, and notifications between them.
#include <mpi.h>

#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/simulated/events.hpp"

namespace merganser::comm::detail {
namespace {

/// State of the notifications of a simulated rank.
struct Bell {
  bool rung = false;        // notified since the last wait
  bool waited_for = false;  // the rank is blocked in a wait
};

/// Returns the notification states of all simulated ranks, by rank of the world: any rank may notify any other one, and
/// so may the simulator.
std::vector<Bell>& bells() {
  static std::vector<Bell> all;
  return all;
}

}  // namespace

World simulated_world() {
  int started = 0;
  check(MPI_Initialized(&started), "MPI_Initialized");
  if (started == 0) check(MPI_Init(nullptr, nullptr), "MPI_Init");
  World world;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &world.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &world.size), "MPI_Comm_size");
  if (bells().empty()) bells().resize(static_cast<std::size_t>(world.size));
  return world;
}

void wait_for_notification() { wait_for_notification(simulated_world().rank); }

void wait_for_notification(int world_rank) {
  Bell& bell = bells()[static_cast<std::size_t>(world_rank)];
  if (!bell.rung) {
    bell.waited_for = true;
    Events::get().block(world_rank);
    bell.waited_for = false;
  }
  bell.rung = false;
}

void notify_rank(int world_rank) {
  Bell& bell = bells()[static_cast<std::size_t>(world_rank)];
  if (bell.rung) return;
  bell.rung = true;
  if (bell.waited_for) Events::get().wake(world_rank);
}

}  // namespace merganser::comm::detail
