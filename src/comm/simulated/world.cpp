#include <mpi.h>
#include <simgrid/semaphore.h>

#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {
namespace {

struct Bell {
  sg_sem_t waits = nullptr;  // made when it is first waited for
  bool rung = false;
  bool waited_for = false;
};

/// By rank of the world; of all ranks, since any may ring any.
std::vector<Bell>& bells() {
  static std::vector<Bell> all(static_cast<std::size_t>(simulated_world().size));
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
  return world;
}

void wait_for_bell() {
  Bell& bell = bells()[static_cast<std::size_t>(simulated_world().rank)];
  if (!bell.rung) {
    if (bell.waits == nullptr) bell.waits = sg_sem_init(0);
    bell.waited_for = true;
    sg_sem_acquire(bell.waits);
    bell.waited_for = false;
  }
  bell.rung = false;
}

void ring_bell(int world_rank) {
  Bell& bell = bells()[static_cast<std::size_t>(world_rank)];
  if (bell.rung) return;
  bell.rung = true;
  if (bell.waited_for) sg_sem_release(bell.waits);
}

}  // namespace merganser::comm::detail
