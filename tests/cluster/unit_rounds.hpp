#pragma once
/// Units of one rank under a merge policy, and rounds that change them, for tests of the searches for partners.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "src/cluster/unit_cells.hpp"
#include "src/cluster/unit_tree.hpp"
#include "tests/cluster/policy_cases.hpp"

namespace merganser::test {

using namespace merganser::cluster;

inline constexpr std::size_t kFan = 3;

/// Policy on one rank.
struct Policy {
  explicit Policy(const std::string& text)
      : policy(parse_policy(text)),
        columns(policy, policy_schema()),
        filter(policy, columns, policy_grid()),
        decomposition(policy_grid(), 1) {}
  /// Returns units of so many species, uniform in the domain.
  [[nodiscard]] Units units(std::size_t n, std::size_t species) const {
    Parcels parcels = policy_parcels(PolicyCloud::uniform, n, 1);
    for (std::size_t i = 0; i < n; ++i) parcels.row(i)[4] = static_cast<double>(i % species);
    Units out(policy_schema(), false);
    out.assign(parcels, policy, columns);
    return out;
  }
  MergePolicy policy;
  PolicyColumns columns;
  PairFilter filter;
  Decomposition decomposition;
};

/// Units of one rank under a policy, their tree, and changes as rounds make them.
struct Rounds {
  /// Makes n units of a cloud. @param edit  changes parcels before they become units; none: nothing is changed
  Rounds(PolicyCloud cloud, const std::string& text, std::size_t n, const Box& box = policy_grid().box,
         std::function<void(Parcels&)> edit = {})
      : edit_(std::move(edit)),
        cloud_(cloud),
        policy_(parse_policy(text)),
        columns_(policy_, policy_schema()),
        filter_(policy_, columns_, policy_grid()),
        units_(policy_schema(), false),
        decomposition_(policy_grid(), 1),
        cells_(decomposition_, 0) {
    filter_.box = box;
    Parcels all = parcels(n, 11);
    units_.assign(all, policy_, columns_);
    tree_.build(units_, filter_);
  }
  /// Returns parcels of the cloud, stretched to the box and edited.
  [[nodiscard]] Parcels parcels(std::size_t n, unsigned seed) const {
    Parcels out = policy_parcels(cloud_, n, seed);
    stretch(out);
    if (edit_) edit_(out);
    return out;
  }
  void stretch(Parcels& out) const {
    const Box from = policy_grid().box;
    const Box& to = filter_.box;
    if (to == from) return;
    const auto place = [&](int a, double x) {
      return to.wrap(a, to.lower[a] + (x - from.lower[a]) / from.extent[a] * to.extent[a]);
    };
    for (std::size_t i = 0; i < out.size(); ++i) {
      Site& s = out.site(i);
      s = {place(0, s.x), place(1, s.y), place(2, s.z), s.volume};
    }
  }
  [[nodiscard]] bool draw(double probability) {
    return std::uniform_real_distribution<double>(0, 1)(random_) < probability;
  }

  /// Removes all units from one on, and tells the tree.
  void remove_from(std::uint32_t first) {
    for (std::uint32_t v = first; v < units_.size(); ++v)
      if (units_.gone[v] == 0) units_.set_gone(v);
    tree_.update();
    units_.changed.clear();
  }
  /// Removes some units, moves some, refuses pairs, appends others as from another rank, and tells the tree.
  void change(unsigned round) {
    const Parcels places = parcels(units_.size(), 100 + round);
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
    Parcels more = parcels(round == 2 ? 0 : 20, 200 + round);
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

  /// Returns the least admissible partners of a unit that are less than a bound, by comparison with all.
  [[nodiscard]] std::vector<Partner> all_pairs(const LookingUnit& looking, std::size_t fan = kFan,
                                               const Partner& bound = Partner()) const {
    std::vector<Partner> best(fan, bound);
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
  static void expect_equal(std::span<const Partner> got, std::span<const Partner> want) {
    ASSERT_LE(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].vertex, want[i].vertex);
      EXPECT_EQ(got[i].id, want[i].id);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(got[i].distance2), std::bit_cast<std::uint64_t>(want[i].distance2));
    }
  }
  /// Compares the partners, one or several, of lookers, a part of all units, and of units that are not in the tree, with all pairs.
  void compare(double part) {
    for (const std::size_t fan : {std::size_t{1}, kFan}) compare(part, fan);
  }
  void compare(double part, std::size_t fan) {
    std::vector<std::uint32_t> lookers;
    for (std::uint32_t v = 0; v < units_.size(); ++v)
      if (units_.gone[v] == 0 && draw(part)) lookers.push_back(v);
    const std::size_t n = lookers.size();
    tree_.sort(lookers);
    ASSERT_EQ(lookers.size(), n);
    std::vector<Partner> found(n * fan);
    tree_.find_all(lookers, fan, found);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t v = lookers[k];
      const std::int64_t id = units_.parcels.id(v);
      expect_equal(
          std::span(found).subspan(k * fan, fan),
          all_pairs({units_.parcels.site(v), id, units_.members[v], tree_.packed(v), units_.refused(id)}, fan));
    }
    const Parcels foreign = parcels(5, 300);
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      std::vector<double> packed(filter_.width() + 1);
      filter_.pack(foreign.row(i), packed.data());
      const LookingUnit looking{foreign.site(i), -1, 1, packed.data(), {}};
      const std::vector<Partner> want = all_pairs(looking, fan);
      std::vector<Partner> best(fan);
      tree_.find(looking, best);
      expect_equal(best, want);
      // A bound as near as a partner keeps that out if it has a lower id, and lets it in if it has a higher one.
      for (const std::int64_t more : {-1, 1}) {
        if (want.back().vertex == links::kNone) continue;
        const Partner known{want.back().distance2, want.back().id + more};
        best.assign(fan, known);
        tree_.find(looking, best);
        expect_equal(best, all_pairs(looking, fan, known));
      }
    }
  }
  /// Returns for how many units cell lists have given up.
  [[nodiscard]] std::size_t given_up() const { return given_up_; }
  /// Returns whether cell lists suit the policy.
  [[nodiscard]] bool cells_suit(bool single) const { return UnitCells::suit(filter_, single); }
  /// Compares the partners that cell lists find for lookers, a part of all units, and for units that are not in them, with all pairs,
  /// as if nothing had been refused.
  /// @param fan  partners of each looker
  void compare_cells(double part, std::size_t fan) {
    std::vector<std::uint8_t> looks(units_.size(), 0);
    std::size_t n = 0;
    for (std::uint32_t v = 0; v < units_.size(); ++v)
      if (units_.gone[v] == 0 && draw(part)) looks[v] = 1, ++n;
    ASSERT_TRUE(cells_.build(units_, looks, filter_, fan));
    std::vector<std::uint32_t> lookers{7, 8, 9};
    std::vector<Partner> found(1);
    std::vector<double> packed(filter_.width() + 1);
    const std::vector<std::uint32_t> given_up = cells_.find_all(lookers, found);
    ASSERT_EQ(lookers.size(), n);
    ASSERT_EQ(found.size(), n * fan);
    given_up_ += given_up.size();
    for (const std::uint32_t k : given_up) {
      ASSERT_FALSE(filter_.packed.phase.empty());
      expect_equal(std::span(found).subspan(k * fan, fan), std::vector<Partner>(fan));
      EXPECT_EQ(looks[lookers[k]], 1);
      looks[lookers[k]] = 0;
      lookers[k] = links::kNone;
    }
    for (std::size_t k = 0; k < lookers.size(); ++k) {
      if (lookers[k] == links::kNone) continue;
      const std::uint32_t v = lookers[k];
      EXPECT_EQ(looks[v], 1);
      looks[v] = 0;  // each is there once
      filter_.pack(units_.parcels.row(v), packed.data());
      expect_equal(
          std::span(found).subspan(k * fan, fan),
          all_pairs({units_.parcels.site(v), units_.parcels.id(v), units_.members[v], packed.data(), {}}, fan));
    }
    const Parcels foreign = parcels(20, 300);
    for (std::size_t i = 0; i < foreign.size(); ++i) {
      filter_.pack(foreign.row(i), packed.data());
      const LookingUnit looking{foreign.site(i), -1, 1, packed.data(), {}};
      const std::vector<Partner> want = all_pairs(looking, fan);
      std::vector<Partner> best(fan);
      if (!cells_.find(looking, best)) {
        ++given_up_;
        EXPECT_FALSE(filter_.packed.phase.empty());
        expect_equal(best, std::vector<Partner>(fan));
        continue;
      }
      expect_equal(best, want);
      // A bound as near as a partner keeps that out if it has a lower id, and lets it in if it has a higher one.
      for (const std::int64_t more : {-1, 1}) {
        if (want.back().vertex == links::kNone) continue;
        const Partner known{want.back().distance2, want.back().id + more};
        best.assign(fan, known);
        ASSERT_TRUE(cells_.find(looking, best));
        expect_equal(best, all_pairs(looking, fan, known));
      }
    }
  }

 private:
  std::function<void(Parcels&)> edit_;
  PolicyCloud cloud_;
  MergePolicy policy_;
  PolicyColumns columns_;
  PairFilter filter_;
  Units units_;
  Decomposition decomposition_;
  UnitTree tree_;
  UnitCells cells_;
  std::size_t given_up_ = 0;
  std::mt19937 random_{5};
};

}  // namespace merganser::test
