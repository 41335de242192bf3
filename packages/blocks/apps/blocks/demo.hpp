#pragma once
/// Options of `announce demo`, and the two simulations that it runs on every rank.
#include <string>

#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "examples/simulations/droplet.hpp"
#include "examples/simulations/potts.hpp"

namespace merganser::app::demo {

/// Options of the command `announce demo`, for both of its block simulations.
struct DemoOptions {
  std::string what;           ///< simulation to run: droplet or potts
  std::string json, picture;  ///< files of the run record and of the SVG picture; empty: none
  int steps = 400;            ///< number of time steps of the simulation
  bool check = false;         ///< true: compare with a run on all cells, or a recount of all sites, after every step
  int disturb = 0;            ///< step after which a cell is falsified, to test that --check finds it; 0: never
  blocks::BlockDirectory::Owner owner = blocks::BlockDirectory::Owner::least_loaded;
  simulations::DropletModel droplet;
  simulations::PottsModel potts;
  RankOptions ranks;
};

/// Runs the droplet simulation of `announce demo` on blocks; rank 0 prints the results and writes the files asked for. Collective.
void run_droplet(const DemoOptions& o, const Invocation& in, comm::Transport& transport);
/// Runs the cellular Potts simulation of `announce demo` on blocks; rank 0 prints the results and writes the files asked for.
/// Collective.
void run_potts(const DemoOptions& o, const Invocation& in, comm::Transport& transport);

}  // namespace merganser::app::demo
