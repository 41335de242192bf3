// Splitting under a merge policy: promises about cells, places, moments and ids, alone and together with merging.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/policy_reference.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Returns the numbers of parcels by cell of the grid of the cases.
std::map<std::array<std::int64_t, 3>, std::int64_t> counts(const Parcels& p, const Grid& grid) {
  std::map<std::array<std::int64_t, 3>, std::int64_t> out;
  for (std::size_t i = 0; i < p.size(); ++i)
    ++out[{grid.cell(0, p.site(i).x), grid.cell(1, p.site(i).y), grid.cell(2, p.site(i).z)}];
  return out;
}

/// Returns the sums of volume, of volume times position and momentum, and of charges.
std::array<double, 8> moments_of(const Parcels& p) {
  std::array<double, 8> out{};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const Site& s = p.site(i);
    const double terms[] = {1, s.x, s.y, s.z, p.column("ux")[i], p.column("uy")[i], p.column("uz")[i]};
    for (std::size_t k = 0; k < 7; ++k) out[k] += s.volume * terms[k];
    out[7] += p.column("charges")[i];
  }
  return out;
}

TEST(Splitting, gives_every_cell_that_has_a_parcel_its_number_and_keeps_moments) {
  Grid grid = policy_grid();
  grid.box.periodic = {false, false, false};  // first moments change where places wrap
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const char* text : {"none, split:7", "none, split:7, along:velocity", "none, split:40, seed:9"}) {
      SCOPED_TRACE(std::string(text) + " cloud " + std::to_string(static_cast<int>(cloud)));
      const Parcels before = policy_parcels(cloud, 60, 4);
      Parcels after = before;
      const MergePolicy policy = parse_policy(text);
      const PolicyOutcome out = policy_reference(after, grid, {}, policy);
      std::int64_t want = 0;
      for (const auto& [cell, count] : counts(before, grid))
        want += std::max<std::int64_t>(policy.split_below - count, 0);
      EXPECT_EQ(out.report.policy.split, want);
      EXPECT_EQ(static_cast<std::int64_t>(after.size() - before.size()), want);
      for (std::size_t i = 0; i < after.size(); ++i) {
        const Site& s = after.site(i);
        for (const auto& [x, axis] : {std::pair(s.x, 0), std::pair(s.y, 1), std::pair(s.z, 2)}) {
          EXPECT_GE(x, grid.box.lower[static_cast<std::size_t>(axis)]);
          EXPECT_LE(x,
                    grid.box.lower[static_cast<std::size_t>(axis)] + grid.box.extent[static_cast<std::size_t>(axis)]);
        }
      }
      const auto a = moments_of(before);
      const auto b = moments_of(after);
      for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-12 * (1 + std::abs(a[0]))) << k;
    }
}

TEST(Splitting, takes_the_heaviest_first) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {1, 1, 1}};
  Parcels p{Schema()};
  for (const auto& [id, volume] : {std::pair{1, 8.0}, {2, 4.0}, {3, 1.0}}) {
    const double row[] = {std::bit_cast<double>(std::int64_t{id})};
    p.append({0.1 * id, 0.5, 0.5, volume}, row);
  }
  const PolicyOutcome out = policy_reference(p, grid, {}, parse_policy("none, split:7, ids:100"));
  // 8 4 1 -> 4 4 4 1 -> the lowest id of those of 4, and so on: 2 2 2 2 2 2 1.
  std::vector<std::pair<std::int64_t, std::int64_t>> got;
  for (const auto& [child, parent] : out.report.splits) got.emplace_back(child, parent);
  EXPECT_EQ(got, (std::vector<std::pair<std::int64_t, std::int64_t>>{{100, 1}, {101, 1}, {102, 2}, {103, 100}}));
  std::multiset<double> volumes;
  for (std::size_t i = 0; i < p.size(); ++i) volumes.insert(p.site(i).volume);
  EXPECT_EQ(volumes, (std::multiset<double>{1, 2, 2, 2, 2, 2, 2}));
}

TEST(Splitting, along_the_velocity_puts_children_along_it) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {1, 1, 1}};
  Parcels p(policy_schema());
  const double row[] = {std::bit_cast<double>(std::int64_t{1}), 3, -4, 0, 0, 1, 0, 1};
  p.append({0.5, 0.5, 0.5, 1}, row);
  policy_reference(p, grid, {}, parse_policy("none, split:2, along:velocity"));
  ASSERT_EQ(p.size(), 2U);
  const double dx = p.site(0).x - p.site(1).x;
  const double dy = p.site(0).y - p.site(1).y;
  EXPECT_NEAR(dx * -4, dy * 3, 1e-15);
  EXPECT_GT(std::hypot(dx, dy), 0.1);
  EXPECT_EQ(p.site(0).z, 0.5);
}

// A component that is not finite gives no direction: the parcel splits as one at rest.
TEST(Splitting, along_a_velocity_that_is_not_finite_is_as_at_rest) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {1, 1, 1}};
  const auto split = [&](double ux, double uy) {
    Parcels p(policy_schema());
    const double row[] = {std::bit_cast<double>(std::int64_t{1}), ux, uy, 0, 0, 1, 0, 1};
    p.append({0.5, 0.5, 0.5, 1}, row);
    policy_reference(p, grid, {}, parse_policy("none, split:2, along:velocity"));
    return p;
  };
  const Parcels at_rest = split(0, 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [ux, uy] : {std::pair{3.0, nan}, {nan, -4.0}, {nan, nan}, {1.0, infinity}, {-infinity, nan}}) {
    const Parcels p = split(ux, uy);
    ASSERT_EQ(p.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(p.site(i).x, at_rest.site(i).x) << ux << ' ' << uy;
      EXPECT_EQ(p.site(i).y, at_rest.site(i).y) << ux << ' ' << uy;
      EXPECT_EQ(p.site(i).z, at_rest.site(i).z) << ux << ' ' << uy;
    }
  }
}

TEST(Splitting, along_the_longest_axis_conserves_second_moments) {
  Grid grid{{{0, 0, 0}, {4, 4, 4}, {false, false, false}}, {1, 1, 1}};
  Parcels p(Schema::epic());
  const std::size_t shape = p.schema().offset("B");
  std::vector<double> row(p.schema().width(), 0.0);
  row[0] = std::bit_cast<double>(std::int64_t{1});
  row[shape] = 0.04;  // semi-axes 0.2, 0.1 and what the volume gives
  row[shape + 3] = 0.01;
  const double volume = 4.0 / 3 * 3.14159265358979 * 0.2 * 0.1 * 0.1;
  p.append({2, 2, 2, volume}, row.data());
  policy_reference(p, grid, {}, parse_policy("none, split:2, along:axis"));
  ASSERT_EQ(p.size(), 2U);
  double second = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double x = p.site(i).x - 2;
    second += p.site(i).volume * (x * x + p.row(i)[shape] / 5);  // of a homogeneous ellipsoid
  }
  EXPECT_NEAR(second, volume * 0.04 / 5, 1e-15);
}

TEST(Splitting, ends_where_ids_or_volumes_end) {
  const Grid grid = policy_grid();
  Parcels p = policy_parcels(PolicyCloud::uniform, 5, 1);
  MergePolicy policy = parse_policy("none, split:3");
  policy.step = std::uint64_t{1} << 62;
  EXPECT_THROW(policy_reference(p, grid, {}, policy), UsageError);
  policy.step = 0;
  for (std::size_t i = 0; i < p.size(); ++i) p.site(i).volume = 1.5e-120;
  EXPECT_EQ(policy_reference(p, grid, {}, policy).report.policy.split, 0);
}

// A population that streams through a box with walls along z is held between two numbers in each cell, but for children that have left theirs, and its weight, centre and
// momentum stay what they are. Momenta are turned, not changed in size, so that the energy tells too.
TEST(Splitting, with_merging_holds_a_population_between_two_numbers_over_many_steps) {
  const Grid grid{{{0, 0, 0}, {3, 2, 2}, {true, true, true}}, {3, 2, 2}};
  const auto transport = comm::open_alone();
  const Decomposition blocks(grid, 1);
  Parcels p(policy_schema());
  for (std::int64_t i = 0; i < 120; ++i) {
    const double row[] = {std::bit_cast<double>(i), i % 2 == 0 ? 1.0 : -1.0, 0.3, i % 3 == 0 ? 0.5 : -0.25, 0, 1, 0, 1};
    p.append({std::fmod(0.37 * static_cast<double>(i), 3), std::fmod(0.73 * static_cast<double>(i), 2),
              std::fmod(0.11 * static_cast<double>(i), 2), 0.1},
             row);
  }
  ClusterOptions options;
  options.policy = parse_policy("crowded:12->8, split:6, place:member, conserve:momentum+energy, seed:4");
  Clusterer clusterer(*transport, blocks, p.schema(), options);
  const auto first = moments_of(p);
  std::int64_t merged = 0;
  std::int64_t split = 0;
  std::int64_t fewest = 1000;
  std::int64_t most = 0;
  std::int64_t outside = 0;
  for (int step = 0; step < 1000; ++step) {
    const StepReport report = clusterer.step(p);
    merged += report.merged;
    split += report.policy.split;
    EXPECT_NEAR(report.policy.energy_after, report.policy.energy_before, 1e-12 * report.policy.energy_before);
    for (const auto& [cell, count] : counts(p, grid)) {
      fewest = std::min(fewest, count);
      most = std::max(most, count);
      outside += count < 6 || count > 12 ? 1 : 0;
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
      Site& s = p.site(i);
      s.x = grid.box.wrap(0, s.x + 0.05 * p.column("ux")[i]);
      s.y = grid.box.wrap(1, s.y + 0.05 * p.column("uy")[i]);
      s.z = grid.box.wrap(2, s.z + 0.05 * p.column("uz")[i]);
    }
  }
  // Children that have left their cell count in the next step.
  std::printf("%ld to %ld in a cell, %ld of 12000 outside 6 to 12\n", static_cast<long>(fewest),
              static_cast<long>(most), static_cast<long>(outside));
  EXPECT_GE(fewest, 1);
  EXPECT_LE(most, 18);
  EXPECT_LT(outside, 1200);
  EXPECT_GT(merged, 1000);
  EXPECT_GT(split, 1000);
  const auto last = moments_of(p);
  for (const std::size_t k : {0U, 4U, 5U, 6U, 7U}) EXPECT_NEAR(last[k], first[k], 1e-11 * first[0]) << k;
}

}  // namespace
