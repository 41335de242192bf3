// The command announce demo: two small simulations of blocks without a collective call in their time loops.
#include "apps/blocks/demo.hpp"

#include <fmt/core.h>

#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/table.hpp"

namespace merganser::app {
namespace {

using demo::DemoOptions;
using Owner = blocks::BlockDirectory::Owner;

/// Values of the command line of `announce demo`, with the options that both simulations share.
struct AnnounceDemo {
  DemoOptions demo;
  std::vector<int> blocks{16, 8};
  int edge = 16;
  ForceOption limits;
};

/// Passes name, value, meaning and range of every option of `announce demo` to option(...).
template <class V>
void describe(AnnounceDemo& a, V&& option) {
  DemoOptions& o = a.demo;
  option.positional("WHAT", o.what,
                    "droplet: interfaces move through blocks that come and go; potts: cells grow, "
                    "move and push each other",
                    Words{{"droplet", "potts"}}, Required{});
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option("picture", o.picture, "picture of the end to write (.svg .png .pdf; - for SVG on standard output)",
         Kind{"FILE"}, Writes{});
  option.section("Simulation");
  option("steps", o.steps, "time steps", at_least(1), ShownDefault{"400; potts: 80"});
  option("blocks", a.blocks, "blocks along x and y", ShownDefault{"16,8; potts: 5,3"}, at_least(1));
  option("edge", a.edge, "cells along a block", ShownDefault{"16; potts: 24"}, at_least(1));
  option("check", o.check,
         "compare with a run on all cells (droplet), a recount of all sites (potts) after every step");
  option("disturb", o.disturb, "step after which a cell is changed behind the back", at_least(0), Hidden{});
  option.section("Droplet");
  option("owner", o.owner, "who gets a new block",
         Choices<Owner>{{{"proposer", Owner::proposer}, {"least-loaded", Owner::least_loaded}}});
  option("radius", o.droplet.radius, "of both droplets, in cells", positive());
  option("speed", o.droplet.speed, "at which they pass each other along x, cells per step", between(0, 0.35));
  option("drift", o.droplet.drift, "at which both rise, cells per step", between(0, 0.35));
  option("growth", o.droplet.growth, "of their radius by condensation, cells per step, about", between(-0.02, 0.02));
  option.restrict({"owner", "radius", "speed", "drift", "growth"}, UsedWith{"WHAT droplet"});
  option.section("Potts");
  option("seed", o.potts.seed, "of all random numbers");
  option("pitch", o.potts.pitch, "sites between the seeds of cells", at_least(8));
  option("volume", o.potts.volume, "of a grown cell, in sites", at_least(25));
  option("reach", o.potts.reach, "sites from the centre of a cell that it may extend", at_least(4));
  option("temperature", o.potts.temperature, "of the fluctuations", positive());
  option.restrict({"seed", "pitch", "volume", "reach", "temperature"}, UsedWith{"WHAT potts"});
  describe(o.ranks, option);
  describe(a.limits, option);
}

/// Sets the defaults of `announce demo` that the chosen simulation implies, before the user's options replace them.
void apply_implied_defaults(AnnounceDemo& a) {
  const std::string what = a.demo.what;
  a = AnnounceDemo();
  if (what != "potts") return;
  a.blocks = {5, 3};
  a.edge = 24;
  a.demo.steps = 80;
}

/// Estimates the memory per rank of a run of `announce demo`. Measured with up to 64 million cells: every rank holds the
/// directory of all blocks, and the sites of potts are gathered on every rank at the end.
Need estimate_need(const AnnounceDemo& a, int ranks) {
  const bool potts = a.demo.what == "potts";
  const double cells = static_cast<double>(a.blocks[0]) * a.blocks[1] * a.edge * a.edge;
  Need need;
  need.what = "announce demo " + a.demo.what + " of " + general_text(cells, 6) + " cells";
  need.rank_bytes = potts ? cells * (45 + 40.0 / ranks) : cells * (a.demo.check ? 27 : 16);
  need.help = "fewer --blocks or a smaller --edge";
  return need;
}

/// Runs the command `announce demo`: the droplet or the Potts simulation on all ranks. @return exit status
int run(AnnounceDemo& a, const Invocation& in) {
  DemoOptions& o = a.demo;
  o.droplet.blocks = o.potts.blocks = a.blocks;
  o.droplet.edge = o.potts.edge = a.edge;
  const bool potts = o.what == "potts";
  if (a.blocks.size() != 2)
    throw UsageError(fmt::format("--blocks: {} numbers; allowed: two, along x and y: 16,8", a.blocks.size()));
  if (potts) {
    o.potts.check();
  } else {
    o.droplet.check();
  }
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    check_picture(o.picture, PictureSource::drawing, t);
    collective_try([&] { require(estimate_need(a, t.size()), a.limits.force, t); });
    if (potts) {
      demo::run_potts(o, in, t);
    } else {
      demo::run_droplet(o, in, t);
    }
  });
}

constexpr std::string_view kAnnounceDemoText =
    "Two small simulations that tell each other what they must without a collective in the time loop (counted).\n"
    "droplet: blocks are created and removed by the ranks that see the interface come and go, over an announcement\n"
    "network; no block is created twice. potts: volumes and surfaces of cells that spread over blocks are kept by\n"
    "exchange with neighbouring blocks. The digest is the same for any number of ranks and any model.\n\n"
    "  merganser announce demo droplet --check\n"
    "  merganser announce demo potts --ranks 4 --picture cells.svg\n"
    "  merganser run -n 4 -- announce demo droplet --json droplet.json\n";

}  // namespace

extern const Command announce_demo_command;
const Command announce_demo_command = make_command<AnnounceDemo, run>(
    "announce demo", "droplets and cells, without a collective in the loop", kAnnounceDemoText);

}  // namespace merganser::app
