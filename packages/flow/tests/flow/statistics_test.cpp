/// Statistics of the flow: the same bits over ranks and methods of combination.
#include "merganser/flow/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/flow/transfer.hpp"
#include "src/flow/sum_bins.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

/// Returns the parcels of a state, the same on every rank.
Parcels state(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  Parcels p(schema());
  std::vector<double> row(p.schema().width());
  for (int i = 0; i < 200; ++i) {
    for (double& x : row) x = u(random) * std::pow(10, 6 * u(random));
    p.append({u(random), u(random), u(random), 1e-3 * (1.5 + u(random))}, row.data());
  }
  return p;
}

PartialStatistics part(const Parcels& all, int rank, int ranks) {
  Parcels mine(all.schema());
  for (std::size_t i = static_cast<std::size_t>(rank); i < all.size(); i += static_cast<std::size_t>(ranks))
    mine.append(all.site(i), all.row(i));
  PartialStatistics out;
  out.add_parcels(mine, 1e-3);
  out.add_velocities(mine);
  out.counts.splits = rank == 0 ? 3 : 0;
  out.counts.clusters[1] = rank == ranks - 1 ? 5 : 0;
  return out;
}

class Gathering : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Gathering, testing::ValuesIn(setups({""}, {"chaos:1", "checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(Gathering, gives_every_rank_the_bits_of_one_by_the_network_and_by_a_collective_call) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const StatisticsWay way : {StatisticsWay::network, StatisticsWay::collective}) {
      StatisticsGatherer gatherer(t, way, 8);
      std::vector<Statistics> got, expected;
      const auto take = [&] {
        for (const Statistics& row : gatherer.pop_complete()) got.push_back(row);
      };
      for (int step = 0; step < 12; ++step) {
        Statistics row;
        row.step = step;
        row.time = 0.1 * step;
        expected.push_back(row);
        const Parcels all = state(static_cast<unsigned>(step));
        part(all, 0, 1).finish(8, expected.back());
        expected.back().counts.splits = 3;
        expected.back().counts.clusters[1] = 5;
        gatherer.add(row, part(all, t.rank(), t.size()));
        take();
        if (step == 7) {
          gatherer.drain();
          take();
          EXPECT_EQ(got.size(), 8U);
        }
      }
      gatherer.drain();
      take();
      EXPECT_EQ(got, expected) << statistics_ways().name(way);
    }
  });
}

TEST(Parts, say_what_their_parcels_have) {
  Parcels p(schema());
  std::vector<double> row(p.schema().width(), 0.0);
  row[p.schema().offset("vorticity")] = 2;
  row[p.schema().offset("buoyancy")] = -1;
  row[p.schema().offset("registers") + 1] = 3;
  p.append({0, 0, 0, 1}, row.data());
  row[p.schema().offset("buoyancy")] = 4;
  p.append({0, 0, 0, 3}, row.data());
  PartialStatistics mine;
  mine.add_parcels(p, 1);
  mine.add_velocities(p);
  Statistics s;
  mine.finish(8, s);
  EXPECT_EQ(s.parcels, 2);
  EXPECT_EQ(s.small, 1);
  EXPECT_EQ(s.small_share(), 0.5);
  EXPECT_EQ(s.volume, 4);
  EXPECT_EQ(s.volume_deviation, 1);
  EXPECT_EQ(s.kinetic_energy, 0.5 * 4 * 9 / 8);
  EXPECT_EQ(s.enstrophy, 0.5 * 4 * 4 / 8);
  EXPECT_EQ(s.rms_vorticity[0], std::sqrt(2.0));
  EXPECT_EQ(s.least_buoyancy, -1);
  EXPECT_EQ(s.greatest_buoyancy, 4);
}

TEST(Bins, sum_as_exact_sums_do) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(0, 1);
  SumBins bins;
  ExactSum exact, sum;
  for (int i = 0; i < 20000; ++i) {
    const double x = i % 100 == 0 ? 0 : u(random) * std::pow(2, 600 * (u(random) - 0.5));
    bins.add(x);
    exact.add(x);
  }
  for (const double x : {5e-324, 2.2e-308, 1.7e308, 3e-310}) {
    bins.add(x);
    exact.add(x);
  }
  bins.move_to(sum, "a number");
  EXPECT_EQ(sum.words(), exact.words());
  bins.add(1);
  bins.move_to(sum, "a number");  // begins anew
  exact.add(1);
  EXPECT_EQ(sum.words(), exact.words());
  bins.add(std::numeric_limits<double>::infinity());
  EXPECT_THROW(bins.move_to(sum, "a number"), InputError);
}

TEST(Parts, that_came_in_pieces_are_refused) {
  std::vector<std::byte> bytes = PartialStatistics().bytes();
  bytes.pop_back();
  EXPECT_THROW((void)PartialStatistics::from_bytes(bytes), CommError);
}

}  // namespace
