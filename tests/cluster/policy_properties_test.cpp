// Promises of merge policies, on random and adversarial input, for the serial oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "merganser/cluster/policy_reference.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/cluster/policy_arithmetic.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Calls f(cloud, parcels, policy) for every case. @param n  number of parcels
template <class F>
void for_each_case(std::size_t n, const F& f) {
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const std::string& text : policy_texts()) {
      SCOPED_TRACE("'" + text + "' cloud " + std::to_string(static_cast<int>(cloud)));
      f(policy_parcels(cloud, n, 11), parse_policy(text));
    }
}

/// Returns the sums of volume, momentum, kinetic energy and charges of parcels.
std::array<double, 6> policy_sums(const Parcels& p, const MergePolicy& policy) {
  MergePolicy energy = policy;
  if (energy.conserve == Conserve::rules) energy = parse_policy("conserve:momentum");
  const cluster::PolicyColumns columns(energy, p.schema());
  std::array<double, 6> out{};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double v = p.site(i).volume;
    out[0] += v;
    for (std::size_t a = 0; a < 3; ++a) out[1 + a] += v * p.row(i)[columns.momentum[a]];
    out[4] += v * cluster::kinetic_energy(energy, columns, p.row(i));
    out[5] += p.column("charges")[i];
  }
  return out;
}

/// Returns the numbers of parcels by cell of a policy's grid of crowded cells.
std::map<std::array<std::int64_t, 3>, std::int64_t> counts(const Parcels& p, const MergePolicy& policy) {
  const Grid grid = cluster::crowd_grid(policy, policy_grid());
  std::map<std::array<std::int64_t, 3>, std::int64_t> out;
  for (std::size_t i = 0; i < p.size(); ++i)
    ++out[{grid.cell(0, p.site(i).x), grid.cell(1, p.site(i).y), grid.cell(2, p.site(i).z)}];
  return out;
}

TEST(PolicyProperties, the_result_does_not_depend_on_the_order_of_parcels) {
  for_each_case(120, [](const Parcels& before, const MergePolicy& policy) {
    std::vector<std::size_t> order(before.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(3));
    Parcels a = before;
    Parcels b(before.schema());
    for (const std::size_t i : order) b.append(before.site(i), before.row(i));
    const PolicyOutcome x = policy_reference(a, policy_grid(), {}, policy);
    const PolicyOutcome y = policy_reference(b, policy_grid(), {}, policy);
    EXPECT_EQ(digest(a).to_string(), digest(b).to_string());
    EXPECT_EQ(x.rounds, y.rounds);
    EXPECT_EQ(x.refused, y.refused);
    EXPECT_EQ(x.groups, y.groups);
    EXPECT_EQ(x.winding, y.winding);
    EXPECT_EQ(x.report.clusters, y.report.clusters);
    EXPECT_EQ(x.report.unmatched, y.report.unmatched);
  });
}

TEST(PolicyProperties, what_a_policy_conserves_is_conserved) {
  for_each_case(150, [](const Parcels& before, const MergePolicy& policy) {
    if (policy.level_ratio > 0) return;
    Parcels after = before;
    policy_reference(after, policy_grid(), {}, policy);
    const auto want = policy_sums(before, policy);
    const auto got = policy_sums(after, policy);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 1e-12 * (want[0] + want[4]));
    EXPECT_NEAR(got[5], want[5], 1e-10);
    if (policy.conserve == Conserve::momentum_energy) {
      EXPECT_NEAR(got[4], want[4], 1e-12 * want[4]);
    } else {
      EXPECT_LE(got[4], want[4] * (1 + 1e-12));
    }
  });
}

TEST(PolicyProperties, every_parcel_is_held_by_one_of_the_output) {
  for_each_case(150, [](const Parcels& before, const MergePolicy& policy) {
    if (policy.level_ratio > 0) return;
    Parcels after = before;
    const PolicyOutcome out = policy_reference(after, policy_grid(), {}, policy);
    std::set<std::int64_t> ids;
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_TRUE(ids.insert(after.id(i)).second);
    std::set<std::int64_t> gone;
    for (const auto& [source, centre] : out.report.lineage) {
      EXPECT_TRUE(gone.insert(source).second);
      EXPECT_EQ(ids.count(source), 0U);
      EXPECT_EQ(ids.count(centre), 1U);
    }
    std::set<std::int64_t> born;
    for (const auto& [child, parent] : out.report.splits) {
      EXPECT_TRUE(born.insert(child).second);
      EXPECT_EQ(ids.count(child), 1U);
      EXPECT_EQ(ids.count(parent), 1U);
    }
    EXPECT_EQ(ids.size() - born.size() + gone.size(), before.size());
    EXPECT_EQ(out.report.merged, static_cast<std::int64_t>(gone.size()));
  });
}

TEST(PolicyProperties, columns_that_partners_share_are_those_of_the_input) {
  for_each_case(150, [](const Parcels& before, const MergePolicy& policy) {
    if (policy.same.empty()) return;
    std::map<std::int64_t, double> species;
    for (std::size_t i = 0; i < before.size(); ++i) species[before.id(i)] = before.column("species")[i];
    Parcels after = before;
    const PolicyOutcome out = policy_reference(after, policy_grid(), {}, policy);
    for (const auto& [source, centre] : out.report.lineage) EXPECT_EQ(species.at(source), species.at(centre));
    for (const auto& [child, parent] : out.report.splits) species[child] = species.at(parent);
    for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(species.at(after.id(i)), after.column("species")[i]);
  });
}

TEST(PolicyProperties, limits_of_members_and_weight_hold) {
  for_each_case(150, [](const Parcels& before, const MergePolicy& policy) {
    if (policy.conserve == Conserve::momentum_energy) return;
    Parcels after = before;
    policy_reference(after, policy_grid(), {}, policy);
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (policy.max_members > 0) {
        EXPECT_LE(after.column("charges")[i], static_cast<double>(policy.max_members));
      }
      if (policy.max_weight > 0) {
        EXPECT_LE(after.site(i).volume, policy.max_weight * (1 + 1e-15));
      }
    }
  });
}

TEST(PolicyProperties, crowded_cells_are_thinned_unless_nothing_can_merge) {
  for_each_case(150, [](const Parcels& before, const MergePolicy& policy) {
    if (policy.looker != Looker::crowded || policy.split_below > 0) return;  // children may go to full cells
    Parcels after = before;
    const PolicyOutcome out = policy_reference(after, policy_grid(), {}, policy);
    // Where all distances are equal, all links lead to the lowest id: one mutual pair in a round.
    if (policy.form == MergeForm::mutual_pairs && !out.settled) return;
    EXPECT_TRUE(out.settled);
    std::int64_t most = 0;
    for (const auto& [cell, count] : counts(after, policy)) most = std::max(most, count);
    const bool free = policy.same.empty() && policy.within.value == 0 && policy.max_members == 0;
    if (free) {
      EXPECT_LE(most, policy.crowded_above);
    }
  });
}

TEST(PolicyProperties, members_of_a_cell_merge_in_a_round_at_most_down_to_the_target) {
  for_each_case(150, [](const Parcels& before, MergePolicy policy) {
    if (policy.looker != Looker::crowded) return;
    policy.max_rounds = 1;
    policy.split_below = 0;
    policy.split_along = SplitAlong::random;
    Parcels after = before;
    policy_reference(after, policy_grid(), {}, policy);
    std::set<std::int64_t> ids;
    for (std::size_t i = 0; i < after.size(); ++i) ids.insert(after.id(i));
    Parcels staying(before.schema());
    for (std::size_t i = 0; i < before.size(); ++i)
      if (ids.count(before.id(i)) > 0) staying.append(before.site(i), before.row(i));
    if (policy.conserve == Conserve::momentum_energy) return;  // ids that stay are the lowest, not those of the centres
    auto left = counts(staying, policy);
    for (const auto& [cell, count] : counts(before, policy)) {
      if (count > policy.crowded_above) {
        EXPECT_GE(left[cell], policy.crowded_target);
      } else {
        EXPECT_EQ(left[cell], count);
      }
    }
  });
}

TEST(PolicyProperties, levelled_weights_are_the_level_or_above) {
  for (const PolicyCloud cloud : kPolicyClouds) {
    const Parcels before = policy_parcels(cloud, 150, 11);
    Parcels after = before;
    policy_reference(after, policy_grid(), {}, parse_policy("level:1"));
    EXPECT_LE(after.size(), before.size());
    EXPECT_GT(after.size(), 0U);
  }
}

}  // namespace
