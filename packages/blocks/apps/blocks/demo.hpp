#pragma once
/// Options of `announce demo`, and the two simulations that it runs on every rank.
#include <string>

#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "examples/simulations/droplet.hpp"
#include "examples/simulations/potts.hpp"

namespace merganser::app::demo {

/// Values of the command line.
struct DemoOptions {
  std::string what;
  std::string json, picture;
  int steps = 400;
  bool check = false;
  int disturb = 0;  ///< step after which a cell is falsified, to test that --check finds it; 0: never
  blocks::BlockDirectory::Owner owner = blocks::BlockDirectory::Owner::least_loaded;
  simulations::DropletModel droplet;
  simulations::PottsModel potts;
  RankOptions ranks;
};

/// Runs the droplet simulation; rank 0 prints the results and writes the files asked for. Collective.
void run_droplet(const DemoOptions& o, const Invocation& in, comm::Transport& transport);
/// Runs the cellular Potts simulation; rank 0 prints the results and writes the files asked for. Collective.
void run_potts(const DemoOptions& o, const Invocation& in, comm::Transport& transport);

}  // namespace merganser::app::demo
