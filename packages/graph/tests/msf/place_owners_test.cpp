/// Tests of the redistribution of points by place: cuts between ranks, surplus points of one place, and what comes back.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/msf/euclidean/distribute_points.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf::euclidean;

template <std::size_t D>
std::vector<Place<D>> places_of(const test::Swarm& swarm) {
  std::vector<Place<D>> out;
  for (const auto& p : swarm.at) std::copy(p.begin(), p.end(), out.emplace_back(Place<D>{}).begin());
  return out;
}

template <std::size_t D>
void expect_even_shares() {
  for (int ranks = 1; ranks <= 9; ++ranks)
    for (const auto* shape : {"uniform", "line", "clusters"}) {
      const auto places = places_of<D>(test::make_swarm(shape, static_cast<int>(D), 500, 3));
      const PlaceOwners<D> owners(places, ranks);
      std::vector<std::size_t> counts(static_cast<std::size_t>(ranks));
      for (const auto& p : places) {
        const int owner = owners.owner(p);
        ASSERT_GE(owner, 0);
        ASSERT_LT(owner, ranks);
        ++counts[static_cast<std::size_t>(owner)];
      }
      const auto share = 500 / static_cast<std::size_t>(ranks);
      for (const auto count : counts) {
        EXPECT_GE(count + 4, share) << shape << ' ' << ranks;
        EXPECT_LE(count, share + 5) << shape << ' ' << ranks;
      }
    }
}

TEST(PlaceOwnersTest, shares_of_distinct_places_are_even_for_any_number_of_ranks) {
  expect_even_shares<3>();
  expect_even_shares<8>();
}

TEST(PlaceOwnersTest, cuts_go_by_the_longest_axis_first_and_by_further_axes_where_coordinates_are_equal) {
  // Eight places on a plane, long on axis 1: the lower half of the ranks gets the lower ones.
  std::vector<Place<3>> places;
  for (int i = 0; i < 8; ++i) places.push_back({static_cast<double>(i % 2), static_cast<double>(10 * (i / 2)), 0});
  const PlaceOwners<3> four(places, 4);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(four.owner(places[i]), static_cast<int>(i / 2)) << i;
  EXPECT_EQ(four.owner({0, -1e9, 0}), 0);
  EXPECT_EQ(four.owner({0, 1e9, 0}), 3);
  EXPECT_EQ(four.owner({5, 19, 0}), 1) << "below the cut at 20";
  // All on a line of one coordinate: the next axis, cyclically, decides.
  const PlaceOwners<3> two({{1, 5, 7}, {1, 5, 8}, {1, 5, 9}, {1, 5, 10}}, 2);
  EXPECT_EQ(two.owner({1, 5, 8}), 0);
  EXPECT_EQ(two.owner({1, 5, 9}), 1) << "at the cut is above it";
  EXPECT_EQ(two.owner({-1, 5, 9}), 0) << "of equal coordinates axis 2, then axis 0 decides";
  EXPECT_EQ(two.owner({2, 4, 9}), 1);
  EXPECT_EQ(two.owner({1, 4, 9}), 0) << "then axis 1";
}

TEST(PlaceOwnersTest, three_ranks_get_thirds) {
  std::vector<Place<3>> places;
  for (int i = 0; i < 9; ++i) places.push_back({static_cast<double>(i), 0, 0});
  const PlaceOwners<3> owners(places, 3);
  std::vector<int> of;
  for (const auto& p : places) of.push_back(owners.owner(p));
  EXPECT_EQ(of, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2}));
}

TEST(PlaceOwnersTest, without_a_sample_and_with_one_rank_every_place_has_an_owner) {
  const PlaceOwners<3> one({}, 1);
  EXPECT_EQ(one.owner({1, 2, 3}), 0);
  const PlaceOwners<3> none({}, 5);
  for (const double x : {-1.0, 0.0, 1.0}) {
    EXPECT_GE(none.owner({x, 0, 0}), 0);
    EXPECT_LT(none.owner({x, 0, 0}), 5);
  }
  const PlaceOwners<3> equal(std::vector<Place<3>>(100, Place<3>{1, 2, 3}), 5);
  EXPECT_EQ(equal.owner({1, 2, 3}), 4) << "at every cut, thus above it";
  EXPECT_EQ(equal.owner({0, 0, 0}), 0);
}

TEST(SurplusPointsTest, beyond_the_fold_the_points_of_higher_ids_are_surplus) {
  test::on_threads(1, [](comm::Transport& t) {
    // Places 0: ids 9 4 7 0 5; place 1: ids 1 2 3; place 2: id 6; place 3: ids 8 10.
    const std::vector<double> at{0, 0, 0, 0, 0, 1, 1, 1, 2, 3, 3};
    const msf::Points points{{1}, at, {9, 4, 7, 0, 5, 1, 2, 3, 6, 8, 10}};
    const msf::PointSet view = points;
    const CheckedPoints given(view, t);
    const PlaceOwners<3> owners({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}, 4);
    SurplusPoints<3> none;
    for (std::size_t i = 0; i < at.size(); ++i) EXPECT_FALSE(none.has(i)) << "before the choice";
    SurplusPoints<3> surplus;
    surplus.choose(given, 2, owners);
    std::set<std::uint64_t> found;
    for (std::size_t i = 0; i < at.size(); ++i)
      if (surplus.has(i)) found.insert(given.id(i));
    EXPECT_EQ(found, (std::set<std::uint64_t>{5, 7, 9, 3}));
    ASSERT_EQ(surplus.groups().size(), 2U);
    EXPECT_EQ(surplus.groups()[0].least, 0U);
    EXPECT_EQ(surplus.groups()[0].owner, 0);
    EXPECT_EQ(surplus.groups()[0].others, (std::vector<std::uint64_t>{5, 7, 9}));
    EXPECT_EQ(surplus.groups()[1].least, 1U);
    EXPECT_EQ(surplus.groups()[1].owner, 1);
    EXPECT_EQ(surplus.groups()[1].others, (std::vector<std::uint64_t>{3}));
    SurplusPoints<3> more;
    more.choose(given, 5, owners);
    EXPECT_TRUE(more.groups().empty()) << "as many as the fold are no surplus";
  });
}

class DistributePointsTest : public testing::TestWithParam<test::Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, DistributePointsTest, testing::ValuesIn(test::setups()),
                         test::setup_name<testing::TestParamInfo<test::Setup>>);

TEST_P(DistributePointsTest, edges_of_surplus_points_lead_to_the_least_id_of_their_place_on_any_rank) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    // Place p is owned by rank p; its points on rank r are 1000 p + 10 r + 0 .. 9, of which the first two are distributed.
    const auto ranks = static_cast<std::uint64_t>(t.size());
    const auto rank = static_cast<std::uint64_t>(t.rank());
    std::vector<SurplusGroup> groups;
    for (std::uint64_t p = 0; p < ranks; ++p) {
      SurplusGroup group{1000 * p + 10 * rank, static_cast<int>(p), {}};
      for (std::uint64_t i = 2; i < 10; ++i) group.others.push_back(group.least + i);
      groups.push_back(group);
    }
    std::vector<Fold> folds;
    for (std::uint64_t r = ranks; r-- > 0;)
      for (std::uint64_t i = 2; i-- > 0;)
        if (r > 0 || i > 0) folds.push_back({1000 * rank, 1000 * rank + 10 * r + i});
    const auto edges = make_surplus_edges(groups, folds, t);
    ASSERT_EQ(edges.size(), 8 * ranks);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      ASSERT_EQ(edges[e].low, 1000 * (e / 8));
      ASSERT_EQ(edges[e].high, 1000 * (e / 8) + 10 * rank + 2 + e % 8);
    }
  });
}

/// How a set of points lies before the redistribution.
enum class Deal { random, all_on_last, two_ranks };

msf::Points dealt(const test::Swarm& swarm, const comm::Transport& t, Deal deal) {
  if (deal == Deal::random) return test::distribute(swarm, t, 3);
  msf::Points points{swarm.space, {}, {}};
  for (std::size_t i = 0; i < swarm.at.size(); ++i) {
    const int owner = deal == Deal::all_on_last || i % 2 == 0 ? t.size() - 1 : t.size() / 2;
    if (owner != t.rank()) continue;
    points.ids.push_back(i);
    points.coordinates.insert(points.coordinates.end(), swarm.at[i].begin(), swarm.at[i].end());
  }
  return points;
}

TEST_P(DistributePointsTest, every_point_is_on_one_rank_surplus_ones_apart_and_equal_ones_together) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    struct Item {
      std::uint64_t id;
      std::int64_t rank;
      std::int64_t stays;
    };
    for (const auto* shape : {"uniform", "lattice", "heaps", "equal"})
      for (const auto deal : {Deal::random, Deal::all_on_last, Deal::two_ranks})
        for (const std::size_t n : {0U, 1U, 200U}) {
          const auto swarm = test::make_swarm(shape, 3, n, 5);
          const auto points = dealt(swarm, t, deal);
          const msf::PointSet view = points;
          const CheckedPoints given(view, t);
          SurplusPoints<3> surplus;
          const auto made = distribute_points<3>(given, 3, t, surplus, true);
          SCOPED_TRACE(swarm.name);
          ASSERT_EQ(made.total, n);
          ASSERT_EQ(made.owners.has_value(), t.size() > 1);
          const bool many_equal = std::string(shape) == "heaps" || std::string(shape) == "equal";
          ASSERT_EQ(made.surplus, t.size() > 1 && n == 200 && (many_equal || std::string(shape) == "lattice"));
          // Each item has its coordinates, lies at its owner, and every point is once an item or surplus.
          std::vector<Item> mine;
          for (const auto& item : made.items) {
            ASSERT_TRUE(std::equal(item.at.begin(), item.at.end(), swarm.at[item.id].begin()));
            ASSERT_TRUE(!made.owners || made.owners->owner(item.at) == t.rank());
            mine.push_back({item.id, t.rank(), 0});
          }
          for (std::size_t i = 0; i < given.size(); ++i)
            if (surplus.has(i)) mine.push_back({given.id(i), t.rank(), 1});
          std::map<std::uint64_t, Item> all;
          for (const auto& item : comm::all_gather(t, mine).flat()) ASSERT_TRUE(all.emplace(item.id, item).second);
          ASSERT_EQ(all.size(), n);
          ASSERT_TRUE(n == 0 || all.rbegin()->first == n - 1);
          // What went and came tells where every point is.
          ASSERT_EQ(made.went.size(), given.size());
          for (std::size_t i = 0; i < given.size(); ++i) {
            const auto& item = all.at(given.id(i));
            ASSERT_EQ(made.went[i], item.stays != 0 ? -1 : static_cast<int>(item.rank));
          }
          ASSERT_EQ(made.came.size(), static_cast<std::size_t>(t.size()));
          std::multiset<std::uint64_t> came;
          for (const auto& ids : made.came) came.insert(ids.begin(), ids.end());
          std::multiset<std::uint64_t> items;
          for (const auto& item : made.items) items.insert(item.id);
          ASSERT_EQ(came, items);
          std::vector<std::vector<std::uint64_t>> expected(made.came.size());
          for (std::size_t i = 0; i < given.size(); ++i)
            if (made.went[i] >= 0) expected[static_cast<std::size_t>(made.went[i])].push_back(given.id(i));
          const auto sent = comm::all_to_all(t, expected);
          for (std::size_t r = 0; r < sent.size(); ++r)
            ASSERT_TRUE(std::equal(sent[r].begin(), sent[r].end(), made.came[r].begin(), made.came[r].end()))
                << "in the order in which they were sent";
        }
  });
}

TEST_P(DistributePointsTest, points_are_surplus_where_more_than_a_quarter_of_the_sample_are_duplicates) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::size_t places : {149U, 150U}) {
      test::Swarm swarm{"few places", {1, {}, {}, {}}, {}};
      for (std::size_t i = 0; i < 200; ++i) swarm.at.push_back({static_cast<double>(i < places ? i : 0)});
      const auto points = dealt(swarm, t, Deal::random);
      const msf::PointSet view = points;
      const CheckedPoints given(view, t);
      SurplusPoints<3> surplus;
      EXPECT_EQ(distribute_points<3>(given, 2, t, surplus).surplus, places == 149 && t.size() > 1);
    }
  });
}

TEST_P(DistributePointsTest, distinct_points_are_shared_out_evenly_wherever_they_were) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    const auto swarm = test::make_swarm("uniform", 4, 600, 8);
    for (const auto deal : {Deal::random, Deal::all_on_last, Deal::two_ranks}) {
      const auto points = dealt(swarm, t, deal);
      const msf::PointSet view = points;
      const CheckedPoints given(view, t);
      SurplusPoints<4> surplus;
      const auto made = distribute_points<4>(given, 2, t, surplus);
      const auto share = 600 / static_cast<std::size_t>(t.size());
      EXPECT_GE(made.items.size() + 4, share);
      EXPECT_LE(made.items.size(), share + 5);
      EXPECT_TRUE(made.came.empty()) << "not remembered";
      EXPECT_TRUE(made.went.empty());
      EXPECT_TRUE(surplus.groups().empty());
    }
  });
}

}  // namespace
