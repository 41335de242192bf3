// Greedy pairs whose lookers search fall-backs only if their nearest partner may be taken: over every model and number of ranks against the
// serial oracle, bit for bit, where many lose their nearest, and where many distances are equal.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>

#include "tests/cluster/policy_step_runs.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class GreedySearchTest : public PolicyStepTest {};
INSTANTIATE_TEST_SUITE_P(Models, GreedySearchTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Appends a parcel at a place relative to the lower corner of policy_grid().
void append(Parcels& p, const Vec3& x, bool looks) {
  const Box box = policy_grid().box;
  const auto id = static_cast<std::int64_t>((p.size() * 7919) % 100003);
  p.append({box.wrap(0, box.lower[0] + x[0]), box.wrap(1, box.lower[1] + x[1]), box.lower[2] + x[2], 0.2},
           std::vector<double>{std::bit_cast<double>(id), 0.1 * x[0], 0, 0, 0, 1, looks ? 1.0 : 0.0, 1}.data());
}

/// Returns lines of parcels along x, about 60 in each, in which every looker but the first has the nearest of the next one as its second,
/// and distances ascend: so the first of them, which loses its nearest, takes that of the next, and so on. @param step  between distances
Parcels chains(double step, bool mirrored) {
  Parcels p(policy_schema());
  for (int line = 0; line < 6; ++line) {
    const Vec3 at{0.3 * line, 0.5 * line, 0.3 * line};
    const auto add = [&](double x, bool looks) {
      append(p, {mirrored ? 3.9 - at[0] - x : at[0] + x, at[1], at[2]}, looks);
    };
    add(0, true);
    double x = 10 * step;
    add(x, false);
    x += 11 * step;
    add(x, true);
    for (int k = 1; k < 30; ++k) {
      x += (10 + 2 * k) * step;
      add(x, false);
      x += (11 + 2 * k) * step;
      add(x, true);
    }
  }
  return p;
}

TEST_P(GreedySearchTest, chains_of_lookers_that_lose_their_nearest_merge_as_in_the_oracle) {
  for (const char* text : {"mask:flag, greedy:1", "mask:flag, greedy:3", "mask:flag, greedy:3, phase:ux*0.5",
                           "mask:flag, greedy:2, within:0.05"})
    for (const double step : {0x1p-11, 0.0007})  // in the first many distances are equal
      for (const bool mirrored : {false, true}) {
        if (GetParam().backend != "threads" && (mirrored || step == 0.0007)) continue;
        SCOPED_TRACE(text);
        compare(chains(step, mirrored), policy_grid(), parse_policy(text));
      }
}

TEST_P(GreedySearchTest, greedy_pairs_of_some_parcels_of_every_cloud_merge_as_in_the_oracle) {
  if (GetParam().backend != "threads") GTEST_SKIP() << "the search is the same over all models";
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const char* text : {"mask:flag, greedy:3", "small:0.3, greedy:1", "mask:flag, greedy:15, same:species",
                             "small:0.3, greedy:3, phase:ux*0.02+uy*0.02+uz*0.02", "mask:flag, greedy:3, phase:ux*3"}) {
      SCOPED_TRACE(std::string(text) + " cloud " + std::to_string(static_cast<int>(cloud)));
      compare(policy_parcels(cloud, 900, 17), policy_grid(), parse_policy(text), 2);
    }
}

// Between ranks: lookers and partners of a lattice that lie on both sides of faces, on them, and as far from them as from each other.
TEST_P(GreedySearchTest, greedy_pairs_beside_faces_of_ranks_merge_as_in_the_oracle) {
  const auto add_lattice = [](Parcels& p, double width, const std::function<bool(int, int, int)>& looks) {
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 12; ++j)
        for (int k = 0; k < 3; ++k) append(p, {0.25 * i, 0.25 * j, width * k}, looks(i, j, k));
  };
  std::mt19937 random(5);
  Parcels even(policy_schema());
  add_lattice(even, 0.25, [](int i, int j, int k) { return (i + j + k) % 2 == 0; });
  Parcels mixed(policy_schema());
  add_lattice(mixed, 0.2, [&](int, int, int) { return random() % 2 == 0; });
  for (const Parcels* p : {&even, &mixed}) compare(*p, policy_grid(), parse_policy("mask:flag, greedy:3"));
}

}  // namespace
