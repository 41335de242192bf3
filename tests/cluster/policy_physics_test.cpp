// What merging does to a population over many steps: places within cells, and the energy of two streams.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "examples/subcell.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/open.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

// With 64 parcels a cell the planes of a lattice are 4 a cell.
TEST(PolicyPhysics, centroids_of_trees_in_cells_make_a_lattice_and_places_of_members_do_not) {
  std::array<double, 4> peak{};
  for (std::size_t w = 0; w < 4; ++w) {
    peak[w] = subcell::run(subcell::kWays[w], 64, 200, 4, 16).peaks[3];
    RecordProperty("peak " + std::string(subcell::kWays[w].name), std::to_string(peak[w]));
    std::printf("%-30s S(4) = %.2f\n", subcell::kWays[w].name, peak[w]);
  }
  EXPECT_GT(peak[0], 10);
  EXPECT_LT(peak[1], 5);
  EXPECT_LT(peak[2], 5);
  EXPECT_LT(peak[3], 5);
}

/// Returns the kinetic energy after `steps` refills by splitting and merges of two streams, over that before. The streams are in
/// one another, each with a little spread. @param conserve  what is conserved, and other parts of the policy
double energy_of_two_streams(const std::string& conserve, int steps) {
  const Grid grid{{{0, 0, 0}, {2, 2, 2}, {true, true, true}}, {2, 2, 2}};
  const auto transport = comm::open_alone();
  const Decomposition blocks(grid, 1);
  Parcels p(policy_schema());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::normal_distribution<double> normal(0, 0.05);
  for (std::int64_t i = 0; i < 128; ++i) {
    const double row[] = {
        std::bit_cast<double>(i), (i % 2 == 0 ? 1 : -1) + normal(random), normal(random), normal(random), 0, 1, 0, 1};
    p.append({2 * uniform(random), 2 * uniform(random), 2 * uniform(random), 1}, row);
  }
  ClusterOptions splitting;
  splitting.policy = parse_policy("none, split:32");
  ClusterOptions merging;
  merging.policy = parse_policy("crowded:16->16, conserve:" + conserve);
  Clusterer split(*transport, blocks, p.schema(), splitting);
  Clusterer merge(*transport, blocks, p.schema(), merging);
  double first = 0;
  double last = 0;
  for (int step = 0; step < steps; ++step) {
    split.step(p);
    const PolicyNumbers n = merge.step(p).policy;
    if (step == 0) first = n.energy_before;
    last = n.energy_after;
    EXPECT_EQ(n.unsettled, 0);
  }
  return last / first;
}

TEST(PolicyPhysics, two_for_n_keep_the_energy_of_two_streams_and_means_lose_it) {
  EXPECT_NEAR(energy_of_two_streams("momentum+energy", 100), 1, 1e-12);
  for (const char* means : {"momentum", "momentum, pairs", "momentum, greedy:3", "momentum, greedy:3, place:member"}) {
    const double left = energy_of_two_streams(means, 100);
    std::printf("energy left by conserve:%s: %.5f\n", means, left);
    EXPECT_LT(left, 0.001) << means << ": all but the energy of the mean motion, which momentum keeps, should be lost";
  }
}

}  // namespace
