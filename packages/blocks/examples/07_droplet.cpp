// Blocks that are created and removed as an interface moves, without a collective call in the time loop: ./07_droplet 4, or
// mpirun -n 4 ./07_droplet.
#include <cstdio>

#include "simulations/droplet.hpp"
#include "start.hpp"

using namespace merganser;

// Program of the example on each rank: droplets on blocks, and their comparison with all cells.
void run_droplet(comm::Transport& transport) {
  simulations::DropletModel model;
  model.blocks = {8, 6};
  model.edge = 12;
  model.radius = 14;
  simulations::Droplet droplet(transport, model, blocks::BlockDirectory::Owner::least_loaded);
  simulations::WholeDroplet whole(model);  // all cells on every rank: the reference for the blocks
  const auto before = transport.counters();
  for (int step = 0; step < 60; ++step) droplet.step();  // exchanges with neighbouring blocks, announces blocks
  const auto collectives = (transport.counters() - before).collectives;
  for (int step = 0; step < 60; ++step) whole.step();
  const std::string difference = simulations::first_difference(transport, droplet, model.plane(), whole);
  const std::string digest = simulations::format_digest(transport, droplet.digest());
  if (transport.rank() != 0) return;
  const auto& directory = droplet.directory();
  std::printf("blocks were created: %s, removed: %s; there are less than in the plane: %s\n",
              directory.counts().created > 0 ? "yes" : "no", directory.counts().removed > 0 ? "yes" : "no",
              directory.all_blocks().size() < 48 ? "yes" : "no");
  std::printf("compared with a run on all cells: %s\n", difference.empty() ? "equal" : difference.c_str());
  std::printf("collectives in the loop: %ld\ndigest %s\n", static_cast<long>(collectives), digest.c_str());
}

int main(int argc, char** argv) { return start(argc, argv, run_droplet); }
