#pragma once
/// What `announce demo` runs on every rank and reports.
#include <string>

#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "examples/simulations/droplet.hpp"
#include "examples/simulations/potts.hpp"

namespace merganser::app::demo {

struct DemoOptions {
  std::string what;
  std::string json, picture;
  int steps = 400;
  bool check = false;
  int disturb = 0;  ///< step after which a cell is changed behind the back, for tests of check; 0: never
  blocks::BlockDirectory::Owner owner = blocks::BlockDirectory::Owner::least_loaded;
  simulations::DropletModel droplet;
  simulations::PottsModel potts;
  RankOptions ranks;
};

/// Collective. Rank 0 prints, and writes what is asked for.
void run_droplet(const DemoOptions& o, const Invocation& in, comm::Transport& transport);
void run_potts(const DemoOptions& o, const Invocation& in, comm::Transport& transport);

}  // namespace merganser::app::demo
