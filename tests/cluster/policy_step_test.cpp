// Merge steps under a policy over every model and number of ranks against the serial oracle, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/conservation_check.hpp"
#include "merganser/cluster/policy_reference.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/cluster/candidate_ranks.hpp"
#include "tests/cluster/policy_step_runs.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

INSTANTIATE_TEST_SUITE_P(Models, PolicyStepTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(PolicyStepTest, every_policy_and_cloud_merges_as_in_the_oracle) {
  // Models of processes take each policy with one cloud: with several ranks on a core their waves are slow.
  const bool threads = GetParam().backend == "threads";
  std::size_t number = 0;
  for (const std::string& text : supported_texts()) {
    ++number;
    for (const PolicyCloud cloud : kPolicyClouds) {
      if (!threads && number % std::size(kPolicyClouds) != static_cast<std::size_t>(cloud)) continue;
      SCOPED_TRACE("'" + text + "' cloud " + std::to_string(static_cast<int>(cloud)));
      compare(policy_parcels(cloud, 120, 11), policy_grid(), parse_policy(text));
      if (HasFailure()) return;
    }
  }
}

TEST_P(PolicyStepTest, more_parcels_and_steps_merge_as_in_the_oracle) {
  for (const char* text :
       {"crowded:16->8, same:species, within:1cell, place:member, conserve:momentum+energy",
        "small:0.2, members:3, place:member", "small:0.3, pairs, same:species", "small:0.4, greedy:4, same:species"}) {
    SCOPED_TRACE(text);
    compare(policy_parcels(PolicyCloud::uniform, 600, 5), policy_grid(), parse_policy(text), 2);
  }
}

// So many that a rank searches several nearest partners by blocks of cells; fewer are compared one by one.
TEST_P(PolicyStepTest, greedy_pairs_found_by_blocks_of_cells_merge_as_in_the_oracle) {
  if (GetParam().backend != "threads") GTEST_SKIP() << "the search is the same over all models";
  for (const PolicyCloud cloud : {PolicyCloud::uniform, PolicyCloud::lattice}) {
    SCOPED_TRACE("cloud " + std::to_string(static_cast<int>(cloud)));
    compare(policy_parcels(cloud, 3'000, 5), policy_grid(), parse_policy("small:100, greedy:3"));
  }
}

TEST_P(PolicyStepTest, every_choice_of_walls_merges_as_in_the_oracle) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    Grid grid = policy_grid();
    grid.box.periodic = {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
    for (const char* text : {"crowded:8->5, within:1cell, conserve:momentum+energy", "small:0.3, members:3",
                             "small:0.4, phase:uz*0.3, place:member"})
      compare(policy_parcels(PolicyCloud::uniform, 150, bits), grid, parse_policy(text));
  }
}

// Owners follow from numbers of cells, blocks from products: a parcel may lie a rounding error inside a block of which another rank is
// not the owner. There it is as near to a looker close to the face as a parcel with a higher id.
TEST_P(PolicyStepTest, a_partner_beside_the_face_of_its_block_merges_as_in_the_oracle) {
  constexpr double kNear = 0x1p-22;
  constexpr double kRounding = 0x1p-57;  // of a position relative to the box
  const Grid grid{{{-1, 0, 2}, {2, 3, 2}, {true, true, false}}, {8, 1, 1}};
  const Decomposition halves(grid, 2);
  ASSERT_EQ(halves.block(0).upper[0], 0);
  ASSERT_EQ(halves.owner({-kRounding, 1.4, 2.6}), 1);
  Parcels p(policy_schema());
  for (const auto& [id, x, flag] :
       {std::tuple{1, -kRounding, 0.0}, {5, -kRounding - kNear, 1.0}, {9, -kRounding - 2 * kNear, 0.0}}) {
    const std::vector<double> row{std::bit_cast<double>(std::int64_t{id}), 0, 0, 0, 0, 1, flag, 1};
    p.append({x, 1.4, 2.6, 0.1}, row.data());
  }
  for (const char* text : {"mask:flag, pairs", "mask:flag, members:3", "mask:flag, greedy:2"})
    compare(p, grid, parse_policy(text));
}

TEST_P(PolicyStepTest, few_parcels_merge_as_in_the_oracle) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 7U})
    for (const char* text :
         {"small:100, members:2", "small:100, pairs", "small:100, greedy:15", "crowded:1->1", "level:2",
          "crowded:2->2, conserve:momentum+energy", "small:100, conserve:momentum+energy"})
      compare(policy_parcels(PolicyCloud::uniform, n, 3), policy_grid(), parse_policy(text));
}

TEST_P(PolicyStepTest, an_empty_species_merges_as_in_the_oracle) {
  Parcels p = policy_parcels(PolicyCloud::uniform, 150, 3);
  for (std::size_t i = 0; i < p.size(); ++i)
    if (p.column("species")[i] == 1) p.column("species")[i] = -0.0;
  compare(p, policy_grid(), parse_policy("crowded:8->5, same:species, within:1cell"));
}

// Cell lists hold up to 16 species; a rank with more searches its trees, also in the steps that follow.
TEST_P(PolicyStepTest, ranks_and_steps_with_many_and_with_few_species_merge_as_in_the_oracle) {
  const Box box = policy_grid().box;
  for (const char* text : {"mask:flag, same:species", "crowded:8->5, same:species, within:1cell"}) {
    SCOPED_TRACE(text);
    // 20 species on the side of low x, 3 on the other.
    Parcels sides = policy_parcels(PolicyCloud::uniform, 400, 12);
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const bool low = sides.site(i).x < box.lower[0] + 0.5 * box.extent[0];
      sides.column("species")[i] = static_cast<double>(i % (low ? 20 : 3));
    }
    compare(sides, policy_grid(), parse_policy(text), 2);

    // Steps with 3, 20 and 3 species.
    const auto set_species = [](Parcels& p, std::int64_t species) {
      for (std::size_t i = 0; i < p.size(); ++i) p.column("species")[i] = static_cast<double>(p.id(i) % species);
    };
    const Parcels all = policy_parcels(PolicyCloud::uniform, 400, 13);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      ClusterOptions options;
      options.policy = parse_policy(text);
      const Decomposition d = even_blocks(policy_grid(), t.size());
      Clusterer clusterer(t, d, all.schema(), options);
      Parcels mine = owned_parcels(t, all, d);
      Parcels after = all;
      for (const std::int64_t species : {3, 20, 3}) {
        set_species(after, species);
        set_species(mine, species);
        (void)policy_reference(after, policy_grid(), options, options.policy);
        ++options.policy.step;
        (void)clusterer.step(mine);
        clusterer.redistribute(mine);
        Digest got;
        for (const Digest& part : comm::all_gather_value(t, digest(mine))) got += part;
        EXPECT_EQ(got.to_string(), digest(after).to_string()) << species << " species";
      }
      EXPECT_LT(after.size(), all.size());
    });
  }
}

TEST_P(PolicyStepTest, predicates_are_decided_as_in_the_oracle) {
  for (const char* text :
       {"small:0.4, within:1cell", "crowded:8->5, within:1cell, place:member", "small:0.4, within:0.5, pairs",
        "small:100, within:0.8, greedy:3", "mask:flag, within:0.8, greedy:3, place:centre",
        "small:0.4, within:0.6, members:4, conserve:momentum+energy"}) {
    SCOPED_TRACE(text);
    MergePolicy policy = parse_policy(text);
    policy.allowed = [](const Vec3&) { return false; };
    compare(policy_parcels(PolicyCloud::uniform, 100, 8), policy_grid(), policy);
    policy.allowed = [](const Vec3& x) { return x[0] < 1 || x[1] > 2; };
    compare(policy_parcels(PolicyCloud::uniform, 150, 9), policy_grid(), policy);
    policy.allowed = [](const Vec3&) { return true; };
    compare(policy_parcels(PolicyCloud::lattice, 150, 9), policy_grid(), policy);
  }
}

TEST_P(PolicyStepTest, neighbouring_ranks_suffice_for_partners_that_are_near) {
  const cluster::SmallWorld small(1);
  Grid grid = policy_grid();
  grid.cells = {16, 12, 8};
  for (const char* text :
       {"small:0.4, within:0.5cell, members:3", "crowded:2->1, within:0.9cell, place:member",
        "small:0.4, within:0.9cell, pairs", "small:100, within:0.9cell, greedy:5", "small:0.4, within:0.3spacing"})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Parcels all = policy_parcels(PolicyCloud::uniform, 400, 4);
      ClusterOptions options;
      options.policy = parse_policy(text);
      options.lineage = true;
      Parcels after = all;
      const PolicyOutcome want = policy_reference(after, grid, options, options.policy);
      const PolicyRun got = merge_under_policy(t, all, Decomposition(grid, t.size()), options, 1);
      if (t.rank() == 0) expect_as_in_oracle(got, want, after, options.policy);
    });
}

TEST_P(PolicyStepTest, every_parcel_is_accounted_for) {
  for (const char* text : {"small:0.4, members:3", "crowded:8->4, place:member",
                           "crowded:8->4, conserve:momentum+energy", "small:0.4, conserve:momentum+energy"})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d = even_blocks(policy_grid(), t.size());
      Parcels mine = owned_parcels(t, policy_parcels(PolicyCloud::uniform, 300, 2), d);
      ClusterOptions options;
      options.policy = parse_policy(text);
      options.lineage = true;
      Clusterer clusterer(t, d, mine.schema(), options);
      ConservationCheck check(t, mine);
      const StepReport report = clusterer.step(mine);
      check.verify(mine, report.lineage, promise_of(options.policy), report.splits);
      const PolicyNumbers& n = report.policy;
      double sums[] = {n.weight_before, n.weight_after,       n.energy_before,
                       n.energy_after,  n.momentum_before[2], n.momentum_after[2]};
      t.all_reduce(sums, comm::Op::sum);
      EXPECT_NEAR(sums[1], sums[0], 1e-12 * sums[0]);
      EXPECT_NEAR(sums[3], sums[2], 1e-12 * sums[2]);
      EXPECT_NEAR(sums[5], sums[4], 1e-12 * std::max(1.0, std::abs(sums[4])));
      EXPECT_EQ(sums[2] > 0, options.policy.conserve != Conserve::rules);
    });
}

TEST_P(PolicyStepTest, a_distance_in_spacings_is_counted_anew_in_every_step) {
  for (const char* text : {"small:100, within:0.5spacing", "crowded:3->1, within:0.5spacing"})
    for (const PolicyCloud cloud : {PolicyCloud::uniform, PolicyCloud::lattice})
      compare(policy_parcels(cloud, 150, 6), policy_grid(), parse_policy(text), 3);
}

TEST_P(PolicyStepTest, beyond_candidate_ranks_a_distance_in_spacings_is_refused_on_every_rank) {
  const cluster::SmallWorld small(1);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Grid grid = policy_grid();
    std::vector<double> cuts;  // slabs round a periodic axis: of four and more not all touch each other
    for (int r = 1; r < t.size(); ++r) cuts.push_back(grid.box.lower[0] + grid.box.extent[0] * r / t.size());
    const Decomposition d = Decomposition::from_cuts(grid, {cuts, {}, {}});
    ClusterOptions options;
    options.policy = parse_policy("small:100, within:90spacing");
    Clusterer clusterer(t, d, policy_schema(), options);
    Parcels mine = owned_parcels(t, policy_parcels(PolicyCloud::uniform, 100, 3), d);
    std::string refused;
    try {
      clusterer.step(mine);
    } catch (const UsageError& e) {
      refused = e.what();
    }
    EXPECT_EQ(refused.find("allowed: within up to") != std::string::npos, t.size() >= 4) << refused;
  });
}

TEST_P(PolicyStepTest, with_collectives_an_error_of_one_rank_is_thrown_on_every_rank) {
  const Parcels all = policy_parcels(PolicyCloud::uniform, 100, 3);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(policy_grid(), t.size());
    ClusterOptions options;
    options.policy = parse_policy("small:1, within:0.5spacing");
    Clusterer clusterer(t, d, all.schema(), options);
    Parcels mine = owned_parcels(t, all, d);
    if (t.rank() == t.size() - 1) mine.site(0).volume = -1;
    EXPECT_THROW(static_cast<void>(clusterer.step(mine)), InputError);
  });
}

TEST_P(PolicyStepTest, friends_refuse_a_volume_of_one_rank_that_is_not_finite_on_every_rank) {
  const Parcels all = policy_parcels(PolicyCloud::uniform, 100, 3);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(policy_grid(), t.size());
    ClusterOptions options;
    options.policy = parse_policy("friends:0.3");
    Clusterer clusterer(t, d, all.schema(), options);
    Parcels mine = owned_parcels(t, all, d);
    if (t.rank() == t.size() - 1) mine.site(0).volume = std::numeric_limits<double>::infinity();
    EXPECT_THROW(static_cast<void>(clusterer.step(mine)), InputError);
  });
}

TEST_P(PolicyStepTest, what_is_not_supported_is_refused) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(policy_grid(), t.size());
    const auto make = [&](const char* text, const auto& change) {
      ClusterOptions options;
      options.policy = parse_policy(text);
      change(options);
      const Clusterer clusterer(t, d, policy_schema(), options);
    };
    const auto nothing = [](ClusterOptions&) {};
    for (const char* text : {"friends:0.3, conserve:momentum", "same:ux", "mask:none"})
      EXPECT_THROW(make(text, nothing), UsageError) << text;
    EXPECT_THROW(make("small:1", [](ClusterOptions& o) { o.search = Search::cells8; }), UsageError);
    EXPECT_THROW(make("small:1", [](ClusterOptions& o) { o.prune = Prune::iterative; }), UsageError);
    if (t.size() > 1) {
      EXPECT_THROW(make("small:1", [&](ClusterOptions& o) { o.policy.seed = static_cast<std::uint64_t>(t.rank()); }),
                   UsageError);
    }
  });
}

TEST_P(PolicyStepTest, columns_that_hold_no_integer_are_refused) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(policy_grid(), t.size());
    Parcels all = policy_parcels(PolicyCloud::uniform, 50, 2);
    for (std::size_t i = 0; i < all.size(); ++i) all.column("species")[i] = 0.5;
    Parcels mine = owned_parcels(t, all, d);
    ClusterOptions options;
    options.policy = parse_policy("small:1, same:species");
    Clusterer clusterer(t, d, mine.schema(), options);
    if (mine.size() > 0) {
      EXPECT_THROW(clusterer.step(mine), InputError);
    }
  });
}

TEST_P(PolicyStepTest, parcels_stay_after_an_error_of_their_columns) {
  for (const char* text :
       {"small:1, same:species", "small:1, same:species, within:0.5spacing", "small:1, phase:ux*0.3"})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d = even_blocks(policy_grid(), t.size());
      Parcels all = policy_parcels(PolicyCloud::uniform, 200, 2);
      for (std::size_t i = 0; i < all.size(); ++i) {
        all.column("species")[i] = 0.5;
        all.column("ux")[i] = std::numeric_limits<double>::infinity();
      }
      Parcels mine = owned_parcels(t, all, d);
      ClusterOptions options;
      options.policy = parse_policy(text);
      Clusterer clusterer(t, d, mine.schema(), options);
      if (mine.size() == 0 && !options.policy.has_collectives()) return;
      const std::string before = digest(mine).to_string();
      for (int i = 0; i < 2; ++i) {
        EXPECT_THROW(clusterer.step(mine), InputError) << text;
        EXPECT_EQ(digest(mine).to_string(), before) << text;
      }
    });
}

// On one rank, since the others would wait for one whose predicate throws.
TEST_P(PolicyStepTest, parcels_stay_after_an_error_of_the_predicate) {
  if (GetParam().ranks > 1) return;
  for (const char* text : {"small:100, within:1", "crowded:4->2, within:1, conserve:momentum+energy"})
    for (const int calls : {0, 5, 40})
      on_ranks(GetParam(), [&](comm::Transport& t) {
        Parcels mine = policy_parcels(PolicyCloud::uniform, 300, 2);
        double volume = 0;
        for (std::size_t i = 0; i < mine.size(); ++i) volume += mine.site(i).volume;
        ClusterOptions options;
        options.policy = parse_policy(text);
        int left = calls;
        options.policy.allowed = [&](const Vec3&) {
          if (left-- == 0) throw UsageError("no more");
          return true;
        };
        Clusterer clusterer(t, Decomposition(policy_grid(), 1), mine.schema(), options);
        EXPECT_THROW(clusterer.step(mine), UsageError) << text;
        double after = 0;
        for (std::size_t i = 0; i < mine.size(); ++i) after += mine.site(i).volume;
        EXPECT_NEAR(after, volume, 1e-12 * volume) << text << " after " << calls;
        left = -1;
        EXPECT_GT(clusterer.step(mine).merged, 0) << text;
      });
}

TEST_P(PolicyStepTest, splitting_of_many_cells_and_steps_is_as_in_the_oracle) {
  for (const char* text : {"none, split:12", "crowded:12->6, split:5, place:member, along:velocity",
                           "small:0.2, split:20, conserve:momentum+energy"}) {
    SCOPED_TRACE(text);
    compare(policy_parcels(PolicyCloud::uniform, 200, 5), policy_grid(), parse_policy(text), 3);
    compare(policy_parcels(PolicyCloud::corner, 40, 6), policy_grid(), parse_policy(text), 2);
    compare(policy_parcels(PolicyCloud::uniform, 0, 6), policy_grid(), parse_policy(text), 1);
  }
}

TEST_P(PolicyStepTest, ids_in_the_range_of_new_parcels_are_refused) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(policy_grid(), t.size());
    const Parcels all = policy_parcels(PolicyCloud::uniform, 200, 2);
    Parcels mine = owned_parcels(t, all, d);
    ClusterOptions options;
    // Ids of the parcels are up to 100003.
    for (const char* text : {"none, split:3, ids:5", "none, split:3, ids:9223372036854775806"}) {
      options.policy = parse_policy(text);
      Clusterer clusterer(t, d, all.schema(), options);
      const std::string before = digest(mine).to_string();
      if (mine.size() > 0) {
        EXPECT_ANY_THROW(clusterer.step(mine)) << text;
      }
      EXPECT_EQ(digest(mine).to_string(), before) << text;
    }
  });
}

}  // namespace
