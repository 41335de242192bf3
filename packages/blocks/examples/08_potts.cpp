// Cells that grow and move over blocks, their volumes kept equal by exchange between neighbours: ./08_potts 4, or
// mpirun -n 4 ./08_potts.
#include <cstdio>

#include "simulations/potts.hpp"
#include "start.hpp"

using namespace merganser;

// Program of the example on each rank: cellular Potts model on blocks, whose cells are kept by local exchange.
void run_potts(comm::Transport& transport) {
  simulations::PottsModel model;
  model.blocks = {4, 2};
  const simulations::Plane plane = model.plane();
  simulations::Potts potts(transport, model,
                           blocks::contiguous_placement(plane.grid, transport.rank(), transport.size()));
  const auto before = transport.counters();
  for (int step = 0; step < 20; ++step) potts.step();
  const auto collectives = (transport.counters() - before).collectives;
  const auto changed = transport.all_reduce(potts.flips(), comm::Op::sum);
  const std::string difference = simulations::first_difference(transport, potts, plane);
  const std::string digest = simulations::format_digest(transport, potts.digest());
  if (transport.rank() != 0) return;
  std::printf("%ld cells, %ld changes of sites\n", static_cast<long>(model.cells()), static_cast<long>(changed));
  std::printf("compared with a recount of all sites: %s\n", difference.empty() ? "equal" : difference.c_str());
  std::printf("collectives in the loop: %ld\ndigest %s\n", static_cast<long>(collectives), digest.c_str());
}

int main(int argc, char** argv) { return start(argc, argv, run_potts); }
