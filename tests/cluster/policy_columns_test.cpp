// Columns and cells of merge policies: what is refused, and columns that hold bits of integers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <utility>

#include "merganser/base/error.hpp"
#include "src/cluster/policy_arithmetic.hpp"
#include "tests/cluster/policy_step_runs.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class PolicyColumnsTest : public PolicyStepTest {};
INSTANTIATE_TEST_SUITE_P(Models, PolicyColumnsTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

// Cells no longer than the policy's length, or none: more than can be numbered are refused by the step and by the oracle.
TEST_P(PolicyColumnsTest, crowded_cells_that_cannot_be_numbered_are_refused) {
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
TEST_P(PolicyColumnsTest, phase_columns_whose_squares_overflow_are_refused) {
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

TEST(PolicyRows, one_that_is_refused_is_found_in_any_place_and_named_as_by_itself) {
  const cluster::PolicyColumns columns(parse_policy("small, same:species, phase:ux*0.5"), policy_schema());
  const std::pair<const char*, double> refused[] = {
      {"species", 0.5}, {"species", std::nan("")}, {"ux", 1e200}, {"ux", std::nan("")}};
  for (const auto& [name, value] : refused)
    for (const std::size_t at : {0, 50, 99}) {
      Parcels all = policy_parcels(PolicyCloud::uniform, 100, 3);
      all.column("species")[at] = 0x1p54;  // an integer, though one that simple comparisons leave to check_row()
      EXPECT_NO_THROW(columns.check_rows(all.rows(), all.schema().width(), all.size()));
      all.column("species")[at] = 0;
      all.column(name)[at] = value;
      const std::string of_row = refusal<InputError>([&] { columns.check_row(all.row(at)); });
      EXPECT_NE(of_row.find(std::to_string(all.id(at))), std::string::npos) << of_row;
      EXPECT_EQ(refusal<InputError>([&] { columns.check_rows(all.rows(), all.schema().width(), all.size()); }), of_row);
    }
}

// What is missing is said by the name of the part that tells it, not by that of a column that nobody has written.
TEST_P(PolicyColumnsTest, momentum_without_its_columns_names_the_part_that_tells_them) {
  const Schema schema({{"volume", 1, Rule::sum, {"volume"}, "1"}, {"momentum_x", 1, Rule::mean, {"momentum_x"}, "1"}});
  for (const char* text : {"conserve:momentum", "conserve:momentum+energy", "split:4, along:velocity"})
    on_ranks(GetParam(), [&](comm::Transport& t) {
      ClusterOptions options;
      options.policy = parse_policy(text);
      const std::string what = refusal<UsageError>(
          [&] { static_cast<void>(Clusterer(t, even_blocks(policy_grid(), t.size()), schema, options)); });
      EXPECT_NE(what.find("allowed: momentum:A+B+C"), std::string::npos) << text << ": " << what;
    });
}

/// Returns parcels with the bits of integers in the columns of species, mass and flag.
Parcels with_bits(Parcels p) {
  for (const char* column : {"species", "mass", "flag"})
    for (std::size_t i = 0; i < p.size(); ++i)
      p.column(column)[i] = std::bit_cast<double>(static_cast<std::int64_t>(p.column(column)[i]));
  return p;
}

// The oracle is compared with itself on doubles, then the step with the oracle.
TEST_P(PolicyColumnsTest, columns_that_hold_bits_of_integers_are_read_as_these_integers) {
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

TEST_P(PolicyColumnsTest, integers_that_no_double_represents_are_refused) {
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

}  // namespace
