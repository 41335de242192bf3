// Serial oracle of merge policies on cases small enough to be computed by hand.
#include "merganser/cluster/policy_reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/cluster/greedy_pairs.hpp"
#include "src/cluster/policy_arithmetic.hpp"

namespace {

using namespace merganser;

/// Returns the schema of the cases: momentum, species, and a number that is summed.
Schema plasma_schema() {
  return Schema({{"ux", 1, Rule::mean, {"ux"}, ""},
                 {"uy", 1, Rule::mean, {"uy"}, ""},
                 {"uz", 1, Rule::mean, {"uz"}, ""},
                 {"species", 1, Rule::centre, {"species"}, ""},
                 {"charges", 1, Rule::sum, {"charges"}, ""}});
}

/// Parcel of a case on a line along x, with y = z = 0.5.
struct Dot {
  double x;
  double volume = 1;
  double species = 0;
  Vec3 u{0, 0, 0};
};

/// Returns parcels with the ids 0, 1, ... in the order of a list.
Parcels parcels_of(const std::vector<Dot>& dots) {
  Parcels p(plasma_schema());
  for (const Dot& d : dots) {
    const std::vector<double> row{
        std::bit_cast<double>(static_cast<std::int64_t>(p.size())), d.u[0], d.u[1], d.u[2], d.species, 1};
    p.append({d.x, 0.5, 0.5, d.volume}, row.data());
  }
  return p;
}

/// Grid of the cases: 16 x 1 x 1 cells of edge 1, periodic in x.
const Grid kLine{{{0, 0, 0}, {16, 1, 1}, {true, false, false}}, {16, 1, 1}};

/// Parcels and outcome of a step of the oracle.
struct Result {
  Parcels parcels;
  PolicyOutcome outcome;
  /// Returns the positions of the remaining parcels along x, by id.
  [[nodiscard]] std::map<std::int64_t, double> places() const {
    std::map<std::int64_t, double> out;
    for (std::size_t i = 0; i < parcels.size(); ++i) out[parcels.id(i)] = parcels.site(i).x;
    return out;
  }
};

/// Makes one step of the oracle. By default every parcel of a case looks that has a volume below 10.
Result step(const std::vector<Dot>& dots, MergePolicy policy, const Grid& grid = kLine) {
  Result r{parcels_of(dots), {}};
  if (policy.looker == Looker::small && policy.small_below == 0 && !policy.is_friends() && policy.level_ratio == 0)
    policy.small_below = 10;
  r.outcome = policy_reference(r.parcels, grid, {}, policy);
  return r;
}
Result step(const std::vector<Dot>& dots, const char* policy) { return step(dots, parse_policy(policy)); }

using Places = std::map<std::int64_t, double>;

TEST(PolicyReference, the_default_policy_merges_as_the_reference_without_policies) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(0, 1);
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, true, false}}, {4, 4, 4}};
  Parcels a;
  for (std::int64_t i = 0; i < 300; ++i) {
    const double b = 0.01;
    const double row[] = {std::bit_cast<double>(7 * i), u(random), 2, 3, u(random), b, 0, 0, b, 0};
    a.append({4 * u(random), 4 * u(random), std::floor(8 * u(random)) / 2, 0.04 * u(random)}, row);
  }
  Parcels b = a;
  const StepReport want = cluster_reference(a, grid, {});
  const PolicyOutcome got = policy_reference(b, grid, {}, {});
  EXPECT_EQ(digest(a).to_string(), digest(b).to_string());
  EXPECT_EQ(got.report.merged, want.merged);
  EXPECT_EQ(got.report.small, want.small);
  EXPECT_EQ(got.report.clusters, want.clusters);
  EXPECT_EQ(got.rounds, 1);
}

TEST(PolicyReference, lookers_are_those_of_the_threshold_or_the_mask) {
  EXPECT_EQ(step({{1, 1}, {2, 5}, {4, 5}}, "small:2").places(), (Places{{1, 2 - 1.0 / 6}, {2, 4}}));
  EXPECT_EQ(step({{1, 1, 0}, {2, 1, 0}, {4, 1, 1}}, "mask:species").places(), (Places{{0, 1}, {1, 3}}));
}

TEST(PolicyReference, partners_are_of_one_species_and_near) {
  EXPECT_EQ(step({{1, 1, 0}, {2, 1, 1}, {4, 1, 0}}, "same:species").places(), (Places{{0, 2.5}, {1, 2}}));
  EXPECT_EQ(step({{1}, {2}, {5}}, "within:1").places(), (Places{{0, 1.5}, {2, 5}}));
  EXPECT_EQ(step({{1}, {2}, {5}}, "within:0.99cell").places(), (Places{{0, 1}, {1, 2}, {2, 5}}));
  EXPECT_EQ(step({{1}, {2}, {5}}, "within:1").outcome.report.unmatched, 1);
}

TEST(PolicyReference, phase_space_counts_columns_times_their_factors) {
  const std::vector<Dot> dots{{1, 1, 0, {3, 0, 0}}, {2, 19, 0, {0, 0, 0}}, {4, 19, 0, {3, 0, 0}}};
  EXPECT_EQ(step(dots, "phase:ux*0.1").places().at(2), 4);  // distance squared 1 + 0.09 to 1, 9 to 2
  EXPECT_EQ(step(dots, "phase:ux*1").places().at(1), 2);    // 1 + 9 to 1, 9 to 2
  EXPECT_EQ(step(dots, "phase:ux*1").places().at(2), 4 - 3 / 20.0);
}

TEST(PolicyReference, mutual_pairs_leave_the_third) {
  EXPECT_EQ(step({{0}, {1}, {3}}, "pairs").places(), (Places{{0, 0.5}, {2, 3}}));
  // Two lookers whose nearest is one that does not look: the nearer of them gets it, and the other stays.
  EXPECT_EQ(step({{0}, {1.25, 10}, {3}}, "pairs, small:2").places().size(), 2U);
  EXPECT_EQ(step({{0}, {1.25, 10}, {3}}, "pairs, small:2").places().count(2), 1U);
}

TEST(PolicyReference, a_mutual_pair_needs_the_least_link_of_both_ends) {
  // The nearest of 3 is 2, whose own nearest is 1, which 0 has: neither 2 nor 3 merges. Greedy pairs take 2 and 3.
  EXPECT_EQ(step({{0}, {1}, {2.5}, {4.5}}, "pairs").places(), (Places{{0, 0.5}, {2, 2.5}, {3, 4.5}}));
  EXPECT_EQ(step({{0}, {1}, {2.5}, {4.5}}, "greedy:0").places(), (Places{{0, 0.5}, {2, 3.5}}));
}

TEST(PolicyReference, greedy_pairs_fall_back_on_the_next_partner) {
  const std::vector<Dot> dots{{5}, {6}, {6.75}, {2, 20}};
  EXPECT_EQ(step(dots, "greedy:1").places(), (Places{{0, 5}, {1, 6.375}, {3, 2}}));
  EXPECT_EQ(step(dots, "greedy:2").places(), (Places{{1, 6.375}, {3, (2 * 20 + 5) / 21.0}}));
}

TEST(GreedyPairs, more_links_than_32_bits_number_are_refused) {
  constexpr std::size_t kMax = 0x7fffffff;  // each has two ends at most
  EXPECT_NO_THROW(cluster::check_link_count(0));
  EXPECT_NO_THROW(cluster::check_link_count(kMax));
  EXPECT_THROW(cluster::check_link_count(kMax + 1), InputError);
  EXPECT_THROW(cluster::check_link_count(std::size_t{1} << 40), InputError);
}

TEST(PolicyReference, a_star_closes_at_the_greatest_number_of_members) {
  // 0, 1 and 2 point at 3, from distances 1, 1.25 and 1.5; 2 is refused and finds nobody else within 2.
  const Grid plane{{{0, 0, 0}, {16, 16, 1}, {true, true, false}}, {16, 16, 1}};
  Parcels all = parcels_of({{5}, {7.25}, {6}, {6, 20}});
  all.site(2).y = 2;
  MergePolicy p = parse_policy("members:3, small:2, within:2");
  Result r{all, {}};
  r.outcome = policy_reference(r.parcels, plane, {}, p);
  EXPECT_EQ(r.outcome.refused, 1);
  EXPECT_EQ(r.outcome.rounds, 1);
  ASSERT_EQ(r.places().size(), 2U);
  EXPECT_EQ(r.parcels.column("charges")[1], 3);
  EXPECT_EQ(r.outcome.report.lineage.size(), 2U);
  p.max_members = 4;
  r.parcels = all;
  r.outcome = policy_reference(r.parcels, plane, {}, p);
  EXPECT_EQ(r.parcels.size(), 1U);
}

TEST(PolicyReference, a_star_is_closed_to_lighter_leaves_too) {
  // Leaves of 3 from distances 0.5, 0.6 and 0.7; the second exceeds the weight, the third alone would not.
  const Grid plane{{{0, 0, 0}, {16, 16, 1}, {true, true, false}}, {16, 16, 1}};
  Parcels p = parcels_of({{5.5}, {6.6}, {6, 0.5}, {6, 20}});
  p.site(2).y = 1.2;
  const PolicyOutcome out = policy_reference(p, plane, {}, parse_policy("weight:21.6, small:2, within:0.75"));
  EXPECT_EQ(out.refused, 2);
  EXPECT_EQ(p.size(), 3U);
}

TEST(PolicyReference, a_looker_that_is_the_centre_of_refused_leaves_alone_looks_again) {
  // 0 and 1 are each other's nearest, but nothing may be at 5.5: in the next round both join 2.
  MergePolicy p = parse_policy("within:3, small:2");
  p.allowed = [](const Vec3& x) { return x[0] < 5; };
  const Result r = step({{5}, {6}, {3.5, 20}}, p);
  EXPECT_EQ(r.outcome.rounds, 2);
  ASSERT_EQ(r.places().size(), 1U);
  EXPECT_NEAR(r.places().at(2), 3.5 + 4 / 22.0, 1e-15);
}

TEST(PolicyReference, refused_leaves_look_for_another_partner) {
  // 0 and 1 point at 2; it may have a weight of 21 only, so the farther one is refused and takes 3.
  const Result r = step({{5.5}, {6.75}, {6.25, 20}, {3, 11}}, "weight:21, small:2");
  EXPECT_EQ(r.outcome.refused, 1);
  EXPECT_EQ(r.outcome.rounds, 2);
  ASSERT_EQ(r.places().size(), 2U);
  EXPECT_EQ(r.places().at(3), (33 + 5.5) / 12);
  EXPECT_NEAR(r.places().at(2), 6.25 + 0.5 / 21, 1e-15);
}

TEST(PolicyReference, a_predicate_that_refuses_everything_leaves_all_as_it_is) {
  MergePolicy p = parse_policy("within:3");
  p.allowed = [](const Vec3&) { return false; };
  const Result r = step({{1}, {2}, {3}, {9}}, p);
  EXPECT_EQ(r.parcels.size(), 4U);
  EXPECT_TRUE(r.outcome.settled);
  EXPECT_EQ(r.outcome.refused, 3);  // each pair within 3 once
}

TEST(PolicyReference, a_predicate_refuses_one_leaf_and_accepts_the_next) {
  MergePolicy p = parse_policy("within:1, small:2");
  p.allowed = [](const Vec3& x) { return x[0] > 6; };
  const Result r = step({{5.5}, {6.75}, {6, 20}}, p);
  EXPECT_EQ(r.places().size(), 2U);
  EXPECT_EQ(r.places().at(0), 5.5);
  EXPECT_EQ(r.outcome.refused, 1);
}

TEST(PolicyReference, rounds_have_a_limit_that_is_reported) {
  MergePolicy p = parse_policy("within:3, rounds:1");
  p.allowed = [](const Vec3&) { return false; };
  const Result r = step({{1}, {2}, {3.5}}, p);
  EXPECT_EQ(r.outcome.rounds, 1);
  EXPECT_FALSE(r.outcome.settled);
}

TEST(PolicyReference, crowded_cells_are_thinned_to_their_target_and_others_left) {
  const Result r = step({{1.1}, {1.2}, {1.3}, {1.4}, {1.5}, {1.6}, {3.1}, {3.2}, {3.3}}, "crowded:3->2");
  std::int64_t first = 0;
  for (const auto& [id, x] : r.places()) first += x < 2;
  EXPECT_LE(first, 3);
  EXPECT_GE(first, 2);
  EXPECT_EQ(r.places().at(6), 3.1);
  EXPECT_EQ(static_cast<std::int64_t>(r.parcels.size()), first + 3);
}

TEST(PolicyReference, the_lightest_of_a_crowded_cell_look) {
  // One of three may look: the lightest, 1. It joins its nearest.
  const Places places = step({{1.125, 3}, {1.25, 2}, {1.75, 4}}, "crowded:2->2").places();
  ASSERT_EQ(places.size(), 2U);
  EXPECT_NEAR(places.at(0), 1.125 + 0.125 * 2 / 5, 1e-15);
  EXPECT_EQ(places.at(2), 1.75);
}

TEST(PolicyReference, all_in_one_point_are_thinned_to_the_target) {
  const std::vector<Dot> dots(20, Dot{4.5});
  EXPECT_EQ(step(dots, "crowded:4->4").parcels.size(), 4U);
  EXPECT_EQ(step(dots, "crowded:20->4").parcels.size(), 20U);
}

TEST(PolicyReference, the_result_is_at_the_place_of_the_policy) {
  const std::vector<Dot> dots{{15.5, 1}, {0.5, 4}};  // across the periodic face
  EXPECT_NEAR(step(dots, "place:centroid").places().at(0), 0.3, 1e-15);
  EXPECT_EQ(step(dots, "place:heaviest").places(), (Places{{0, 0.5}}));
  EXPECT_EQ(step(dots, "place:centre").places(), (Places{{0, 15.5}}));
  MergePolicy p = parse_policy("place:member");
  int heavy = 0;
  for (p.step = 0; p.step < 1000; ++p.step) heavy += step(dots, p).places().at(0) == 0.5;
  EXPECT_NEAR(heavy, 800, 50);
}

TEST(PolicyReference, draws_are_exponential_and_differ_in_seed_step_round_and_id) {
  double sum = 0;
  double squares = 0;
  for (std::int64_t id = 0; id < 20000; ++id) {
    const double e = cluster::draw_exponential({}, cluster::Draw::place, id);
    sum += e;
    squares += e * e;
  }
  EXPECT_NEAR(sum / 20000, 1, 0.03);
  EXPECT_NEAR(squares / 20000, 2, 0.15);
  const double e = cluster::draw_exponential({1, 2, 3}, cluster::Draw::place, 4);
  EXPECT_NE(e, cluster::draw_exponential({2, 2, 3}, cluster::Draw::place, 4));
  EXPECT_NE(e, cluster::draw_exponential({1, 3, 3}, cluster::Draw::place, 4));
  EXPECT_NE(e, cluster::draw_exponential({1, 2, 4}, cluster::Draw::place, 4));
  EXPECT_NE(e, cluster::draw_exponential({1, 2, 3}, cluster::Draw::place, 5));
  EXPECT_NE(e, cluster::draw_exponential({1, 2, 3}, cluster::Draw::level, 4));
}

/// Returns weight, momentum and kinetic energy of parcels.
std::array<double, 5> sums(const Parcels& p, const MergePolicy& policy) {
  const cluster::PolicyColumns columns(policy, p.schema());
  std::array<double, 5> out{};
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double w = p.site(i).volume;
    out[0] += w;
    for (std::size_t a = 0; a < 3; ++a) out[1 + a] += w * p.row(i)[columns.momentum[a]];
    out[4] += w * cluster::kinetic_energy(policy, columns, p.row(i));
  }
  return out;
}

TEST(PolicyReference, two_of_three_have_their_momentum_and_energy) {
  const std::vector<Dot> star{{5.5, 2, 0, {1, 2, -1}}, {6.25, 1, 0, {-3, 0.5, 0}}, {6, 20, 0, {0, 0.25, 4}}};
  for (const char* text : {"conserve:momentum+energy", "conserve:momentum+energy, relativistic:0.7"}) {
    MergePolicy p = parse_policy(text);
    p.small_below = 3;
    const Result r = step(star, p);
    ASSERT_EQ(r.parcels.size(), 2U);
    EXPECT_EQ(r.parcels.id(0), 0);
    EXPECT_EQ(r.parcels.id(1), 1);
    EXPECT_EQ(r.parcels.site(0).volume, 11.5);
    EXPECT_EQ(r.parcels.site(1).volume, 11.5);
    EXPECT_EQ(r.parcels.column("charges")[0], 1.5);
    EXPECT_EQ(r.parcels.site(0).x, r.parcels.site(1).x);
    const auto before = sums(parcels_of(star), p);
    const auto after = sums(r.parcels, p);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-13 * before[4]) << text << i;
    EXPECT_NE(r.parcels.column("ux")[0], r.parcels.column("ux")[1]);
    MergePolicy mean = parse_policy("conserve:momentum");
    mean.small_below = 3;
    mean.light_speed = p.light_speed;
    EXPECT_LT(sums(step(star, mean).parcels, mean)[4], 0.99 * before[4]);
  }
}

TEST(PolicyReference, two_momenta_exist_where_the_mean_vanishes_or_all_are_equal) {
  const MergePolicy p = parse_policy("conserve:momentum+energy");
  for (std::int64_t id = 0; id < 50; ++id) {
    const auto [a, b] = cluster::two_momenta(p, {}, {0, 0, 0}, 2, 1, id);
    EXPECT_NEAR(a[0] * a[0] + a[1] * a[1] + a[2] * a[2], 4, 1e-14);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(a[i], -b[i]);
  }
  const auto [c, d] = cluster::two_momenta(p, {}, {0, 2, 0}, 2, 1, 7);
  EXPECT_EQ(c, (Vec3{0, 2, 0}));
  EXPECT_EQ(d, (Vec3{0, 2, 0}));
}

TEST(PolicyReference, a_pair_is_left_as_it_was_where_two_remain_of_n) {
  const Result r = step({{1, 1, 0, {1, 0, 0}}, {2, 3, 0, {0, 1, 0}}}, "conserve:momentum+energy");
  EXPECT_EQ(digest(r.parcels).to_string(),
            digest(parcels_of({{1, 1, 0, {1, 0, 0}}, {2, 3, 0, {0, 1, 0}}})).to_string());
  EXPECT_EQ(r.outcome.undone, 1);
  EXPECT_EQ(r.outcome.report.merged, 0);
}

TEST(PolicyReference, crowding_reaches_its_target_where_two_remain_of_n) {
  std::vector<Dot> dots;
  for (int i = 0; i < 17; ++i) dots.push_back({4.03 + 0.05 * i, 1 + 0.01 * i, 0, {std::sin(i), std::cos(i), 0}});
  for (const int target : {16, 10, 4, 2}) {
    const MergePolicy p =
        parse_policy("conserve:momentum+energy, crowded:" + std::to_string(target) + "->" + std::to_string(target));
    const Result r = step(dots, p);
    EXPECT_EQ(static_cast<int>(r.parcels.size()), target);
    EXPECT_TRUE(r.outcome.settled);
    const auto before = sums(parcels_of(dots), p);
    const auto after = sums(r.parcels, p);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-13 * before[4]);
  }
}

TEST(PolicyReference, an_odd_target_is_reached_to_the_greatest_number_where_two_remain_of_n) {
  std::vector<Dot> dots;
  for (int i = 0; i < 17; ++i) dots.push_back({4.03 + 0.05 * i, 1 + 0.01 * i, 0, {std::sin(i), std::cos(i), 0}});
  for (const char* text : {"crowded:10->9", "crowded:4->3", "crowded:16->5"}) {
    const Result r = step(dots, parse_policy(std::string("conserve:momentum+energy, ") + text));
    const auto left = static_cast<std::int64_t>(r.parcels.size());
    EXPECT_LE(left, parse_policy(text).crowded_above);
    EXPECT_GE(left, parse_policy(text).crowded_target);
  }
  EXPECT_THROW(static_cast<void>(parse_policy("crowded:9->9, conserve:momentum+energy")), UsageError);
}

TEST(PolicyReference, friends_of_friends_are_one_group_across_a_periodic_face) {
  const Result r = step({{15.5}, {0.25}, {1}, {5}, {5.5, 3}, {9}}, "friends:0.75");
  EXPECT_EQ(r.outcome.groups, (std::map<std::int64_t, std::int64_t>{{0, 0}, {1, 0}, {2, 0}, {3, 3}, {4, 3}, {5, 5}}));
  EXPECT_EQ(r.places().size(), 3U);
  EXPECT_NEAR(r.places().at(0), 0.25, 1e-14);
  EXPECT_EQ(r.places().at(3), 5.375);
  EXPECT_EQ(r.places().at(5), 9);
  EXPECT_TRUE(r.outcome.winding.empty());
  EXPECT_EQ(r.parcels.column("charges")[0], 3);
}

TEST(PolicyReference, a_group_that_winds_round_the_box_is_named_and_left) {
  std::vector<Dot> dots;
  for (int i = 0; i < 16; ++i) dots.push_back({0.5 + i});
  const Result r = step(dots, "friends:1");
  EXPECT_EQ(r.outcome.winding, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(r.parcels.size(), 16U);
  dots.pop_back();
  EXPECT_EQ(step(dots, "friends:1").places(), (Places{{0, 7.5}}));
}

TEST(PolicyReference, friends_are_of_one_species_where_the_policy_says_so) {
  EXPECT_EQ(step({{1, 1, 0}, {1.5, 1, 1}, {2, 1, 0}}, "friends:1, same:species").places(),
            (Places{{0, 1.5}, {1, 1.5}}));
}

TEST(PolicyReference, levelling_keeps_equal_weights_and_the_weight_in_expectation) {
  EXPECT_EQ(step({{1.1}, {1.2}, {1.3}}, "level:1").parcels.size(), 3U);
  MergePolicy p = parse_policy("level:2/2");
  double weight = 0;
  for (p.step = 0; p.step < 2000; ++p.step) {
    const Result r = step({{1.1, 1}, {1.2, 2}, {1.3, 9}, {5, 7}}, p);
    for (std::size_t i = 0; i < r.parcels.size(); ++i) weight += r.parcels.site(i).volume;
    EXPECT_EQ(r.places().count(2), 1U);  // above the level, 8
    EXPECT_EQ(r.places().count(3), 1U);  // alone in its cell
  }
  EXPECT_NEAR(weight / 2000, 19, 0.4);
}

TEST(PolicyReference, no_parcels_and_one_parcel_are_left) {
  for (const char* text :
       {"", "crowded:1->1", "pairs", "greedy:2", "friends:1", "level:1", "conserve:momentum+energy"}) {
    EXPECT_EQ(step({}, text).parcels.size(), 0U) << text;
    EXPECT_EQ(step({{3}}, text).places(), (Places{{0, 3}})) << text;
  }
}

}  // namespace
