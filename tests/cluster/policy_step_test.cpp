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
#include "tests/cluster/policy_cases.hpp"
#include "tests/cluster/share.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Result of steps over all ranks.
struct PolicyRun {
  Digest digest;
  StepReport report;
};

/// Returns a decomposition by cells, or by equal cuts along y where the grid has no blocks of cells for that many ranks.
Decomposition even_blocks(const Grid& grid, int ranks) {
  if (ranks <= 4) return Decomposition(grid, ranks);
  std::vector<double> cuts;
  for (int r = 1; r < ranks; ++r) cuts.push_back(grid.box.lower[1] + grid.box.extent[1] * r / ranks);
  return Decomposition::from_cuts(grid, {std::vector<double>(), cuts, std::vector<double>()});
}

/// Returns whether merge steps support a policy.
bool is_supported(const MergePolicy& p) { return !(p.is_friends() && p.conserve != Conserve::rules); }

/// Returns the policies of the cases that merge steps support, and more.
std::vector<std::string> supported_texts() {
  std::vector<std::string> out;
  for (const std::string& text : policy_texts())
    if (is_supported(parse_policy(text))) out.push_back(text);
  out.insert(out.end(), {"small:100, greedy:15", "small:100, greedy:1, members:2, same:species",
                         "mask:flag, greedy:4, within:0.7, place:heaviest", "small:100, greedy:5, phase:ux*0.3+uy*0.2",
                         "crowded:4->2, greedy:6, conserve:momentum, mass:mass",
                         "small:0.5, members:4, weight:0.9, place:heaviest", "mask:flag, pairs, members:3",
                         "crowded:5->3@0.4, conserve:momentum+energy, mass:mass", "crowded:4->2, rounds:2",
                         "small:100, phase:ux*0.3+uy*0.2, same:species, members:3, place:member"});
  return out;
}

/// Makes steps over all ranks, each with the parcels of its block, and gathers the outcome of the last. Collective.
PolicyRun merge_under_policy(comm::Transport& t, const Parcels& all, const Decomposition& d,
                             const ClusterOptions& options, int steps) {
  Parcels mine = owned_parcels(t, all, d);
  Clusterer clusterer(t, d, all.schema(), options);
  PolicyRun o;
  StepReport report;
  for (int i = 0; i < steps; ++i) {
    report = clusterer.step(mine);
    if (!options.policy.has_collectives()) {
      EXPECT_EQ(report.counters.collectives, 0);
    } else {
      EXPECT_GT(report.counters.collectives, 0);
    }
    clusterer.redistribute(mine);
  }
  EXPECT_EQ(clusterer.policy_step(), options.policy.is_default() ? 0U : static_cast<unsigned>(steps));
  const StepNumbers& numbers = report;
  for (const StepNumbers& n : comm::all_gather_value(t, numbers)) o.report += StepReport{n, {}, {}};
  for (const Digest& part : comm::all_gather_value(t, digest(mine))) o.digest += part;
  std::vector<std::int64_t> clusters(all.size() + 2, 0);
  for (const auto& [members, count] : report.clusters) clusters[static_cast<std::size_t>(members)] = count;
  t.all_reduce(clusters, comm::Op::sum);
  for (std::size_t members = 0; members < clusters.size(); ++members)
    if (clusters[members] > 0) o.report.clusters[static_cast<int>(members)] = clusters[members];
  std::vector<std::int64_t> pairs;
  for (const auto& p : report.lineage) pairs.insert(pairs.end(), {p.source, p.centre});
  const auto from = t.all_gather(std::as_bytes(std::span(pairs)));
  for (const auto& bytes : from)
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(StepReport::MergedPair)) {
      StepReport::MergedPair p;
      std::memcpy(&p, bytes.data() + at, sizeof p);
      o.report.lineage.push_back(p);
    }
  return o;
}

std::map<std::int64_t, std::int64_t> lineage_map(const StepReport& report) {
  std::map<std::int64_t, std::int64_t> out;
  for (const auto& p : report.lineage) out[p.source] = p.centre;
  EXPECT_EQ(out.size(), report.lineage.size());
  return out;
}

void expect_as_in_oracle(const PolicyRun& got, const PolicyOutcome& want, const Parcels& after,
                         const MergePolicy& policy) {
  EXPECT_EQ(got.digest.to_string(), digest(after).to_string());
  EXPECT_EQ(got.report.before, want.report.before);
  EXPECT_EQ(got.report.merged, want.report.merged);
  EXPECT_EQ(got.report.after, want.report.after);
  if (policy.is_default()) return;
  EXPECT_EQ(got.report.small, want.report.small);
  EXPECT_EQ(got.report.unmatched, want.report.unmatched);
  EXPECT_EQ(got.report.clusters, want.report.clusters);
  if (!policy.is_friends()) {
    EXPECT_EQ(got.report.policy.rounds, want.rounds);
  }
  EXPECT_EQ(got.report.policy.unsettled, want.settled ? 0 : 1);
  EXPECT_EQ(got.report.policy.refused, want.refused);
  EXPECT_EQ(got.report.policy.undone, want.undone);
  EXPECT_EQ(got.report.policy.split, want.report.policy.split);
  EXPECT_EQ(lineage_map(got.report), lineage_map(want.report));
}

class PolicyStepTest : public testing::TestWithParam<Setup> {
 protected:
  /// Compares steps under a policy, with several decompositions, with the oracle.
  void compare(const Parcels& all, const Grid& grid, const MergePolicy& policy, int steps = 1) {
    ClusterOptions options;
    options.min_volume_ratio = 5;
    options.lineage = true;
    Parcels after = all;
    PolicyOutcome want;
    options.policy = policy;
    MergePolicy p = policy;
    for (int i = 0; i < steps; ++i) {
      want = policy_reference(after, grid, options, p);
      ++p.step;
    }
    on_ranks(GetParam(), [&](comm::Transport& t) {
      std::vector<Decomposition> all_of_them{even_blocks(grid, t.size())};
      std::vector<double> cuts;
      for (int r = 1; r < t.size(); ++r)
        cuts.push_back(grid.box.lower[0] + grid.box.extent[0] * (0.1 + 0.83 * r / t.size()));
      all_of_them.push_back(Decomposition::from_cuts(grid, {cuts, {}, {}}));
      for (const Decomposition& d : all_of_them) {
        SCOPED_TRACE(d.describe() + (d.is_by_cells() ? "" : " by cuts"));
        const PolicyRun got = merge_under_policy(t, all, d, options, steps);
        if (t.rank() == 0) expect_as_in_oracle(got, want, after, policy);
      }
    });
  }
};
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

TEST_P(PolicyStepTest, every_choice_of_walls_merges_as_in_the_oracle) {
  for (unsigned bits = 0; bits < 8; ++bits) {
    Grid grid = policy_grid();
    grid.box.periodic = {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
    for (const char* text : {"crowded:8->5, within:1cell, conserve:momentum+energy", "small:0.3, members:3",
                             "small:0.4, phase:uz*0.3, place:member"})
      compare(policy_parcels(PolicyCloud::uniform, 150, bits), grid, parse_policy(text));
  }
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

// Cells no longer than the policy's length, or none: more than can be numbered are refused by the step and by the oracle.
TEST_P(PolicyStepTest, crowded_cells_that_cannot_be_numbered_are_refused) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, true, true}}, {4, 4, 4}};
  const Parcels all = policy_parcels(PolicyCloud::one_point, 4, 1);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d = even_blocks(grid, t.size());
    for (const char* text : {"crowded:1->1@2e-7", "crowded:2->2@1e-9, split:2", "crowded:1->1@3e-7",
                             "crowded:2->2@1e-6, split:2", "crowded:1->1@1e-320"}) {
      ClusterOptions options;
      options.policy = parse_policy(text);
      EXPECT_THROW(Clusterer(t, d, policy_schema(), options), UsageError) << text;
      Parcels mine = all;
      EXPECT_THROW(policy_reference(mine, grid, {}, options.policy), UsageError) << text;
    }
    ClusterOptions options;
    options.policy = parse_policy("crowded:1->1@4e-6");
    EXPECT_NO_THROW(Clusterer(t, d, policy_schema(), options));
  });
}

// Squares of such differences overflow, and all partners would be equally far.
TEST_P(PolicyStepTest, phase_columns_whose_squares_overflow_are_refused) {
  for (const char* text : {"small:1, phase:ux*1e200", "small:1, phase:ux*1e151, within:0.5spacing"})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d = even_blocks(policy_grid(), t.size());
      Parcels all = policy_parcels(PolicyCloud::uniform, 100, 2);
      for (std::size_t i = 0; i < all.size(); ++i) all.column("ux")[i] = i % 2 == 0 ? 1 : -1;
      Parcels mine = owned_parcels(t, all, d);
      ClusterOptions options;
      options.policy = parse_policy(text);
      Clusterer clusterer(t, d, mine.schema(), options);
      EXPECT_THROW(policy_reference(all, policy_grid(), {}, options.policy), InputError) << text;
      if (mine.size() == 0 && !options.policy.has_collectives()) return;
      EXPECT_THROW(clusterer.step(mine), InputError) << text;
    });
  compare(policy_parcels(PolicyCloud::uniform, 60, 2), policy_grid(), parse_policy("small:0.3, phase:ux*1e140"));
}

/// Returns parcels with the bits of integers in the columns of species, mass and flag.
Parcels with_bits(Parcels p) {
  for (const char* column : {"species", "mass", "flag"})
    for (std::size_t i = 0; i < p.size(); ++i)
      p.column(column)[i] = std::bit_cast<double>(static_cast<std::int64_t>(p.column(column)[i]));
  return p;
}

// The oracle is compared with itself on doubles, then the step with the oracle.
TEST_P(PolicyStepTest, columns_that_hold_bits_of_integers_are_read_as_these_integers) {
  for (const char* text :
       {"small:0.3, same:species", "mask:flag, same:species", "small:0.3, phase:flag*10+species*0.3",
        "small:0.3, conserve:momentum+energy, mass:mass", "friends:0.8spacing, same:species",
        "none, split:9, along:velocity, momentum:species+mass+flag", "crowded:8->5, phase:mass*0.2, greedy:2"}) {
    SCOPED_TRACE(text);
    Parcels all = policy_parcels(PolicyCloud::uniform, 120, 3);
    for (std::size_t i = 0; i < all.size(); ++i) all.column("species")[i] -= 2;  // whose bits are no number
    MergePolicy policy = parse_policy(text);
    Parcels plain = all;
    policy_reference(plain, policy_grid(), {}, policy);
    policy.integers = {{"species"}, {"mass"}, {"flag"}};
    Parcels bits = with_bits(all);
    policy_reference(bits, policy_grid(), {}, policy);
    EXPECT_NE(bits.size(), all.size());
    EXPECT_EQ(digest(bits).to_string(), digest(with_bits(plain)).to_string());
    compare(with_bits(all), policy_grid(), policy, 2);
  }
}

TEST_P(PolicyStepTest, integers_that_no_double_represents_are_refused) {
  for (const char* text :
       {"small:1, same:species", "small:1, phase:species*1e-9", "mask:species", "friends:0.3, same:species"})
    for (const bool is_signed : {true, false})
      on_ranks(GetParam(), [&](comm::Transport& t) {
        const Decomposition d = even_blocks(policy_grid(), t.size());
        Parcels all = policy_parcels(PolicyCloud::uniform, 100, 2);
        const std::int64_t value = is_signed ? -(std::int64_t{1} << 53) - 1 : -1;
        for (std::size_t i = 0; i < all.size(); ++i) all.column("species")[i] = std::bit_cast<double>(value);
        Parcels mine = owned_parcels(t, all, d);
        ClusterOptions options;
        options.policy = parse_policy(text);
        options.policy.integers = {{"species", 0, is_signed}};
        Clusterer clusterer(t, d, mine.schema(), options);
        EXPECT_THROW(policy_reference(all, policy_grid(), {}, options.policy), InputError) << text;
        if (mine.size() == 0 && !options.policy.has_collectives()) return;
        EXPECT_THROW(clusterer.step(mine), InputError) << text;
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
