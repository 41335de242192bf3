#pragma once
/// What `announce demo` runs on every rank and reports.
#include <string>

#include "apps/announce/droplet.hpp"
#include "apps/announce/potts.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"

namespace merganser::app::minis {

struct DemoOptions {
  std::string what;
  std::string json, picture;
  int steps = 400;
  bool check = false;
  int disturb = 0;  ///< step after which a cell is changed behind the back, for tests of check; 0: never
  announce::BlockLedger::Owner owner = announce::BlockLedger::Owner::least_loaded;
  DropletModel droplet;
  PottsModel potts;
  RankOptions ranks;
};

/// Collective. Rank 0 prints, and writes what is asked for.
void demo_droplet(const DemoOptions& o, const Invocation& in, comm::Transport& transport);
void demo_potts(const DemoOptions& o, const Invocation& in, comm::Transport& transport);

}  // namespace merganser::app::minis
