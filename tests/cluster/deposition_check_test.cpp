/// Weight deposited on grid nodes: against a direct sum, and what merging and splitting change of it.
#include "merganser/cluster/deposition_check.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "merganser/cluster/policy_reference.hpp"
#include "merganser/comm/open.hpp"
#include "tests/cluster/policy_cases.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class DepositionCheckTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, DepositionCheckTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns this rank's part of parcels, distributed in turns: the check needs no owners.
Parcels part(const comm::Transport& t, const Parcels& all) {
  Parcels mine(all.schema());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i) % t.size() == t.rank()) mine.append(all.site(i), all.row(i));
  return mine;
}

/// Returns the weight of each node by the distances of all parcels and nodes: max(0, 1 - |d| / h) along each axis.
std::map<std::array<std::int64_t, 3>, double> slow_weights(const Parcels& p, const Grid& grid) {
  std::map<std::array<std::int64_t, 3>, double> out;
  const auto count = [&](int a) { return grid.cells[a] + (grid.box.periodic[a] ? 0 : 1); };
  for (std::int64_t x = 0; x < count(0); ++x)
    for (std::int64_t y = 0; y < count(1); ++y)
      for (std::int64_t z = 0; z < count(2); ++z)
        for (std::size_t i = 0; i < p.size(); ++i) {
          const double at[] = {p.site(i).x, p.site(i).y, p.site(i).z};
          const std::int64_t node[] = {x, y, z};
          double w = p.site(i).volume;
          for (int a = 0; a < 3; ++a) {
            double d = std::fabs(at[a] - grid.box.lower[a] - static_cast<double>(node[a]) * grid.spacing(a));
            if (grid.box.periodic[a]) d = std::min(d, grid.box.extent[a] - d);
            w *= std::max(0.0, 1 - d / grid.spacing(a));
          }
          out[{x, y, z}] += w;
        }
  return out;
}

DepositionError slow_error(const Parcels& before, const Parcels& after, const Grid& grid) {
  const auto a = slow_weights(before, grid);
  const auto b = slow_weights(after, grid);
  DepositionError out;
  double weight = 0;
  for (std::size_t i = 0; i < before.size(); ++i) weight += before.site(i).volume;
  out.nodes = static_cast<std::int64_t>(a.size());
  const double mean = weight / static_cast<double>(out.nodes);
  for (const auto& [node, w] : a) {
    const double d = (b.at(node) - w) / mean;
    out.largest = std::max(out.largest, std::fabs(d));
    out.rms += d * d / static_cast<double>(out.nodes);
  }
  out.rms = std::sqrt(out.rms);
  return out;
}

TEST_P(DepositionCheckTest, gives_the_change_of_a_direct_sum) {
  // In one job, since each takes its time to open.
  on_ranks(GetParam(), [&](comm::Transport& t) {
    for (unsigned bits = 0; bits < 8; ++bits)
      for (const PolicyCloud cloud : kPolicyClouds)
        for (const char* text : {"crowded:8->4, place:member", "small:0.3", "none, split:9", "level:1.5"}) {
          Grid grid = policy_grid();
          grid.box.periodic = {(bits & 1U) != 0, (bits & 2U) != 0, (bits & 4U) != 0};
          const Parcels before = policy_parcels(cloud, 60, bits);
          Parcels after = before;
          policy_reference(after, grid, {}, parse_policy(text));
          const DepositionError want = slow_error(before, after, grid);
          DepositionCheck check(t, grid, part(t, before));
          const DepositionError got = check.compare(part(t, after));
          EXPECT_EQ(got.nodes, want.nodes) << text;
          EXPECT_NEAR(got.largest, want.largest, 1e-12 * (1 + want.largest))
              << text << " cloud " << static_cast<int>(cloud) << " walls " << bits;
          EXPECT_NEAR(got.rms, want.rms, 1e-12 * (1 + want.rms)) << text;
        }
  });
}

// Of two parcels in one cell on a line along an axis the centroid deposits the same, the place of a member does not.
TEST_P(DepositionCheckTest, is_exact_for_centroids_along_an_axis_in_a_cell_only) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, true, true}}, {4, 4, 4}};
  Parcels before(Schema{});
  for (std::int64_t i = 0; i < 2; ++i) {
    const double row[] = {std::bit_cast<double>(i)};
    before.append({1.25 + 0.5 * static_cast<double>(i), 1.5, 1.25, i == 0 ? 0.5 : 1}, row);
  }
  const auto error = [&](comm::Transport& t, const char* policy, double dy) {
    Parcels from = before;
    from.site(1).y += dy;
    Parcels after = from;
    policy_reference(after, grid, {}, parse_policy(policy));
    DepositionCheck check(t, grid, part(t, from));
    return check.compare(part(t, after)).largest;
  };
  on_ranks(GetParam(), [&](comm::Transport& t) {  // every rank has the result
    EXPECT_LT(error(t, "small:0.8", 0), 1e-14);
    EXPECT_GT(error(t, "small:0.8, place:heaviest", 0), 0.1);
    EXPECT_GT(error(t, "small:0.8", 0.25), 0.1);
  });
}

TEST_P(DepositionCheckTest, has_the_same_bits_on_any_number_of_ranks) {
  const auto alone = comm::open_alone();
  const unsigned seeds = GetParam().backend == "threads" ? 8 : 2;  // a run over processes takes a hundred times as long
  for (unsigned seed = 0; seed < seeds; ++seed)
    for (const char* text : {"crowded:8->4, place:member", "level:1.5"}) {
      const Grid grid = policy_grid();
      const Parcels before = policy_parcels(PolicyCloud::uniform, 400, seed);
      Parcels after = before;
      policy_reference(after, grid, {}, parse_policy(text));
      DepositionCheck check(*alone, grid, before);
      const DepositionError want = check.compare(after);
      on_ranks(GetParam(), [&](comm::Transport& t) {
        DepositionCheck mine(t, grid, part(t, before));
        const DepositionError got = mine.compare(part(t, after));
        EXPECT_EQ(got.largest, want.largest) << text << " seed " << seed;
        EXPECT_EQ(got.rms, want.rms) << text << " seed " << seed;
      });
    }
}

TEST_P(DepositionCheckTest, takes_no_parcels) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Parcels none(Schema{});
    DepositionCheck check(t, policy_grid(), none);
    EXPECT_EQ(check.compare(none).largest, 0);
  });
}

}  // namespace
