/// The tree and the cell lists of units of a merge policy against all pairs of units, at first and after rounds of changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "src/cluster/policy_search.hpp"
#include "tests/cluster/share.hpp"
#include "tests/cluster/unit_rounds.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;
using namespace merganser::test;

TEST(UnitTree, finds_the_partners_that_all_pairs_give_over_rounds_of_changes) {
  const std::vector<std::string> texts{"small",
                                       "small, within:0.4",
                                       "small, same:species",
                                       "small, same:species+flag, members:4",
                                       "small, weight:0.6",
                                       "small, phase:ux*0.1",
                                       "small, phase:ux*3+uy*0.2, within:0.5",
                                       "small, phase:ux*0.1+uy*0.2+uz*0.3, same:species, members:3"};
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const std::string& text : texts) {
      SCOPED_TRACE(text + " cloud " + std::to_string(static_cast<int>(cloud)));
      Rounds rounds(cloud, text, 400);
      rounds.compare(0.5);
      for (unsigned round = 0; round < 4; ++round) {
        rounds.change(round);
        rounds.compare(round == 3 ? 0.02 : 0.7);
      }
    }
}

TEST(UnitTree, finds_partners_half_a_box_away_and_beyond_periodic_faces_of_boxes_whose_corners_are_rounded) {
  const Box boxes[] = {{{-1, 0, 2}, {4, 3, 2}, {true, true, true}},
                       {{0.1, -1000.7, 1e6 + 0.3}, {0.3, 0.7, 1.1}, {true, true, true}},
                       {{0.1, -1000.7, 1e6 + 0.3}, {0.3, 0.7, 1.1}, {false, true, false}}};
  for (const PolicyCloud cloud : {PolicyCloud::uniform, PolicyCloud::lattice, PolicyCloud::corner})
    for (const char* text :
         {"small", "small, within:0.4", "small, phase:ux*0.1", "small, phase:ux*3+uy*0.2, within:0.5"})
      for (const Box& box : boxes)
        for (const std::size_t n : {2, 3, 5, 8, 17, 40, 100}) {
          SCOPED_TRACE(text + (" cloud " + std::to_string(static_cast<int>(cloud))) + " units " + std::to_string(n));
          Rounds rounds(cloud, text, n, box);
          rounds.compare(0.7);
          rounds.change(0);
          rounds.compare(1);
        }
}

TEST(UnitCells, finds_the_partners_that_all_pairs_give_over_rounds_of_changes) {
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const std::string text :
         {"small", "small, within:0.2", "small, within:0.75cell, same:species", "small, same:species+flag, members:2",
          "small, phase:ux*0.1", "small, phase:ux*3+uy*0.2, within:0.5",
          "small, phase:ux*0.1+uy*0.2+uz*0.3, same:species"}) {
      SCOPED_TRACE(text + " cloud " + std::to_string(static_cast<int>(cloud)));
      Rounds rounds(cloud, text, 400);
      EXPECT_TRUE(rounds.cells_suit(true));
      for (const std::size_t fan : {1, 2, 4, 16}) rounds.compare_cells(0.5, fan);
      const bool limited = text.find("members") != std::string::npos;
      EXPECT_EQ(rounds.cells_suit(false), !limited);
      for (unsigned round = 0; round < 4 && !limited; ++round) {
        rounds.change(round);
        for (const std::size_t fan : {1, 5}) rounds.compare_cells(round == 3 ? 0.02 : 0.7, fan);
      }
    }
}

TEST(UnitCells, give_up_where_the_phase_space_is_wide) {
  for (const std::string text : {"small, phase:ux*0.02", "small, phase:ux*0.02+uy*0.02, within:0.75cell",
                                 "small, phase:ux*100", "small, phase:ux*100, same:species"}) {
    SCOPED_TRACE(text);
    Rounds rounds(PolicyCloud::uniform, text, 3000);
    for (const std::size_t fan : {1, 3}) rounds.compare_cells(0.2, fan);
    if (text.find("100") == std::string::npos)
      EXPECT_EQ(rounds.given_up(), 0);
    else
      EXPECT_GT(rounds.given_up(), 100);
  }
}

TEST(UnitCells, suit_no_policy_with_a_limit_of_weight_and_few_species_alone) {
  EXPECT_FALSE(Rounds(PolicyCloud::uniform, "small, weight:0.6", 4).cells_suit(true));
  Policy policy("small, same:species");
  UnitCells cells(policy.decomposition, 0);
  for (const std::size_t species : {16, 17, 3}) {
    const Units units = policy.units(100, species);
    EXPECT_EQ(cells.build(units, std::vector<std::uint8_t>(units.size(), 1), policy.filter, 1), species <= 16);
    EXPECT_EQ(cells.capacity() > 0, species <= 16);
  }
}

TEST(UnitCells, give_back_the_memory_of_many_units) {
  for (const char* text : {"small", "small, same:species"}) {
    Policy policy(text);
    UnitCells cells(policy.decomposition, 0);
    std::vector<std::uint32_t> lookers;
    std::vector<Partner> found;
    for (const std::size_t n : {30000U, 3000U, 30000U, 0U}) {
      const Units units = policy.units(n, 3);
      ASSERT_TRUE(cells.build(units, std::vector<std::uint8_t>(n, 1), policy.filter, 1));
      EXPECT_GE(cells.capacity(), n);
      EXPECT_LE(cells.capacity(), 4 * n + 3 * 1024);
      EXPECT_TRUE(cells.find_all(lookers, found).empty());
      ASSERT_EQ(lookers.size(), n);
      const bool all =
          std::all_of(found.begin(), found.end(), [](const Partner& p) { return p.vertex != links::kNone; });
      EXPECT_TRUE(all);
    }
  }
}

/// Three units on a line, a quarter of a unit of length from each other; the one in the middle looks.
TEST(UnitCells, a_partner_at_the_greatest_distance_is_admitted_and_one_beyond_is_not) {
  Policy policy("small, within:0.25");
  const double within2 = 0.0625;
  ASSERT_EQ(policy.filter.within2, within2);
  UnitCells cells(policy.decomposition, 0);
  for (const double limit : {within2, std::nextafter(within2, 0.0), std::nextafter(within2, 1.0)}) {
    policy.filter.within2 = limit;
    Units units = policy.units(3, 1);
    for (std::uint32_t v = 0; v < 3; ++v) units.parcels.site(v) = {0.25 + 0.25 * v, 1, 3, 0.1};
    const std::uint32_t lower = units.parcels.id(0) < units.parcels.id(2) ? 0 : 2;
    const Partner want = limit < within2 ? Partner() : Partner{within2, units.parcels.id(lower), lower};
    ASSERT_TRUE(cells.build(units, {0, 1, 0}, policy.filter, 1));
    std::vector<std::uint32_t> lookers;
    std::vector<Partner> found;
    EXPECT_TRUE(cells.find_all(lookers, found).empty());
    ASSERT_EQ(lookers, std::vector<std::uint32_t>{1});
    Rounds::expect_equal(found, {&want, 1});
    // A unit of another rank, a quarter from the units 0 and 2 beside it if unit 1 is away.
    units.set_gone(1);
    ASSERT_TRUE(cells.build(units, {0, 0, 0}, policy.filter, 1));
    const double packed = 0;
    const LookingUnit looking{{0.5, 1, 3, 0.1}, -1, 1, &packed, {}};
    Partner best;
    EXPECT_TRUE(cells.find(looking, {&best, 1}));
    Rounds::expect_equal({&best, 1}, {&want, 1});
    for (const std::int64_t more : {-1, 1}) {
      const Partner known{within2, units.parcels.id(lower) + more};
      best = known;
      EXPECT_TRUE(cells.find(looking, {&best, 1}));
      Rounds::expect_equal({&best, 1}, {more < 0 || limit < within2 ? &known : &want, 1});
    }
  }
}

/// Process graph of one rank, over which nothing is sent.
struct NoArcs final : comm::Mailbox {
  NoArcs() : Mailbox(comm::Graph{}) {}
  void check_usable() const override {}
  void step_all() override {}
  void step_some(std::span<const std::uint8_t>, std::span<const std::uint8_t>) override {}
};

/// Rounds of one rank; each tells whether it is by cell lists.
struct Search {
  explicit Search(const std::string& text, std::size_t fan = 1, bool several = false, bool lengths = true)
      : policy(text), search(mailbox, policy.decomposition, 0, policy.filter, fan, several, lengths) {}
  [[nodiscard]] bool round(Units& units, std::size_t lookers) {
    std::vector<std::uint8_t> looks(units.size(), 0);
    std::fill_n(looks.begin(), lookers, std::uint8_t{1});
    search.find(units, looks, seconds);
    EXPECT_EQ(search.lookers().size(), lookers);
    return search.is_by_cells();
  }
  Policy policy;
  NoArcs mailbox;
  PolicySearch search;
  StageTimes seconds;
};

TEST(PolicySearch, takes_cell_lists_where_they_suit_and_many_units_look) {
  for (const char* text : {"small", "mask:flag, same:species", "crowded:8->5, within:1cell", "small, pairs"}) {
    Search s(text);
    Units units = s.policy.units(320, 3);
    s.search.begin();
    EXPECT_TRUE(s.round(units, 2)) << text;  // the first round
    EXPECT_TRUE(s.round(units, 20)) << text;
    EXPECT_FALSE(s.round(units, 0)) << text;  // which builds no tree
    EXPECT_TRUE(s.round(units, 20)) << text;
    EXPECT_TRUE(s.round(units, 19)) << text;
    EXPECT_TRUE(s.round(units, 1)) << text;
    EXPECT_TRUE(s.round(units, 20)) << text;
    EXPECT_FALSE(s.round(units, 19)) << text;  // the third round in which few look
    EXPECT_FALSE(s.round(units, 320)) << text << ": the tree is kept";
    s.search.begin();
    EXPECT_TRUE(s.round(units, 320)) << text;
  }
}

TEST(PolicySearch, partners_alone_are_those_that_are_found_with_their_lengths) {
  for (const char* text : {"small", "mask:flag, same:species", "small, within:0.2", "small, phase:ux*0.3"})
    for (const std::size_t n : {1U, 2U, 700U}) {
      Search with(text);
      Search without(text, 1, false, false);
      Units units = with.policy.units(n, 3);
      with.search.begin();
      without.search.begin();
      for (const std::size_t lookers : {(n + 1) / 2, std::size_t{1}}) {
        EXPECT_EQ(with.round(units, lookers), without.round(units, lookers)) << text;
        EXPECT_EQ(with.search.lookers(), without.search.lookers()) << text;
        EXPECT_EQ(with.search.links().target, without.search.links().target) << text << ", " << n << " units";
        for (std::size_t v = (n + 1) / 2; v < n; v += 3) units.gone[v] = 1;  // in the second round
      }
    }
}

TEST(PolicySearch, lookers_search_fall_backs_only_if_their_nearest_may_be_taken) {
  Search s("mask:flag, greedy:3", 4, true);
  Units units = s.policy.units(3000, 3);
  s.search.begin();
  EXPECT_TRUE(s.round(units, 1500));
  const auto lookers = s.search.lookers().size();
  std::size_t certain = 0;
  for (std::size_t k = 0; k < lookers; ++k) {
    EXPECT_EQ(s.search.partners_of(k).size(), s.search.is_certain(k) ? 1U : 4U);
    certain += s.search.is_certain(k) ? 1 : 0;
  }
  EXPECT_EQ(lookers, 1500U);
  EXPECT_GT(certain, lookers / 2);
  EXPECT_LT(certain, lookers);
}

TEST(PolicySearch, takes_trees_where_cell_lists_do_not_suit) {
  Search weight("small, weight:0.6");
  Units units = weight.policy.units(100, 3);
  weight.search.begin();
  EXPECT_FALSE(weight.round(units, 100));

  Search greedy("small, greedy:3", 4, true);
  units = greedy.policy.units(100, 3);
  greedy.search.begin();
  EXPECT_TRUE(greedy.round(units, 100));
  for (std::uint32_t v = 0; v < 100; ++v)
    units.parcels.site(v) = units.parcels.site(0);  // 64 in a cell are not crowded
  greedy.search.begin();
  EXPECT_TRUE(greedy.round(units, 64));
  greedy.search.begin();
  EXPECT_FALSE(greedy.round(units, 65));

  Search members("small, members:4");
  units = members.policy.units(100, 3);
  members.search.begin();
  EXPECT_TRUE(members.round(units, 100));
  EXPECT_FALSE(members.round(units, 100));

  Search refused("small, within:1");
  units = refused.policy.units(100, 3);
  refused.search.begin();
  EXPECT_TRUE(refused.round(units, 100));
  units.extra[units.parcels.id(0)].refused.push_back(units.parcels.id(1));
  EXPECT_FALSE(refused.round(units, 100));
}

TEST(PolicySearch, finds_in_a_tree_what_cell_lists_do_not_find_and_then_builds_trees_at_once) {
  for (const bool wide : {false, true})
    for (const std::size_t fan : {1, 4}) {
      Search s(wide ? "small, phase:ux*100, same:species" : "small, phase:ux*0.02", fan, fan > 1);
      Units units = s.policy.units(12000, 2);
      UnitTree tree;
      tree.build(units, s.policy.filter);
      for (int step = 0; step < 2; ++step) {
        s.search.begin();
        EXPECT_EQ(s.round(units, 300), step == 0 || !wide) << step;
        std::vector<Partner> want(300 * fan);
        tree.find_all(s.search.lookers(), fan, want);
        for (std::size_t k = 0; k < 300; ++k)
          Rounds::expect_equal(s.search.partners_of(k), std::span(want).subspan(k * fan, fan));
      }
    }
}

TEST(PolicySearch, builds_trees_after_queries_of_another_rank_that_cell_lists_did_not_answer) {
  on_ranks({"threads", 2, ""}, [](comm::Transport& t) {
    const Policy policy("small, phase:ux*100");
    const Decomposition halves(policy_grid(), 2);
    const auto mailbox = t.mailbox(comm::Graph::symmetric({1 - t.rank()}));
    PolicySearch search(*mailbox, halves, t.rank(), policy.filter, 1, false);
    Parcels mine = owned_parcels(t, policy.units(6000, 1).parcels, halves);
    Units units(policy_schema(), false);
    units.assign(mine, policy.policy, policy.columns);
    std::vector<std::uint8_t> looks(units.size(), 0);
    if (t.rank() == 0) std::fill_n(looks.begin(), 300, std::uint8_t{1});
    StageTimes seconds;
    for (int step = 0; step < 2; ++step) {
      search.begin();
      search.find(units, looks, seconds);
      EXPECT_EQ(search.is_by_cells(), step == 0) << "rank " << t.rank();
    }
  });
}

TEST(PolicySearch, tries_cell_lists_again_long_after_too_many_species) {
  Search s("small, same:species");
  Units many = s.policy.units(100, 17);
  Units few = s.policy.units(100, 3);
  s.search.begin();
  EXPECT_TRUE(s.round(few, 100));
  s.search.begin();
  EXPECT_FALSE(s.round(many, 100));
  int steps = 1;
  for (bool by_cells = false; !by_cells && steps < 1000; ++steps) {
    s.search.begin();
    by_cells = s.round(few, 100);
  }
  EXPECT_EQ(steps, 65);
}

TEST(UnitTree, finds_nothing_in_an_empty_tree_or_beside_one_unit) {
  for (const std::size_t n : {0, 1}) {
    Rounds rounds(PolicyCloud::uniform, "small, phase:ux*0.1", n);
    rounds.compare(1);
    rounds.change(2);
    rounds.compare(1);
  }
}

// An empty tree has no members, which are the greatest integer there.
TEST(UnitTree, finds_partners_beside_trees_of_which_all_units_are_gone) {
  for (const char* text : {"small", "small, members:4", "small, weight:0.6", "small, phase:ux*0.1, members:3"}) {
    SCOPED_TRACE(text);
    Rounds rounds(PolicyCloud::uniform, text, 40);
    rounds.change(0);
    rounds.remove_from(40);  // the tree of those appended
    rounds.compare(1);
    rounds.change(1);
    rounds.remove_from(0);
    rounds.compare(1);
  }
}

}  // namespace
