/// The droplet and Potts simulations on blocks against runs on the whole plane, over every model.
#include <gtest/gtest.h>

#include "examples/simulations/droplet.hpp"
#include "examples/simulations/potts.hpp"
#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::simulations;
using namespace merganser::test;
using Owner = blocks::BlockDirectory::Owner;

class Simulations : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Simulations, testing::ValuesIn(setups({""}, {"chaos:1", "chaos:2,checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns parameters of droplets that cross several blocks and a periodic face in a few steps.
DropletModel small_droplets() {
  DropletModel m;
  m.blocks = {11, 5};
  m.edge = 10;
  m.radius = 8;
  m.speed = 0.25;
  m.drift = 0.1;
  m.growth = 0.02;
  return m;
}

TEST_P(Simulations, droplets_on_moving_blocks_equal_a_run_on_all_cells) {
  const bool quiet = GetParam().decorators.empty();
  on_ranks(GetParam(), [quiet](comm::Transport& t) {
    for (const Owner rule : {Owner::proposer, Owner::least_loaded}) {
      if (!quiet && rule == Owner::proposer) continue;
      const DropletModel model = small_droplets();
      Droplet droplet(t, model, rule);
      WholeDroplet whole(model);
      ASSERT_EQ(first_difference(t, droplet, model.plane(), whole), "");
      for (int step = 1; step <= 60; ++step) {
        const auto before = t.counters();
        droplet.step();
        ASSERT_EQ((t.counters() - before).collectives, 0);
        whole.step();
        if (step % 6 != 0) continue;
        ASSERT_EQ(first_difference(t, droplet, model.plane(), whole), "") << "step " << step;
      }
      EXPECT_GT(droplet.directory().counts().created, 0);
      EXPECT_GT(droplet.directory().counts().removed, 0);
      EXPECT_EQ(droplet.directory().counts().refused, 0);
      EXPECT_LT(t.all_reduce(droplet.cell_updates(), comm::Op::sum), 60 * 110 * 50);
      std::int64_t digest = static_cast<std::int64_t>(droplet.digest());
      EXPECT_EQ(static_cast<std::uint64_t>(t.all_reduce(digest, comm::Op::sum)), whole.digest());
      whole.step();
      EXPECT_NE(first_difference(t, droplet, model.plane(), whole), "");
    }
  });
}

TEST_P(Simulations, droplets_fit_tiny_planes) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::vector<int>& blocks : {std::vector<int>{1, 1}, {2, 1}, {1, 3}, {3, 2}}) {
      DropletModel model = small_droplets();
      model.blocks = blocks;
      model.radius = 4;
      Droplet droplet(t, model, Owner::least_loaded);
      WholeDroplet whole(model);
      for (int step = 0; step < 12; ++step) {
        droplet.step();
        whole.step();
      }
      ASSERT_EQ(first_difference(t, droplet, model.plane(), whole), "");
    }
  });
}

TEST_P(Simulations, blocks_that_the_interface_crosses_too_fast_are_refused) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    DropletModel model = small_droplets();
    model.edge = 4;
    if (t.size() > 2) {
      EXPECT_THROW((void)droplet_network(model, 1000), UsageError);
    }
    EXPECT_LE(announce::diameter(*droplet_network(small_droplets(), t.size())).value, 4);
  });
}

PottsModel small_cells() {
  PottsModel m;
  m.blocks = {4, 2};
  m.edge = 24;
  return m;
}

TEST_P(Simulations, cells_over_blocks_equal_a_run_on_all_sites_and_a_recount) {
  const int steps = GetParam().decorators.empty() ? 12 : 4;
  on_ranks(GetParam(), [steps](comm::Transport& t) {
    const PottsModel model = small_cells();
    const Plane plane = model.plane();
    Potts potts(t, model, blocks::contiguous_placement(plane.grid, t.rank(), t.size()));
    WholePotts whole(model);
    ASSERT_EQ(first_difference(t, potts, plane), "");
    for (int step = 1; step <= steps; ++step) {
      const auto before = t.counters();
      potts.step();
      ASSERT_EQ((t.counters() - before).collectives, 0);
      whole.step();
      ASSERT_EQ(first_difference(t, potts, plane), "") << "step " << step;
      ASSERT_EQ(gather_lattice(t, potts, plane), whole.lattice()) << "step " << step;
    }
    EXPECT_GT(t.all_reduce(potts.flips(), comm::Op::sum), 40 * steps);
    std::int64_t digest = static_cast<std::int64_t>(potts.digest());
    EXPECT_EQ(static_cast<std::uint64_t>(t.all_reduce(digest, comm::Op::sum)), whole.digest());
  });
}

TEST_P(Simulations, cells_do_not_depend_on_how_the_plane_is_cut_or_dealt) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    std::vector<std::vector<simulations::Site>> lattices;
    for (const int edge : {24, 48}) {
      PottsModel model = small_cells();
      model.edge = edge;
      model.blocks = {96 / edge, 48 / edge};
      const Plane plane = model.plane();
      blocks::BlockPlacement turns;
      turns.owner = [&t](std::int64_t b) { return static_cast<int>((b * 3 + 1) % t.size()); };
      for (std::int64_t b = 0; b < plane.grid.count(); ++b)
        if (turns.owner(b) == t.rank()) turns.mine.push_back(b);
      Potts potts(t, model, turns);
      for (int step = 0; step < 5; ++step) potts.step();
      lattices.push_back(gather_lattice(t, potts, plane));
    }
    ASSERT_EQ(lattices[0], lattices[1]);
  });
}

TEST(Recount, a_square_has_the_volume_and_surface_that_one_counts_by_hand) {
  const Plane plane{{{1, 1, 1}, {true, true, false}}, 6};
  std::vector<simulations::Site> lattice(36);
  for (const std::size_t at : {0U, 5U, 30U, 35U}) lattice[at] = 3;  // 2 x 2 about a corner of the periodic plane
  const auto counted = recount(plane, lattice);
  ASSERT_EQ(counted.size(), 1U);
  EXPECT_EQ(counted.at(3).volume, 4);
  EXPECT_EQ(counted.at(3).surface, 4 * 5);
}

TEST(Models, numbers_that_do_not_fit_together_are_refused) {
  PottsModel cells;
  cells.edge = 20;
  EXPECT_THROW(cells.check(), UsageError);
  cells = PottsModel();
  cells.volume = 1000;
  EXPECT_THROW(cells.check(), UsageError);
  cells = PottsModel();
  cells.blocks = {1, 3};
  EXPECT_THROW(cells.check(), UsageError);
  DropletModel drops;
  drops.speed = drops.drift = 0.2;
  EXPECT_THROW(drops.check(), UsageError);
  drops = DropletModel();
  drops.blocks = {3};
  EXPECT_THROW(drops.check(), UsageError);
}

}  // namespace
