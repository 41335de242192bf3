/// The tree and the cell lists of units of a merge policy against all pairs of units, at first and after rounds of changes.
#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <string>
#include <vector>

#include "src/cluster/unit_cells.hpp"
#include "src/cluster/unit_tree.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;
using namespace merganser::test;

constexpr std::size_t kFan = 3;

/// Units of one rank under a policy, their tree, and changes as rounds make them.
struct Rounds {
  Rounds(PolicyCloud cloud, const std::string& text, std::size_t n)
      : cloud_(cloud),
        policy_(parse_policy(text)),
        columns_(policy_, policy_schema()),
        filter_(policy_, columns_, policy_grid()),
        units_(policy_schema(), false),
        decomposition_(policy_grid(), 1),
        cells_(decomposition_, 0) {
    Parcels all = policy_parcels(cloud, n, 11);
    units_.assign(all, policy_, columns_);
    tree_.build(units_, filter_);
  }
  [[nodiscard]] bool draw(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  /// Removes some units, moves some, refuses pairs, appends others as from another rank, and tells the tree.
  void change(unsigned round) {
    const Parcels places = policy_parcels(cloud_, units_.size(), 100 + round);
    for (std::uint32_t v = 0; v < units_.size(); ++v) {
      if (units_.gone[v] != 0) continue;
      if (draw(0.3)) {
        units_.set_gone(v);
      } else if (draw(0.3)) {
        units_.parcels.site(v) = places.site(v);
        for (std::size_t column = 1; column < 4; ++column) units_.parcels.row(v)[column] = places.row(v)[column];
        units_.members[v] += 2;
        units_.changed.push_back(v);
        units_.extra[units_.parcels.id(v)].refused.push_back(units_.parcels.id(draw(0.5) ? 0 : units_.size() / 2));
      }
    }
    Units others(policy_schema(), false);
    Parcels more = policy_parcels(cloud_, round == 2 ? 0 : 20, 200 + round);
    for (std::size_t i = 0; i < more.size(); ++i)
      more.row(i)[0] = std::bit_cast<double>(static_cast<std::int64_t>(1000000 * (round + 1) + i));
    others.assign(more, policy_, columns_);
    std::vector<std::byte> message;
    for (std::size_t i = 0; i < others.size(); ++i) others.append_to(message, i);
    units_.append_from(message);
    if (round == 1) units_.set_gone(units_.size() - 1);  // come and gone in one round
    tree_.update();
    units_.changed.clear();
  }

  /// Returns the least admissible partners of a unit, by comparison with all.
  [[nodiscard]] std::vector<Partner> all_pairs(const LookingUnit& looking) const {
    std::vector<Partner> best(kFan);
    std::vector<double> packed(filter_.width() + 1);
    for (std::uint32_t v = 0; v < units_.size(); ++v) {
      const std::int64_t id = units_.parcels.id(v);
      if (units_.gone[v] != 0 || id == looking.id) continue;
      const Site& s = units_.parcels.site(v);
      filter_.pack(units_.parcels.row(v), packed.data());
      bool is_equal = true;
      for (const std::size_t column : filter_.packed.same)
        is_equal = is_equal && packed[column] == looking.packed[column];
      const auto is_refused = std::find(looking.refused.begin(), looking.refused.end(), id) != looking.refused.end();
      const Vec3 at{looking.site.x, looking.site.y, looking.site.z};
      if (!is_equal || is_refused || filter_.box.distance2(at, {s.x, s.y, s.z}) > filter_.within2 ||
          looking.site.volume + s.volume > filter_.max_weight ||
          looking.members + units_.members[v] > filter_.max_count)
        continue;
      const Partner p{metric2(filter_.box, filter_.packed, looking.site, looking.packed, s, packed.data()), id, v};
      if (p < best.back()) insert_partner(best, p);
    }
    return best;
  }
  static void expect_equal(std::span<const Partner> got, const std::vector<Partner>& want) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].vertex, want[i].vertex);
      EXPECT_EQ(got[i].id, want[i].id);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(got[i].distance2), std::bit_cast<std::uint64_t>(want[i].distance2));
    }
  }
  /// Compares the partners of lookers, a part of all units, and of one unit that is not in the tree, with all pairs.
  void compare(double part) {
    std::vector<std::uint32_t> lookers;
    for (std::uint32_t v = 0; v < units_.size(); ++v)
      if (units_.gone[v] == 0 && draw(part)) lookers.push_back(v);
    const std::size_t n = lookers.size();
    tree_.sort(lookers);
    ASSERT_EQ(lookers.size(), n);
    std::vector<Partner> found(n * kFan);
    tree_.find_all(lookers, kFan, found);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t v = lookers[k];
      const std::int64_t id = units_.parcels.id(v);
      expect_equal(std::span(found).subspan(k * kFan, kFan),
                   all_pairs({units_.parcels.site(v), id, units_.members[v], tree_.packed(v), units_.refused(id)}));
    }
    const Parcels foreign = policy_parcels(cloud_, 5, 300);
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      std::vector<double> packed(filter_.width() + 1);
      filter_.pack(foreign.row(i), packed.data());
      const LookingUnit looking{foreign.site(i), -1, 1, packed.data(), {}};
      std::vector<Partner> best(kFan);
      tree_.find(looking, best);
      expect_equal(best, all_pairs(looking));
    }
  }
  /// Compares the partners that cell lists find for lookers, a part of all units, and for units that are not in them, with all pairs,
  /// as if nothing had been refused. @return whether cell lists suit the policy
  [[nodiscard]] bool compare_cells(double part, bool single) {
    if (!UnitCells::suit(filter_, single)) return false;
    std::vector<std::uint8_t> looks(units_.size(), 0);
    std::size_t n = 0;
    for (std::uint32_t v = 0; v < units_.size(); ++v)
      if (units_.gone[v] == 0 && draw(part)) looks[v] = 1, ++n;
    EXPECT_TRUE(cells_.build(units_, looks, filter_));
    std::vector<std::uint32_t> lookers{7, 8, 9};
    std::vector<Partner> found(1);
    std::vector<double> packed(filter_.width() + 1);
    cells_.find_all(lookers, found);
    EXPECT_EQ(lookers.size(), n);
    EXPECT_EQ(found.size(), n);
    for (std::size_t k = 0; k < lookers.size(); ++k) {
      const std::uint32_t v = lookers[k];
      EXPECT_EQ(looks[v], 1);
      looks[v] = 0;  // each is there once
      filter_.pack(units_.parcels.row(v), packed.data());
      expect_equal(std::span(found).subspan(k, 1),
                   all_pairs({units_.parcels.site(v), units_.parcels.id(v), units_.members[v], packed.data(), {}}));
    }
    const Parcels foreign = policy_parcels(cloud_, 20, 300);
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      filter_.pack(foreign.row(i), packed.data());
      const LookingUnit looking{foreign.site(i), -1, 1, packed.data(), {}};
      std::vector<Partner> want = all_pairs(looking);
      Partner best;
      cells_.find(looking, best);
      expect_equal({&best, 1}, want);
      // A partner that is known stays if it is as near and has a lower id, and goes if it has a higher one.
      for (const std::int64_t more : {-1, 1}) {
        if (want[0].vertex == links::kNone) continue;
        Partner known{want[0].distance2, want[0].id + more};
        cells_.find(looking, known);
        EXPECT_EQ(known.vertex, more < 0 ? links::kNone : want[0].vertex);
      }
    }
    return true;
  }

 private:
  PolicyCloud cloud_;
  MergePolicy policy_;
  PolicyColumns columns_;
  PairFilter filter_;
  Units units_;
  Decomposition decomposition_;
  UnitTree tree_;
  UnitCells cells_;
  std::mt19937 random_{5};
};

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

TEST(UnitCells, finds_the_partners_that_all_pairs_give_over_rounds_of_changes) {
  for (const PolicyCloud cloud : kPolicyClouds)
    for (const std::string text : {"small", "small, within:0.2", "small, within:0.75cell, same:species",
                                   "small, same:species+flag, members:2"}) {
      SCOPED_TRACE(text + " cloud " + std::to_string(static_cast<int>(cloud)));
      Rounds rounds(cloud, text, 400);
      EXPECT_TRUE(rounds.compare_cells(0.5, true));
      const bool limited = text.find("members") != std::string::npos;
      for (unsigned round = 0; round < 4; ++round) {
        rounds.change(round);
        EXPECT_EQ(rounds.compare_cells(round == 3 ? 0.02 : 0.7, false), !limited);
      }
    }
}

TEST(UnitCells, suit_no_policy_with_a_limit_of_weight_or_a_phase_space_and_few_species_alone) {
  EXPECT_FALSE(Rounds(PolicyCloud::uniform, "small, weight:0.6", 4).compare_cells(1, true));
  EXPECT_FALSE(Rounds(PolicyCloud::uniform, "small, phase:ux*0.1", 4).compare_cells(1, true));
  const MergePolicy policy = parse_policy("small, same:species");
  const PolicyColumns columns(policy, policy_schema());
  const PairFilter filter(policy, columns, policy_grid());
  const Decomposition decomposition(policy_grid(), 1);
  UnitCells cells(decomposition, 0);
  for (const std::size_t species : {16, 17, 3}) {
    Parcels parcels = policy_parcels(PolicyCloud::uniform, 100, 1);
    for (std::size_t i = 0; i < parcels.size(); ++i) parcels.row(i)[4] = static_cast<double>(i % species);
    Units units(policy_schema(), false);
    units.assign(parcels, policy, columns);
    EXPECT_EQ(cells.build(units, std::vector<std::uint8_t>(units.size(), 1), filter), species <= 16);
  }
}

TEST(UnitTree, finds_nothing_in_an_empty_tree_or_beside_one_unit) {
  for (const std::size_t n : {0, 1}) {
    Rounds rounds(PolicyCloud::uniform, "small, phase:ux*0.1", n);
    rounds.compare(1);
    rounds.change(2);
    rounds.compare(1);
  }
}

}  // namespace
