// Text of merge policies: what is read, what is written, and what is refused with which words.
#include "merganser/cluster/merge_policy.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

/// Returns the words of the error that a text of a policy gives; empty if it gives none.
std::string error_of(const std::string& text) {
  try {
    static_cast<void>(parse_policy(text));
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

/// Returns the words of the error that a structure gives; empty if it gives none.
std::string error_of(const MergePolicy& policy) {
  try {
    check(policy);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

/// Returns the words of the error that a policy gives for parcels of a schema; empty if it gives none.
std::string error_of(const MergePolicy& policy, const Schema& schema) {
  try {
    check(policy, schema);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

/// Returns the schema of plasma particles: three columns of momentum, species and rest mass.
Schema plasma() {
  return Schema({{"ux", 1, Rule::mean, {"ux"}, ""},
                 {"uy", 1, Rule::mean, {"uy"}, ""},
                 {"uz", 1, Rule::mean, {"uz"}, ""},
                 {"species", 1, Rule::centre, {"species"}, ""},
                 {"mass", 1, Rule::centre, {"mass"}, ""}});
}

TEST(MergePolicy, an_empty_text_is_the_default_policy) {
  EXPECT_TRUE(parse_policy("").is_default());
  EXPECT_TRUE(parse_policy("  ").is_default());
  EXPECT_TRUE(parse_policy("small, stars, place:centroid, conserve:rules").is_default());
  EXPECT_EQ(policy_text(MergePolicy()), "");
}

TEST(MergePolicy, the_parts_of_the_documentation_are_read) {
  const MergePolicy p = parse_policy(
      "crowded:32->16@2cell, phase:ux*0.1+uy*1e+2 , same:species+group,within: 1cell,greedy:3,members:8,weight:1e6,"
      "rounds:7,place:member,conserve:momentum,momentum:px+py+pz,mass:m,relativistic:3e8,seed:9");
  EXPECT_EQ(p.looker, Looker::crowded);
  EXPECT_EQ(p.crowded_above, 32);
  EXPECT_EQ(p.crowded_target, 16);
  EXPECT_EQ(p.crowded_cell, (Length{2, Length::Unit::cell}));
  EXPECT_EQ(p.phase, (std::vector<ScaledColumn>{{"ux", 0.1}, {"uy", 100}}));
  EXPECT_EQ(p.same, (std::vector<std::string>{"species", "group"}));
  EXPECT_EQ(p.within, (Length{1, Length::Unit::cell}));
  EXPECT_EQ(p.form, MergeForm::greedy_pairs);
  EXPECT_EQ(p.fall_backs, 3);
  EXPECT_EQ(p.max_members, 8);
  EXPECT_EQ(p.max_weight, 1e6);
  EXPECT_EQ(p.max_rounds, 7);
  EXPECT_EQ(p.place, Placement::member);
  EXPECT_EQ(p.conserve, Conserve::momentum);
  EXPECT_EQ(p.momentum, (std::vector<std::string>{"px", "py", "pz"}));
  EXPECT_EQ(p.mass, "m");
  EXPECT_EQ(p.light_speed, 3e8);
  EXPECT_EQ(p.seed, 9U);
  EXPECT_TRUE(p.has_rounds());
  EXPECT_FALSE(p.is_default());
}

TEST(MergePolicy, text_of_a_policy_is_read_as_the_same_policy) {
  for (const char* text : {"small:0.001",
                           "mask:flag",
                           "crowded:32->16",
                           "crowded:8->8@0.25",
                           "phase:ux*0.1",
                           "phase:ux*1e+30+uy*0.5",
                           "same:species",
                           "within:0.3",
                           "within:1.5cell",
                           "pairs",
                           "greedy:0",
                           "friends:0.2spacing",
                           "friends:0.1",
                           "level:1.5",
                           "level:1.5/8",
                           "members:2",
                           "weight:12",
                           "rounds:1",
                           "place:heaviest",
                           "place:centre",
                           "conserve:momentum+energy",
                           "conserve:momentum, momentum:a+b+c",
                           "none",
                           "none, split:8, along:velocity",
                           "crowded:32->16, split:8, along:axis, ids:1000",
                           "seed:18"})
    EXPECT_EQ(policy_text(parse_policy(text)), text);
}

TEST(MergePolicy, lengths_have_units) {
  const Grid grid{{{0, 0, 0}, {8, 4, 2}, {true, true, true}}, {8, 8, 8}};
  EXPECT_EQ((Length{3, Length::Unit::box}.in_box_units(grid, 5)), 3);
  EXPECT_EQ((Length{3, Length::Unit::cell}.in_box_units(grid, 5)), 0.75);
  EXPECT_DOUBLE_EQ((Length{0.5, Length::Unit::spacing}.in_box_units(grid, 8)), 1);
}

TEST(MergePolicy, a_part_that_is_unknown_twice_or_empty_is_refused) {
  EXPECT_NE(error_of("colour:red").find("'colour:red'; allowed: the parts small, mask, crowded"), std::string::npos);
  EXPECT_EQ(error_of("within:1, within:2"), "policy: two parts 'within'; allowed: one");
  EXPECT_EQ(error_of("small,,stars"), "policy: 'small,,stars' has an empty part; allowed: NAME or NAME:VALUE");
  EXPECT_EQ(error_of("within:"), "policy: 'within:'; allowed: a value behind the colon");
}

TEST(MergePolicy, parts_that_say_the_same_thing_exclude_each_other) {
  EXPECT_EQ(error_of("small, crowded:3->2"), "policy: small with crowded; both say who looks; allowed: one of them");
  EXPECT_EQ(error_of("stars, pairs"), "policy: stars with pairs; both say what merges; allowed: one of them");
  EXPECT_EQ(error_of("friends:1, level:2"), "policy: friends with level; both say what merges; allowed: one of them");
}

TEST(MergePolicy, values_out_of_range_are_refused) {
  for (const char* text : {"small:0",
                           "small:-1",
                           "small:x",
                           "small:inf",
                           "crowded:32",
                           "crowded:2->3",
                           "crowded:0->0",
                           "crowded:3->0",
                           "crowded:3->2@0",
                           "crowded:3->2@",
                           "crowded:3->2@1spacing",
                           "phase:ux",
                           "phase:ux*0",
                           "phase:ux*1+ux*2",
                           "phase:a*1+b*1+c*1+d*1",
                           "phase:*2",
                           "same:a+a",
                           "same:a++b",
                           "within:0",
                           "within:1mile",
                           "within:nan",
                           "pairs:2",
                           "greedy:-1",
                           "greedy:16",
                           "greedy",
                           "friends:0cell",
                           "level:0",
                           "level:1/0",
                           "members:1",
                           "weight:0",
                           "rounds:0",
                           "place:here",
                           "conserve:energy",
                           "conserve:momentum, momentum:a+b",
                           "conserve:momentum, relativistic:0",
                           "seed:-1",
                           "mask"})
    EXPECT_NE(error_of(text).find("allowed:"), std::string::npos) << text;
}

/// Limits of numbers in a policy: what the greatest allowed number is, and what the next one is refused with.
struct Limit {
  const char* text;                                   ///< of the policy with the greatest number
  std::function<void(MergePolicy&, bool more)> fill;  ///< sets that number, or one more
  const char* refusal;                                ///< of one more
};

// A structure holds no number that its text cannot: records and files of steps hold the text.
TEST(MergePolicy, numbers_that_the_text_cannot_hold_are_refused_in_structures) {
  constexpr std::int64_t kGreatest = MergePolicy::kMaxCount;
  const std::vector<Limit> limits{
      {"crowded:1099511627776->1",
       [](MergePolicy& p, bool more) {
         p.looker = Looker::crowded;
         p.crowded_above = kGreatest + (more ? 1 : 0);
         p.crowded_target = 1;
       },
       "policy: crowded: 1099511627777->1; allowed: MAX->TARGET, 1 <= TARGET <= MAX <= 2^40"},
      {"level:2/1099511627776",
       [](MergePolicy& p, bool more) {
         p.level_ratio = 2;
         p.level_least = kGreatest + (more ? 1 : 0);
       },
       "policy: level: least number of parcels: 1099511627777; allowed: 1 to 2^40"},
      {"members:1099511627776", [](MergePolicy& p, bool more) { p.max_members = kGreatest + (more ? 1 : 0); },
       "policy: members: 1099511627777; allowed: 2 to 2^40, or 0"},
      {"rounds:1000000", [](MergePolicy& p, bool more) { p.max_rounds = MergePolicy::kMaxRounds + (more ? 1 : 0); },
       "policy: rounds: 1000001; allowed: 1 to 1000000"},
      {"split:2, ids:9223372036854775806",
       [](MergePolicy& p, bool more) {
         p.split_below = 2;
         p.new_ids = MergePolicy::kMaxFirstId + (more ? 1 : 0);
       },
       "policy: ids: 9223372036854775807; allowed: 0 to 2^63 - 2"},
      {"seed:9223372036854775807", [](MergePolicy& p, bool more) { p.seed = MergePolicy::kMaxSeed + (more ? 1 : 0); },
       "policy: seed: 9223372036854775808; allowed: 0 to 2^63 - 1"}};
  for (const Limit& limit : limits) {
    MergePolicy policy;
    limit.fill(policy, false);
    EXPECT_NO_THROW(check(policy)) << limit.text;
    EXPECT_EQ(policy_text(policy), limit.text);
    EXPECT_EQ(policy_text(parse_policy(limit.text)), limit.text);
    limit.fill(policy, true);
    EXPECT_EQ(error_of(policy), limit.refusal);
    EXPECT_THROW(static_cast<void>(parse_policy(policy_text(policy))), UsageError) << policy_text(policy);
  }
}

TEST(MergePolicy, parts_that_do_not_suit_each_other_are_refused) {
  for (const char* text :
       {"friends:1, crowded:3->2", "friends:1, within:2", "friends:1, phase:a*1", "friends:1, members:3",
        "friends:1, conserve:momentum+energy", "level:2, within:1", "level:2, place:member", "level:2, same:s",
        "pairs, conserve:momentum+energy", "members:2, conserve:momentum+energy",
        "crowded:4->1, conserve:momentum+energy", "relativistic:1", "mass:m", "momentum:a+b+c"})
    EXPECT_THROW(static_cast<void>(parse_policy(text)), UsageError) << text;
  MergePolicy p;
  p.allowed = [](const Vec3&) { return true; };
  EXPECT_THROW(check(p), UsageError);
  p.within = {1, Length::Unit::cell};
  EXPECT_NO_THROW(check(p));
}

TEST(MergePolicy, columns_must_be_there_and_merge_by_a_rule_that_suits_them) {
  EXPECT_EQ(error_of(parse_policy("same:species, conserve:momentum+energy, mass:mass, relativistic:1"), plasma()), "");
  EXPECT_NE(error_of(parse_policy("same:kind"), plasma()).find("policy: same:"), std::string::npos);
  EXPECT_NE(error_of(parse_policy("mask:flag"), plasma()).find("policy: mask:"), std::string::npos);
  EXPECT_NE(error_of(parse_policy("phase:vx*1"), plasma()).find("policy: phase:"), std::string::npos);
  EXPECT_EQ(error_of(parse_policy("same:ux"), plasma()),
            "policy: same: attribute ux has a merge rule that may change it; allowed: centre or largest");
  EXPECT_EQ(error_of(parse_policy("conserve:momentum, momentum:ux+uy+species"), plasma()),
            "policy: momentum: attribute species does not merge by its mean; allowed: mean");
  EXPECT_NE(error_of(parse_policy("friends:1"), Schema::epic()).find("merges by its ellipsoid"), std::string::npos);
}

TEST(MergePolicy, parts_of_splitting_that_contradict_others_are_refused) {
  EXPECT_EQ(error_of("split:1"), "policy: 'split:1'; allowed: split:N, an integer, 2 to 1048576");
  EXPECT_EQ(error_of("along:axis"), "policy: along or ids without split; allowed: both, or neither");
  for (const char* text : {"along:random", "ids:4611686018427387904", "ids:5", "small:1, along:velocity, ids:7"})
    EXPECT_EQ(error_of(text), "policy: along or ids without split; allowed: both, or neither") << text;
  EXPECT_EQ(error_of("split:3, along:random, ids:4611686018427387904"), "");
  EXPECT_NE(error_of("split:3, along:y").find("random or velocity or axis"), std::string::npos);
  EXPECT_NE(error_of("crowded:8->4, split:9").find("allowed: split up to the number above"), std::string::npos);
  EXPECT_NE(error_of("level:2, split:3").find("level with split"), std::string::npos);
  EXPECT_NE(error_of("friends:2, split:3").find("friends with split"), std::string::npos);
  EXPECT_NE(error_of("none, split:3, momentum:a+b+c").find("along:velocity"), std::string::npos);
  EXPECT_EQ(error_of(parse_policy("split:3, along:velocity"), plasma()), "");
  EXPECT_NE(error_of(parse_policy("split:3, along:velocity"), Schema()), "");
  EXPECT_NE(error_of(parse_policy("split:3, along:axis"), plasma()).find("allowed: random, velocity"),
            std::string::npos);
  EXPECT_NE(error_of(parse_policy("split:3"), Schema::epic()).find("allowed: axis"), std::string::npos);
  EXPECT_EQ(error_of(parse_policy("split:3, along:axis"), Schema::epic()), "");
  EXPECT_NE(error_of(parse_policy("split:3"), Schema({{"a", 1, Rule::callback, {"a"}, ""}})).find("callback"),
            std::string::npos);
}

}  // namespace
