// Merge steps of the Clusterer over every model and number of ranks against the serial reference, bit for bit.
#include "merganser/cluster/cluster.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/cluster/share.hpp"
#include "tests/data/graph_cases.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

Grid make_grid(std::int64_t x, std::int64_t y, std::int64_t z, std::array<bool, 3> periodic = {true, true, false}) {
  return {{{-0.3, 0.1, 0},
           {1.0 * static_cast<double>(x), 1.1 * static_cast<double>(y), 0.9 * static_cast<double>(z)},
           periodic},
          {x, y, z}};
}

/// Returns parcels at positions in units of the box's extent; volumes in units of V_min at ratio 20.
Parcels parcels_at(const Grid& grid, const std::vector<Vec3>& unit, const std::vector<double>& volume) {
  Parcels p;
  p.resize(unit.size());
  const double v_min = grid.cell_volume() / 20;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const auto at = [&](int a) {
      return grid.box.wrap(a, grid.box.lower[a] + unit[i][static_cast<std::size_t>(a)] * grid.box.extent[a]);
    };
    p.site(i) = {at(0), at(1), at(2), volume[i] * v_min};
    double* const row = p.row(i);
    std::fill_n(row, p.schema().width(), 0.0);
    p.set_id(i, static_cast<std::int64_t>(i));
    for (int c = 1; c <= 4; ++c) row[c] = 0.25 * c + static_cast<double>(i);
    const double b = 0.01 * std::cbrt(volume[i] * v_min) * std::cbrt(volume[i] * v_min);
    row[5] = row[8] = b;
  }
  return p;
}

Parcels random_parcels(const Grid& grid, std::size_t n, unsigned seed, double coarse = 0) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<Vec3> unit(n);
  std::vector<double> volume(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (double& x : unit[i]) x = coarse > 0 ? std::floor(u(random) * coarse) / coarse : u(random);
    volume[i] = 0.5 + u(random);
  }
  return parcels_at(grid, unit, volume);
}

struct Outcome {
  Digest digest;
  StepReport report;
};

Outcome serial(const Parcels& all, const Grid& grid, const ClusterOptions& options, int steps = 1) {
  Parcels p = all;
  Outcome o;
  for (int i = 0; i < steps; ++i) o.report = cluster_reference(p, grid, options);
  o.digest = digest(p);
  return o;
}

/// Merges over all ranks, each with the parcels of its block, and gathers the outcome of all. Collective.
Outcome merged(comm::Transport& t, const Parcels& all, const Decomposition& d, const ClusterOptions& options,
               int steps = 1) {
  Parcels mine = owned_parcels(t, all, d);
  Clusterer clusterer(t, d, all.schema(), options, &mine);
  Outcome o;
  for (int i = 0; i < steps; ++i) {
    o.report = clusterer.step(mine);
    clusterer.redistribute(mine);
  }
  o.digest = digest(mine);
  std::int64_t counts[] = {o.report.before,    o.report.small,          o.report.merged,      o.report.after,
                           o.report.unmatched, o.report.links_to_small, o.report.long_cycles, o.report.merged_into_big};
  t.all_reduce(counts, comm::Op::sum);
  o.report.before = counts[0];
  o.report.small = counts[1];
  o.report.merged = counts[2];
  o.report.after = counts[3];
  o.report.unmatched = counts[4];
  o.report.links_to_small = counts[5];
  o.report.long_cycles = counts[6];
  o.report.merged_into_big = counts[7];
  const auto digests = comm::all_gather_value(t, o.digest);
  o.digest = {};
  for (const Digest& part : digests) o.digest += part;
  std::vector<std::int64_t> clusters(all.size() + 2, 0);
  for (const auto& [members, count] : o.report.clusters) clusters[static_cast<std::size_t>(members)] = count;
  t.all_reduce(clusters, comm::Op::sum);
  o.report.clusters.clear();
  for (std::size_t members = 0; members < clusters.size(); ++members)
    if (clusters[members] > 0) o.report.clusters[static_cast<int>(members)] = clusters[members];
  return o;
}

void expect_same(const Outcome& got, const Outcome& want) {
  EXPECT_EQ(got.report.before, want.report.before);
  EXPECT_EQ(got.report.small, want.report.small);
  EXPECT_EQ(got.report.merged, want.report.merged);
  EXPECT_EQ(got.report.after, want.report.after);
  EXPECT_EQ(got.report.unmatched, want.report.unmatched);
  EXPECT_EQ(got.report.links_to_small, want.report.links_to_small);
  EXPECT_EQ(got.report.long_cycles, want.report.long_cycles);
  EXPECT_EQ(got.report.merged_into_big, want.report.merged_into_big);
  EXPECT_EQ(got.report.clusters, want.report.clusters);
  EXPECT_EQ(got.digest.to_string(), want.digest.to_string());
}

class ClustererTest : public testing::TestWithParam<Setup> {
 protected:
  /// Compares every search and pruning, over some decompositions, with the serial reference.
  void compare(const Parcels& all, const Grid& grid, double ratio = 20) {
    for (const Search search : {Search::exact, Search::cells8})
      for (const Prune prune : {Prune::single_pass, Prune::iterative}) {
        ClusterOptions options;
        options.min_volume_ratio = ratio;
        options.search = search;
        options.prune = prune;
        const Outcome want = serial(all, grid, options);
        on_ranks(GetParam(), [&](comm::Transport& t) {
          for (const char* shape : {"auto", "1d"}) {
            SCOPED_TRACE(std::string(shape) + (search == Search::exact ? " exact" : " cells8") +
                         (prune == Prune::iterative ? " iterative" : " single"));
            const Outcome got = merged(t, all, Decomposition(grid, t.size(), shape), options);
            if (t.rank() == 0) expect_same(got, want);
          }
        });
      }
  }
};
INSTANTIATE_TEST_SUITE_P(Models, ClustererTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(ClustererTest, random_parcels_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 8, 7);
  compare(random_parcels(grid, 3000, 1), grid);
}

/// Two parts of the ranks merge at the same time.
class ClustererOfPartsTest : public ClustererTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClustererOfPartsTest);
INSTANTIATE_TEST_SUITE_P(Models, ClustererOfPartsTest, testing::ValuesIn(setups_in_parts()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(ClustererOfPartsTest, parts_of_the_ranks_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 8, 7);
  compare(random_parcels(grid, 2000, 13), grid);
}

TEST_P(ClustererTest, every_choice_of_walls_merges_as_in_the_reference) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    const Grid grid = make_grid(7, 4, 5, {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0});
    compare(random_parcels(grid, 400, bits), grid);
  }
}

TEST_P(ClustererTest, lattices_with_exact_ties_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 8, 8);
  compare(random_parcels(grid, 500, 3, 8), grid);
  compare(random_parcels(grid, 2000, 4, 16), grid);
}

TEST_P(ClustererTest, few_parcels_in_many_cells_merge_as_in_the_reference) {
  const Grid grid = make_grid(9, 8, 8);
  for (std::size_t n : {0U, 1U, 2U, 3U, 5U, 20U}) compare(random_parcels(grid, n, 5), grid);
}

TEST_P(ClustererTest, all_parcels_at_one_point_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 8, 8);
  compare(parcels_at(grid, std::vector<Vec3>(50, Vec3{0.499, 0.5, 0.25}), std::vector<double>(50, 0.7)), grid);
}

TEST_P(ClustererTest, clumped_parcels_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 8, 8);
  std::mt19937 random(7);
  std::normal_distribution<double> g(0.5, 0.01);
  std::vector<Vec3> unit(2500);
  for (auto& u : unit)
    for (double& x : u) x = g(random);
  compare(parcels_at(grid, unit, std::vector<double>(unit.size(), 0.6)), grid);
}

TEST_P(ClustererTest, parcels_on_faces_and_corners_merge_as_in_the_reference) {
  const Grid grid = make_grid(8, 4, 4, {true, true, true});
  std::mt19937 random(9);
  std::vector<Vec3> unit(600);
  for (auto& u : unit)
    for (double& x : u) x = static_cast<double>(random() % 9) / 8 + (random() % 3 == 0 ? 1e-9 : 0);
  compare(parcels_at(grid, unit, std::vector<double>(unit.size(), 0.6)), grid);
}

TEST_P(ClustererTest, all_small_and_none_small_work) {
  const Grid grid = make_grid(8, 8, 4);
  Parcels p = random_parcels(grid, 800, 11);
  for (std::size_t i = 0; i < p.size(); ++i) p.site(i).volume *= 0.1;
  compare(p, grid);
  for (std::size_t i = 0; i < p.size(); ++i) p.site(i).volume *= 1000;
  compare(p, grid);
}

TEST_P(ClustererTest, published_graph_cases_keep_their_clusters) {
  for (const GraphCase& c : graph_cases()) {
    SCOPED_TRACE(c.id);
    const Grid grid = graph_grid(c);
    const Parcels all = graph_parcels(c);
    ClusterOptions options;
    options.min_volume_ratio = kGraphRatio;
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Outcome got = merged(t, all, Decomposition(grid, t.size()), options);
      if (t.rank() != 0) return;
      EXPECT_EQ(got.report.merged, c.merged);
      EXPECT_EQ(got.report.clusters, c.clusters);
    });
  }
}

TEST_P(ClustererTest, many_steps_with_redistribution_follow_the_reference) {
  const Grid grid = make_grid(8, 8, 4);
  const Parcels all = random_parcels(grid, 1500, 13);
  ClusterOptions options;
  options.min_volume_ratio = 8;
  const Outcome want = serial(all, grid, options, 4);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Outcome got = merged(t, all, Decomposition(grid, t.size()), options, 4);
    if (t.rank() == 0) expect_same(got, want);
  });
}

TEST_P(ClustererTest, a_step_without_small_parcels_costs_one_wave_and_nothing_else) {
  const Grid grid = make_grid(8, 8, 8);
  Parcels all = random_parcels(grid, 1000, 15);
  for (std::size_t i = 0; i < all.size(); ++i) all.site(i).volume *= 100;
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size());
    Parcels mine = owned_parcels(t, all, d);
    Clusterer clusterer(t, d, all.schema(), {});
    const StepReport r = clusterer.step(mine);
    EXPECT_EQ(r.counters.waves, t.size() > 1 ? 1 : 0);
    EXPECT_EQ(r.counters.messages + r.counters.puts + r.counters.gets + r.counters.collectives + r.counters.records, 0);
  });
}

TEST_P(ClustererTest, a_step_makes_no_collective_and_few_waves) {
  const Grid grid = make_grid(16, 16, 8);
  RandomParcels config;
  config.per_cell = 12;
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size());
    Parcels mine = generate_random(config, d, t.rank());
    ClusterOptions options;
    options.min_volume_ratio = 20;
    Clusterer clusterer(t, d, mine.schema(), options);
    const StepReport r = clusterer.step(mine);
    EXPECT_EQ(r.counters.collectives, 0);
    EXPECT_EQ(r.counters.gets, 0);
    EXPECT_LE(r.counters.waves, 4);  // queries, replies, announcements, migration; labels are no waves
    EXPECT_EQ(r.counters.records, r.cross_links);
    if (t.capabilities().one_sided) {
      EXPECT_EQ(r.counters.puts, r.cross_links);
    }
  });
}

TEST_P(ClustererTest, distribute_brings_every_parcel_home) {
  const Grid grid = make_grid(8, 8, 8);
  const Parcels all = random_parcels(grid, 500, 16);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(grid, t.size());
    Parcels mine(all.schema());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i % static_cast<std::size_t>(t.size())) == t.rank()) mine.append(all.site(i), all.row(i));
    distribute(mine, d, t);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), 500);
    for (std::size_t i = 0; i < mine.size(); ++i)
      ASSERT_EQ(d.owner({mine.site(i).x, mine.site(i).y, mine.site(i).z}), t.rank());
  });
}

/// Threads of a plain process: where ranks are processes, an error on one of them ends the job.
class ThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (comm::launched()) GTEST_SKIP() << "threads of a plain process only";
  }
  static void run(int ranks, const std::function<void(comm::Transport&)>& body) {
    comm::RunOptions options;
    options.backend = "threads";
    options.ranks = ranks;
    comm::run(options, body);
  }
};

TEST_F(ThreadsTest, a_parcel_away_from_home_is_named_and_no_rank_is_left_waiting) {
  const Grid grid = make_grid(8, 8, 8);
  Parcels all = random_parcels(grid, 100, 17);
  for (const int ranks : {1, 2, 4}) {
    const Decomposition d(grid, ranks);
    try {
      run(ranks, [&](comm::Transport& t) {
        Parcels mine = owned_parcels(t, all, d);
        if (t.rank() == ranks - 1) {
          mine.set_id(0, 4711);
          mine.site(0).x = grid.box.lower[0] + 3 * grid.box.extent[0];
        }
        Clusterer(t, d, all.schema(), {}).step(mine);
      });
      FAIL() << "no error";
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("parcel id 4711"), std::string::npos) << e.what();
    }
  }
}

TEST_F(ThreadsTest, sixty_four_ranks_find_far_neighbours_if_told_of_the_parcels) {
  const Grid grid = make_grid(8, 8, 8);
  ClusterOptions options;
  options.min_volume_ratio = 20;
  for (const std::size_t n : {2U, 9U, 60U, 4000U}) {
    const Parcels all = random_parcels(grid, n, 19);
    const Outcome want = serial(all, grid, options);
    run(64, [&](comm::Transport& t) {
      const Outcome got = merged(t, all, Decomposition(grid, t.size(), "4x4x4"), options);
      if (t.rank() == 0) expect_same(got, want);
    });
  }
}

TEST_F(ThreadsTest, a_parcel_that_goes_far_travels_on_from_neighbour_to_neighbour) {
  const Grid grid = make_grid(40, 2, 2);
  for (const int ranks : {4, 40}) {
    run(ranks, [&](comm::Transport& t) {
      const Decomposition d(grid, t.size(), std::to_string(ranks) + "x1x1");
      Parcels mine(parcels_at(grid, {}, {}).schema());
      Clusterer clusterer(t, d, mine.schema(), {});
      EXPECT_TRUE(clusterer.redistributes_in_one_wave());
      if (t.rank() == 0) {
        const Parcels one = parcels_at(grid, {{0.38, 0.5, 0.5}}, {100});  // on rank 1 of 4, on rank 15 of 40
        mine.append(one.site(0), one.row(0));
      }
      const int waves = ranks == 4 ? 1 : 15;
      for (int wave = 1; wave <= waves; ++wave) {
        const bool sends = t.rank() == wave - 1;
        EXPECT_EQ(clusterer.redistribute(mine), sends ? 1 : 0) << t.rank();
        EXPECT_EQ(clusterer.in_transit(), sends && wave < waves ? 1 : 0) << t.rank();
      }
      EXPECT_EQ(mine.size(), t.rank() == waves ? 1U : 0U);
      EXPECT_EQ(clusterer.redistribute(mine), 0);
    });
  }
}

TEST_F(ThreadsTest, an_empty_neighbourhood_is_searched_as_far_as_it_takes) {
  const Grid grid = make_grid(8, 8, 8, {false, false, false});
  const Parcels all = parcels_at(grid, {{0.01, 0.01, 0.01}, {0.99, 0.99, 0.99}}, {0.5, 0.5});
  ClusterOptions options;
  options.min_volume_ratio = 20;
  run(64, [&](comm::Transport& t) {
    const Decomposition d(grid, t.size(), "4x4x4");
    Parcels mine = owned_parcels(t, all, d);
    EXPECT_EQ(t.all_reduce(Clusterer(t, d, all.schema(), options).step(mine).merged, comm::Op::sum), 1);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), 1);
  });
}

}  // namespace
