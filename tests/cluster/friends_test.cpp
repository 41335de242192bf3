// Friends of friends over every model and decomposition against the serial oracle and against all pairs.
#include "merganser/cluster/friends.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/cluster/block_kinds.hpp"
#include "tests/cluster/friends_cases.hpp"
#include "tests/cluster/share.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Result of the oracle for a case.
struct FriendsWanted {
  Parcels merged;
  PolicyOutcome outcome;
  explicit FriendsWanted(const FriendsCase& c) : merged(c.parcels) {
    outcome = policy_reference(merged, c.grid, {}, c.policy());
  }
};

/// Returns the bits of numbers that must be equal to the bit.
std::vector<std::uint64_t> bits_of(const std::vector<double>& numbers) {
  std::vector<std::uint64_t> out;
  for (const double x : numbers) out.push_back(std::bit_cast<std::uint64_t>(x));
  return out;
}

class FriendsTest : public testing::TestWithParam<Setup> {
 protected:
  /// Merges and labels a case on all ranks with every kind of blocks, and compares. @return most rounds
  static std::int64_t compare(const FriendsCase& c, bool all_blocks = true) {
    const FriendsWanted want(c);
    std::int64_t rounds = 0;
    on_ranks(GetParam(), [&](comm::Transport& t) {
      std::vector<Decomposition> blocks = decompositions(c.grid, t.size());
      if (!all_blocks) blocks.erase(blocks.begin() + 1, blocks.end());
      for (const Decomposition& d : blocks) {
        SCOPED_TRACE(c.name + ", " + d.describe());
        const std::int64_t made = check_merge(t, d, c, want);
        if (t.rank() == 0) rounds = std::max(rounds, made);
        check_labels(t, d, c, want);
      }
    });
    return rounds;
  }

  static std::int64_t check_merge(comm::Transport& t, const Decomposition& d, const FriendsCase& c,
                                  const FriendsWanted& want) {
    Parcels mine = owned_parcels(t, c.parcels, d);
    const std::size_t before = mine.size();
    FriendsOfFriends friends(t, d, friends_options(c.policy()));
    const FriendsReport got = friends.merge(mine, true);
    EXPECT_EQ(got.before, static_cast<std::int64_t>(before));
    EXPECT_EQ(got.after, static_cast<std::int64_t>(mine.size()));
    EXPECT_EQ(total_digest(t, mine).to_string(), digest(want.merged).to_string());
    const auto winding = comm::all_gather(t, std::span<const std::int64_t>(got.winding)).flat();
    EXPECT_EQ(std::set<std::int64_t>(winding.begin(), winding.end()),
              std::set<std::int64_t>(want.outcome.winding.begin(), want.outcome.winding.end()));
    EXPECT_EQ(winding.size(), want.outcome.winding.size());
    std::map<std::int64_t, std::int64_t> lineage;
    for (const auto& pair : comm::all_gather(t, std::span(got.lineage)).flat()) lineage[pair.source] = pair.centre;
    EXPECT_EQ(lineage.size(), want.outcome.report.lineage.size());
    for (const auto& pair : want.outcome.report.lineage) EXPECT_EQ(lineage[pair.source], pair.centre);
    EXPECT_EQ(t.all_reduce(got.merged, comm::Op::sum), static_cast<std::int64_t>(lineage.size()));
    for (const auto& [members, groups] : want.outcome.report.clusters) {
      const auto at = got.clusters.find(members);
      EXPECT_EQ(t.all_reduce(at == got.clusters.end() ? 0 : at->second, comm::Op::sum), groups) << members;
    }
    return got.friends.rounds;
  }

  static void check_labels(comm::Transport& t, const Decomposition& d, const FriendsCase& c,
                           const FriendsWanted& want) {
    const Parcels mine = owned_parcels(t, c.parcels, d);
    FriendsOptions options = friends_options(c.policy());
    options.velocity = {"ux", "uy", "uz"};
    FriendsOfFriends friends(t, d, options);
    const FriendLabels labels = friends.label(mine);
    ASSERT_EQ(labels.group.size(), mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i)
      ASSERT_EQ(labels.group[i], want.outcome.groups.at(mine.id(i))) << mine.id(i);
    std::map<std::int64_t, std::vector<std::size_t>> members;
    for (std::size_t i = 0; i < c.parcels.size(); ++i) members[want.outcome.groups.at(c.parcels.id(i))].push_back(i);
    std::map<std::int64_t, std::size_t> merged;
    for (std::size_t i = 0; i < want.merged.size(); ++i) merged[want.merged.id(i)] = i;
    for (const FriendGroup& g : labels.groups) {
      ASSERT_EQ(g.members, static_cast<std::int64_t>(members.at(g.id).size()));
      const bool winds = std::count(want.outcome.winding.begin(), want.outcome.winding.end(), g.id) > 0;
      EXPECT_EQ(g.winds, winds);
      ExactSum mass;
      for (const std::size_t i : members[g.id]) mass.add(c.parcels.site(i).volume);
      EXPECT_EQ(g.mass, mass.value());
      EXPECT_EQ(std::isnan(g.centre[0]), winds);
      if (winds || g.members == 1) continue;
      const std::size_t at = merged.at(g.id);
      const Site& s = want.merged.site(at);
      const double* row = want.merged.row(at);
      EXPECT_EQ(bits_of({g.velocity[0], g.velocity[1], g.velocity[2]}), bits_of({row[1], row[2], row[3]}));
      if (c.parts.find("place") == std::string::npos) {
        EXPECT_EQ(bits_of({g.centre[0], g.centre[1], g.centre[2]}), bits_of({s.x, s.y, s.z}));
      }
    }
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(labels.groups.size()), comm::Op::sum),
              static_cast<std::int64_t>(members.size()));
  }
};
/// Every number of ranks or model of processes; of threads 2 with checks and 7 with delays too.
std::vector<Setup> friend_setups() {
  auto all = setups();
  if (all.front().backend == "threads") all.insert(all.end(), {{"threads", 2, "checked"}, {"threads", 7, "chaos:5"}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, FriendsTest, testing::ValuesIn(friend_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(FriendsTest, groups_across_every_face_are_those_of_the_oracle) {
  // Over processes a run takes a hundred times as long as over threads, so every fifth case is tried.
  const std::vector<FriendsCase> all = special_friends_cases();
  for (std::size_t i = 0; i < all.size(); i += GetParam().backend == "threads" ? 1 : 5) {
    compare(all[i]);
    if (HasFailure()) return;
  }
}

TEST_P(FriendsTest, random_groups_are_those_of_the_oracle) {
  const unsigned cases = GetParam().backend == "threads" ? 120 : 6;
  for (unsigned seed = 0; seed < cases; ++seed) {
    compare(random_friends_case(seed, seed % 10 == 9 ? 700 : 150));
    if (HasFailure()) return;
  }
}

TEST_P(FriendsTest, policies_of_the_cases_give_the_parcels_of_the_oracle) {
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const std::string& text : policy_texts()) {
      if (text.rfind("friends", 0) != 0) continue;
      const Parcels all = policy_parcels(cloud, 250, 11);
      Parcels want = all;
      MergePolicy policy = parse_policy(text);
      policy.step = 5;
      policy_reference(want, policy_grid(), {}, policy);
      on_ranks(GetParam(), [&](comm::Transport& t) {
        std::vector<double> cuts;
        for (int i = 1; i < t.size(); ++i) cuts.push_back(-1 + 4.0 * i / t.size());
        const Decomposition d = Decomposition::from_cuts(policy_grid(), {cuts, {}, {}});
        Parcels mine = owned_parcels(t, all, d);
        FriendsOfFriends friends(t, d, friends_options(policy));
        friends.merge(mine);
        EXPECT_EQ(total_digest(t, mine).to_string(), digest(want).to_string()) << text;
      });
    }
}

TEST_P(FriendsTest, a_chain_over_all_ranks_takes_few_rounds) {
  FriendsCase c = friends_case("long chain", 0, 0.011, {40, 1, 1});
  for (int i = 0; i < 3900; ++i) c.add({i * 0.00025, 0.5, 0.5});
  EXPECT_LE(compare(c, false), 7);
}

// A length in spacings grows when points are fewer, and with it the ranks that are near.
TEST_P(FriendsTest, an_object_reaches_the_ranks_that_the_number_of_points_requires) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const FriendsCase none = friends_case("", 7, 1);
    const Decomposition d = decompositions(none.grid, t.size()).front();
    const FriendsOptions options = friends_options(parse_policy("friends:0.7spacing"));
    FriendsOfFriends kept(t, d, options);
    std::mt19937 random(5);
    std::uniform_real_distribution<double> u(0, 1);
    for (const int n : {3000, 12, 400}) {
      FriendsCase some = none;
      for (int i = 0; i < n; ++i) some.add({u(random), u(random), u(random)});
      Parcels mine = owned_parcels(t, some.parcels, d);
      Parcels same = mine;
      const FriendsReport got = kept.merge(mine);
      const FriendsReport want = FriendsOfFriends(t, d, options).merge(same);
      EXPECT_EQ(got.friends.ghosts, want.friends.ghosts) << n;
      EXPECT_EQ(total_digest(t, mine).to_string(), total_digest(t, same).to_string()) << n;
    }
  });
}

TEST_P(FriendsTest, points_in_arrays_are_labelled_like_parcels) {
  const FriendsCase c = random_friends_case(22, 600);
  const std::map<std::int64_t, std::int64_t> want = groups_by_pairs(c);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(c.grid, t.size());
    const Parcels mine = owned_parcels(t, c.parcels, d);
    std::vector<double> xyz;
    std::vector<std::int64_t> ids;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      xyz.insert(xyz.end(), {mine.site(i).x, mine.site(i).y, mine.site(i).z});
      ids.push_back(mine.id(i));
    }
    FriendsOptions options;
    options.linking = {c.length, Length::Unit::box};
    options.least_members = 2;
    FriendsOfFriends friends(t, d, options);
    const FriendLabels labels = friends.label(PointView::rows(xyz.data(), ids.size()), ids);
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(labels.group[i], want.at(ids[i]));
    for (const FriendGroup& g : labels.groups) {
      EXPECT_GE(g.members, 2);
      EXPECT_EQ(g.mass, static_cast<double>(g.members));
    }
    const FriendLabels again = friends.label(mine);
    EXPECT_EQ(again.group, labels.group);
  });
}

TEST_P(FriendsTest, points_in_two_dimensions_lie_on_the_lower_face) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Grid square{{{0, 0, 0}, {1, 1, 1}, {true, false, false}}, {8, 1, 1}};
    const Decomposition d(square, t.size());
    std::vector<double> xy;
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 12; ++i) {
      const double x = i < 6 ? 0.01 * i : 1 - 0.01 * (i - 5);
      if (d.owner({x, 0.5, 0}) != t.rank()) continue;
      xy.insert(xy.end(), {x, 0.5});
      ids.push_back(i + 3);
    }
    FriendsOfFriends friends(t, d, {.linking = {0.011, Length::Unit::box}});
    const FriendLabels labels = friends.label(PointView::rows_2d(xy.data(), ids.size()), ids);
    for (const std::int64_t group : labels.group) EXPECT_EQ(group, 3);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(labels.groups.size()), comm::Op::sum), 1);
    for (const FriendGroup& g : labels.groups) EXPECT_EQ(g.members, 12);
  });
}

TEST_P(FriendsTest, collectives_do_not_depend_on_the_points) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const FriendsCase c = random_friends_case(31, 600);
    const Decomposition d(c.grid, t.size());
    FriendsOfFriends friends(t, d, friends_options(c.policy()));
    const FriendLabels labels = friends.label(owned_parcels(t, c.parcels, d));
    EXPECT_GT(labels.numbers.counters.collectives, 0);
    EXPECT_LT(labels.numbers.counters.collectives, 16 + 8 * labels.numbers.rounds);
    const std::int64_t waves = t.size() > 1 ? 3 + labels.numbers.rounds : labels.numbers.counters.waves;
    EXPECT_EQ(labels.numbers.counters.waves, waves);
  });
}

TEST_P(FriendsTest, what_is_wrong_is_refused_on_every_rank) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const FriendsCase c = friends_case("errors", 1, 0.1);
    const Decomposition d(c.grid, t.size());
    const auto text = [&](const FriendsOptions& o) {
      return refusal<UsageError>([&] { static_cast<void>(FriendsOfFriends(t, d, o).label(Parcels(policy_schema()))); });
    };
    EXPECT_EQ(text({}), "friends: linking length 0; allowed: positive and finite");
    EXPECT_EQ(text({.linking = {2, Length::Unit::box}}),
              "friends: linking length 2 along x of extent 4; allowed: below half of a periodic extent");
    EXPECT_EQ(text({.linking = {0.1}, .velocity = {"ux"}}), "friends: velocity: 1 columns; allowed: three, or none");
    EXPECT_EQ(text({.linking = {0.1}, .least_members = 0}), "friends: least members 0; allowed: 1 and more");
    EXPECT_NE(text({.linking = {0.1}, .same = {"colour"}}).find("colour"), std::string::npos);
    FriendsOfFriends friends(t, d, {.linking = {0.1}, .same = {"species"}});
    const auto refused = [&](const std::function<void(Parcels&)>& change) {
      FriendsCase e = friends_case("errors", 1, 0.1);
      for (int i = 0; i < 300; ++i) e.add({i / 300.0, std::fmod(0.618 * i, 1), std::fmod(0.755 * i, 1)});
      Parcels mine = owned_parcels(t, e.parcels, d);
      if (t.rank() == t.size() - 1) change(mine);
      const std::string before = digest(mine).to_string();
      const std::string what = refusal<InputError>([&] { friends.merge(mine); });
      EXPECT_EQ(digest(mine).to_string(), before);
      return what;
    };
    EXPECT_NE(refused([](Parcels& p) { p.site(1).x = 9; }).find("is not in the block of rank"), std::string::npos);
    EXPECT_NE(refused([](Parcels& p) { p.site(1).y = std::nan(""); }).find("is not in the block"), std::string::npos);
    EXPECT_NE(refused([](Parcels& p) { p.set_id(1, p.id(2)); }).find("id"), std::string::npos);
    EXPECT_NE(refused([](Parcels& p) { p.site(1).volume = 0; }).find("volume"), std::string::npos);
    EXPECT_NE(refused([](Parcels& p) { p.column("species")[1] = std::nan(""); }).find("nan; allowed: a number"),
              std::string::npos);
    EXPECT_EQ(refused([](Parcels&) {}), "nothing was thrown");
  });
}

// The step of other policies has no collective, so that only the rank with the wrong parcels refuses them.
TEST_P(FriendsTest, a_step_refuses_parcels_of_another_schema_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const Decomposition d(Grid{{{0, 0, 0}, {8, 4, 4}, {true, true, false}}, {8, 4, 4}}, t.size());
    ClusterOptions options;
    options.policy = parse_policy("friends:0.1");
    Clusterer clusterer(t, d, policy_schema(), options);
    Parcels mine(t.rank() == t.size() - 1 ? Schema(std::vector<Attribute>{}) : policy_schema());
    EXPECT_NE(refusal<UsageError>([&] { clusterer.step(mine); }).find("another schema"), std::string::npos);
  });
}

TEST_P(FriendsTest, columns_that_differ_between_ranks_are_refused_and_those_without_points_adopted) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const FriendsCase c = random_friends_case(23, 600);
    const Decomposition d(c.grid, t.size());
    const bool last = t.rank() > 0 && t.rank() == t.size() - 1;
    const Parcels all = owned_parcels(t, c.parcels, d);
    FriendsOptions options;
    options.linking = {c.length, Length::Unit::box};
    FriendsOfFriends friends(t, d, options);
    // Labels of the parcels of this rank, of which the last rank may have none, with some columns.
    const auto label = [&](const Parcels& mine, bool same, bool velocity, bool mass) {
      std::vector<double> xyz;
      const std::vector<double> ones(mine.size(), 1);
      const ConstColumn column{ones.data(), 1};
      for (std::size_t i = 0; i < mine.size(); ++i)
        xyz.insert(xyz.end(), {mine.site(i).x, mine.site(i).y, mine.site(i).z});
      FriendColumns columns;
      if (same) columns.same = {column};
      if (velocity) columns.velocity = {column, column, column};
      if (mass) columns.mass = column;
      return friends.label(PointView::rows(xyz.data(), mine.size()), {}, columns);
    };
    for (const int which : {0, 1, 2})
      for (const bool more : {false, true}) {
        const bool given = more ? last : !last;
        const std::string what = refusal<UsageError>(
            [&] { static_cast<void>(label(all, given && which == 0, given && which == 1, given && which == 2)); });
        EXPECT_EQ(what.find("on ranks with points; allowed: as many on every rank") != std::string::npos, t.size() > 1)
            << what;
        const Parcels none(all.schema());
        const Parcels& mine = last ? none : all;
        const FriendLabels labels = label(mine, given && which == 0, given && which == 1, given && which == 2);
        const bool others = t.size() == 1 ? given : !more;
        const FriendLabels want = label(mine, others && which == 0, others && which == 1, others && which == 2);
        EXPECT_EQ(labels.group, want.group);
        EXPECT_EQ(labels.groups.size(), want.groups.size());
        for (std::size_t g = 0; g < labels.groups.size(); ++g)
          EXPECT_EQ(labels.groups[g].velocity, (which == 1 && others ? Vec3{1, 1, 1} : Vec3{0, 0, 0}));
      }
  });
}

TEST_P(FriendsTest, values_that_are_not_finite_are_refused_with_nothing_changed) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    FriendsCase c = friends_case("values", 1, 0.3);
    for (int i = 0; i < 50; ++i) c.add({i / 60.0, 0.5, 0.5});
    const Decomposition d(c.grid, t.size());
    Parcels mine = owned_parcels(t, c.parcels, d);
    if (mine.size() > 1) mine.column("ux")[1] = HUGE_VAL;
    FriendsOfFriends friends(t, d, {.linking = {0.3}});
    const std::string before = digest(mine).to_string();
    const std::string what = refusal<InputError>([&] { friends.merge(mine); });
    EXPECT_NE(what.find("allowed: finite numbers"), std::string::npos) << what;
    EXPECT_EQ(digest(mine).to_string(), before);
  });
}

TEST_P(FriendsTest, a_schema_with_ellipsoids_is_labelled_and_not_merged) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {8, 8, 8}};
    const Decomposition d(grid, t.size());
    Parcels mine = generate_random({.per_cell = 10}, d, t.rank());
    FriendsOfFriends friends(t, d, {.linking = {0.5, Length::Unit::spacing}});
    const FriendLabels labels = friends.label(mine);
    EXPECT_EQ(labels.group.size(), mine.size());
    EXPECT_NE(refusal<UsageError>([&] { friends.merge(mine); }).find("ellipsoid"), std::string::npos);
  });
}

}  // namespace
