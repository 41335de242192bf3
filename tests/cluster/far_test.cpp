// Far search: nearest parcels on ranks that are no candidates are always found, never by a collective.
#include <gtest/gtest.h>

#include <limits>

#include "merganser/parcels/generate.hpp"
#include "src/cluster/cover.hpp"
#include "tests/cluster/far_cases.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr std::array<std::int64_t, 3> kCells{12, 12, 12};
const char* const kShapes[] = {"1d", "2d", "auto"};

/// Threads of a plain process.
class FarThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (comm::launched()) GTEST_SKIP() << "threads of a plain process only";
  }
  static void run(int ranks, const std::function<void(comm::Transport&)>& body, const std::string& decorators = "") {
    comm::RunOptions options;
    options.backend = "threads";
    options.ranks = ranks;
    options.decorators = decorators;
    comm::run(options, body);
  }
  struct How {
    int ranks;
    std::string shape = "auto";
    int steps = 2;
    double stirred = 0.1;
    std::string decorators = "";
    Prune prune = Prune::single_pass;
  };
  /// @return what the steps cost
  static FarCost compare(const FarCase& c, const How& how) {
    const Merged want = run_reference(c, how.steps, how.stirred);
    FarCost cost;
    run(
        how.ranks,
        [&](comm::Transport& t) {
          FarCost mine;
          const Merged got = run_far_steps(t, c, how.shape, far_options(how.prune), how.steps, how.stirred, &mine);
          if (t.rank() != 0) return;
          expect_merged(got, want,
                        c.name + ", " + std::to_string(how.ranks) + " ranks, " + how.shape + " " + how.decorators);
          cost = mine;
        },
        how.decorators);
    return cost;
  }
  static FarCase at(const std::array<std::int64_t, 3>& cells, const std::array<bool, 3>& periodic,
                    const std::vector<Vec3>& unit, double volume = 0.5) {
    FarCase c = empty_case(cells, {1, 1, 1}, periodic, "given parcels");
    for (const Vec3& p : unit) add_parcel(c, p, volume);
    return c;
  }
};

TEST_F(FarThreads, few_ranks_that_ask_only_blocks_that_touch_merge_as_the_reference) {
  const cluster::SmallWorld small(1);
  for (unsigned seed = 0; seed < 600; ++seed) {
    compare(random_case(seed, kCells), {static_cast<int>(3 + seed % 10), kShapes[seed / 10 % 3]});
    if (HasFailure()) return;
  }
}

TEST_F(FarThreads, holes_among_many_parcels_are_searched_across) {
  const cluster::SmallWorld small(1);
  std::int64_t waves = 0;
  std::int64_t searched = 0;
  for (unsigned seed = 0; seed < 90; ++seed) {
    const int ranks = static_cast<int>(4 + seed % 9);
    const FarCost cost = compare(holed_case(seed, ranks), {ranks, "1d"});
    waves = std::max(waves, cost.most_waves);
    searched += cost.most_waves > 4;
    if (HasFailure()) return;
  }
  EXPECT_GT(waves, 8);
  EXPECT_GT(searched, 30);
}

TEST_F(FarThreads, any_order_and_delay_gives_the_same) {
  const cluster::SmallWorld small(1);
  for (unsigned seed = 0; seed < 100; ++seed) {
    How how{static_cast<int>(4 + seed % 6), kShapes[seed / 6 % 3]};
    how.decorators = "chaos:" + std::to_string(seed + 1);
    if (seed % 2 == 1) how.decorators += ",checked";
    compare(random_case(5000 + seed, kCells), how);
    if (HasFailure()) return;
  }
}

TEST_F(FarThreads, the_published_pruning_gives_way_where_links_are_far) {
  const cluster::SmallWorld small(1);
  for (unsigned seed = 0; seed < 200; ++seed) {
    How how{static_cast<int>(4 + seed % 6), kShapes[seed / 6 % 3]};
    how.prune = Prune::iterative;
    compare(random_case(7000 + seed, kCells), how);
    if (HasFailure()) return;
  }
}

TEST_F(FarThreads, nearly_empty_boxes_of_many_ranks_merge_as_the_reference) {
  for (const int ranks : {28, 64, 125, 512})
    for (const unsigned n : {1U, 2U, 3U, 20U, 200U}) {
      if (ranks == 512 && n != 2 && n != 200) continue;
      for (unsigned seed = 0; seed < (ranks < 100 ? 3U : 1U); ++seed) {
        std::mt19937 random(n + seed);
        std::uniform_real_distribution<double> u(0, 1);
        FarCase c = empty_case({16, 14, 15}, {1, 2, 0.7}, {seed % 2 == 0, seed % 3 == 0, false},
                               std::to_string(n) + " parcels");
        const double largest = seed < 2 ? 1 : 2;
        for (unsigned i = 0; i < n; ++i) add_parcel(c, {u(random), u(random), u(random)}, u(random) * largest);
        compare(c, {ranks, ranks == 28 ? "auto" : "3d", ranks == 512 ? 1 : 2});
      }
    }
}

TEST_F(FarThreads, thin_slabs_merge_as_the_reference) {
  for (const int ranks : {28, 40, 64})
    for (unsigned seed = 0; seed < 12; ++seed)
      compare(random_case(9000 + seed, {64, 64, 64}), {ranks, std::to_string(ranks) + "x1x1"});
}

TEST_F(FarThreads, a_crowded_corner_answers_a_few_parcels_far_away) {
  for (const int ranks : {64, 216}) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> u(0, 1);
    FarCase c = empty_case(kCells, {1, 1, 1}, {false, false, false}, "corner");
    for (int i = 0; i < 3000; ++i) add_parcel(c, {0.15 * u(random), 0.15 * u(random), 0.15 * u(random)}, 2 * u(random));
    for (int i = 0; i < 6; ++i) add_parcel(c, {0.6 + 0.4 * u(random), u(random), u(random)}, 0.5);
    const FarCost cost = compare(c, {ranks});
    EXPECT_GT(cost.most_waves, 6);
  }
}

TEST_F(FarThreads, chains_of_far_links_cross_each_other) {
  FarCase c = empty_case({40, 40, 2}, {1, 1, 0.1}, {false, false, false}, "crossing chains");
  // Gaps that grow along x and along y: each parcel points back at the one before, over several blocks.
  for (int i = 0; i < 7; ++i) add_parcel(c, {0.02 + 0.97 * i * (i + 7) / 78.0, 0.47, 0.5}, 0.5);
  for (int i = 0; i < 7; ++i) add_parcel(c, {0.41, 0.99 - 0.98 * i * (i + 7) / 78.0, 0.5}, 0.5);
  compare(c, {400, "20x20x1", 1});
  compare(c, {40, "40x1x1", 2});
}

TEST_F(FarThreads, two_parcels_in_opposite_corners_are_a_far_dual_link) {
  const FarCase c = at(kCells, {false, false, false}, {{0.01, 0.01, 0.01}, {0.99, 0.99, 0.99}});
  const FarCost cost = compare(c, {64, "4x4x4", 1});
  EXPECT_EQ(cost.cross_links, 2);
  // Each label takes the three arcs of the way. Waves: ask; answer and announce with nobody; 3 to tell the questions, 3
  // the answers; migrate with nobody, then 3 on the way.
  EXPECT_EQ(cost.records, 6);
  EXPECT_LE(cost.most_waves, 13);
  compare(at({40, 2, 2}, {true, false, false}, {{0.0, 0.5, 0.5}, {0.5, 0.5, 0.5}}), {40, "40x1x1"});
}

TEST_F(FarThreads, several_far_dual_links_share_an_arc) {
  // Pairs around one hole: their labels pass the same ranks, and vertices of several ranks have the same number.
  FarCase c = empty_case({40, 2, 2}, {40, 2000, 2000}, {false, false, false}, "pairs");
  for (int i = 0; i < 10; ++i) {
    add_parcel(c, {0.01 + 0.03 * i, 0.1 * i, 0.5}, 0.5);
    add_parcel(c, {0.7 + 0.03 * (i % 3), 0.1 * i + 0.001, 0.5}, 0.5);
  }
  compare(c, {40, "40x1x1"});
}

TEST_F(FarThreads, ties_on_a_lattice_with_huge_spacing_go_to_the_lower_id) {
  for (const bool periodic : {true, false})
    for (const int side : {2, 3, 4}) {
      std::vector<Vec3> unit;
      for (int x = 0; x < side; ++x)
        for (int y = 0; y < side; ++y)
          for (int z = 0; z < side; ++z) unit.push_back({1.0 * x / side, 1.0 * y / side, 1.0 * z / side});
      if (side == 4) compare(at({8, 8, 8}, {periodic, periodic, periodic}, unit), {512, "8x8x8", 1});
      compare(at({8, 8, 8}, {periodic, periodic, periodic}, unit), {64, "4x4x4", 1});
    }
}

TEST_F(FarThreads, a_merged_parcel_comes_home_in_one_go_from_wherever_it_is) {
  // Light centres with heavy sources far away, all below the largest small volume.
  const cluster::SmallWorld small(1);
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> u(0, 1);
    FarCase c = empty_case({16, 16, 2}, {1, 1, 0.1}, {seed % 2 == 0, seed % 3 == 0, false}, "light centres");
    for (int i = 0; i < 12; ++i) add_parcel(c, {u(random), u(random), 0.5}, std::pow(10, -4 * u(random)));
    compare(c, {64, "8x8x1"});
  }
}

/// A line of `blocks` blocks along x: those named by `dense` hold many parcels, the others one in the middle or none.
FarCase islands(int blocks, const std::function<bool(int)>& dense) {
  FarCase c = empty_case({blocks, 1, 1}, {1.0 * blocks, 1, 1}, {true, false, false}, "islands");
  std::mt19937 random(1);
  std::uniform_real_distribution<double> u(0, 1);
  for (int b = 0; b < blocks; ++b) {
    for (int i = 0; i < 1500 && dense(b); ++i)
      add_parcel(c, {(b + u(random)) / blocks, u(random), u(random)}, 2 * u(random));
    if (!dense(b) && b % 4 == 0) add_parcel(c, {(b + 0.5) / blocks, 0.5, 0.5}, 0.5);
  }
  return c;
}

TEST_F(FarThreads, holes_apart_from_each_other_cost_only_the_ranks_around_them) {
  const auto dense = [](int b) { return b % 16 >= 6; };  // holes of 6 blocks in 32
  const FarCase c = islands(32, dense);
  const Merged want = run_reference(c, 1, 0);
  run(32, [&](comm::Transport& t) {
    const Decomposition d(c.grid, t.size(), "32x1x1");
    Parcels mine;
    for (std::size_t i = 0; i < c.parcels.size(); ++i)
      if (d.owner({c.parcels.site(i).x, c.parcels.site(i).y, c.parcels.site(i).z}) == t.rank())
        mine.append(c.parcels.site(i), c.parcels.row(i));
    Clusterer clusterer(t, d, mine.schema(), far_options());
    const StepReport r = clusterer.step(mine);
    const int b = t.rank() % 16;
    if (b > 6 && b < 15) {  // not beside a hole
      EXPECT_LE(r.counters.waves, 4) << t.rank();
    } else {
      EXPECT_GT(r.counters.waves, 4) << t.rank();
    }
    EXPECT_EQ(total_digest(t, mine).to_string(), want.digests[0]);
  });
}

TEST_F(FarThreads, a_dense_step_sends_what_it_sent_when_far_links_were_refused) {
  Grid grid{{{0, 0, 0}, {5, 5, 5}, {true, true, false}}, {16, 16, 16}};
  run(64, [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "4x4x4");
    RandomParcels config;
    Parcels mine = generate_random(config, d, t.rank());
    Clusterer clusterer(t, d, mine.schema(), far_options());
    const StepReport r = clusterer.step(mine);
    // Not the number of messages: how labels are grouped depends on time.
    std::vector<std::int64_t> sums{r.counters.bytes, r.counters.waves, r.counters.records, r.counters.collectives};
    t.all_reduce(sums, comm::Op::sum);
    EXPECT_EQ(sums, (std::vector<std::int64_t>{1176800, 256, 2899, 0}));  // counted before there were any
  });
}

nearest::PointSet as_points(const std::vector<Site>& sites) {
  static const std::uint8_t small[1 << 16] = {};
  const double* const first = sites.empty() ? nullptr : &sites[0].x;
  return {{first, sites.empty() ? nullptr : first + 1, sites.empty() ? nullptr : first + 2, 4, sites.size()},
          small,
          nullptr,
          0,
          0};
}

TEST_F(FarThreads, a_block_is_full_if_no_large_ball_is_empty) {
  const FarCase c = empty_case({8, 8, 8}, {1, 1, 1}, {true, true, true}, "");
  const Decomposition d(c.grid, 64, "4x4x4");
  const double cutoff = 0.25;
  cluster::Cover cover(d, 0, cutoff);
  const auto block = d.block(0);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> u(0, 1);
  int full = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<Site> sites(static_cast<std::size_t>(20 + random() % 600));
    for (Site& s : sites) {
      double* const x[] = {&s.x, &s.y, &s.z};
      for (std::size_t a = 0; a < 3; ++a) *x[a] = block.lower[a] + u(random) * (block.upper[a] - block.lower[a]);
    }
    if (!cover.is_full(as_points(sites))) continue;
    ++full;
    for (int probe = 0; probe < 200; ++probe) {
      Vec3 p;
      for (std::size_t a = 0; a < 3; ++a) p[a] = block.lower[a] + u(random) * (block.upper[a] - block.lower[a]);
      double least = 1e9;
      for (const Site& s : sites) least = std::min(least, std::hypot(s.x - p[0], s.y - p[1], s.z - p[2]));
      ASSERT_LT(least, cutoff / 2);
    }
  }
  EXPECT_GT(full, 20);
  EXPECT_TRUE(cluster::Cover(d, 0, std::numeric_limits<double>::infinity()).is_full(as_points({})));
  EXPECT_FALSE(cluster::Cover(d, 0, 0).is_full(as_points({})));
}

TEST_F(FarThreads, a_small_hole_leaves_a_block_full_and_a_larger_one_does_not) {
  const FarCase c = empty_case({8, 8, 8}, {1, 1, 1}, {true, true, true}, "");
  const Decomposition d(c.grid, 64, "4x4x4");
  cluster::Cover cover(d, 0, 0.25);  // the width of a block, which is cut into 4 x 4 x 4 sub-cells
  const auto with_hole = [&](int edge) {
    std::vector<Site> sites;
    for (int x = 0; x < 16; ++x)
      for (int y = 0; y < 16; ++y)
        for (int z = 0; z < 16; ++z)
          if (std::max({x, y, z}) / 4 >= edge + 1 || std::min({x, y, z}) / 4 < 1) {
            const double step = 0.25 / 16;
            sites.push_back({-0.3 + step * (x + 0.5), 0.1 + step * (y + 0.5), step * (z + 0.5), 1});
          }
    return cover.is_full(as_points(sites));
  };
  EXPECT_TRUE(with_hole(0));
  EXPECT_TRUE(with_hole(1));
  EXPECT_TRUE(with_hole(2));
  EXPECT_FALSE(with_hole(3));
}

/// Every model of processes.
class FarTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, FarTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(FarTest, sparse_sets_merge_as_the_reference) {
  const cluster::SmallWorld small(1);
  const unsigned cases = GetParam().backend == "threads" ? 100 : 12;
  for (const Prune prune : {Prune::single_pass, Prune::iterative}) {
    for (unsigned seed = 0; seed < cases; ++seed) {
      const FarCase c = random_case(20000 + seed, kCells);
      const Merged want = run_reference(c, 2, 0.1);
      on_ranks(GetParam(), [&](comm::Transport& t) {
        const Merged got = run_far_steps(t, c, kShapes[seed % 3], far_options(prune), 2, 0.1);
        if (t.rank() == 0) expect_merged(got, want, c.name);
      });
    }
  }
}

}  // namespace
