/// Tests of queries by new points over every communication model, of sets on few ranks, of equal distances, and of what is refused;
/// and of component labels of small forests.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/labels.hpp"
#include "merganser/msf/new_points.hpp"
#include "src/msf/euclidean/fitted.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class NewPointsOnRanks : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, NewPointsOnRanks, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Points first .. last - 1 of a swarm that are this rank's, dealt in turn to some ranks; numbered from 0 with `ids`.
msf::Points piece(const Swarm& swarm, std::size_t first, std::size_t last, const std::vector<int>& owners,
                  const comm::Transport& t, bool ids) {
  msf::Points points{swarm.space, {}, {}};
  for (std::size_t i = first; i < last; ++i) {
    if (owners[i % owners.size()] != t.rank()) continue;
    if (ids) points.ids.push_back(i - first);
    points.coordinates.insert(points.coordinates.end(), swarm.at[i].begin(), swarm.at[i].end());
  }
  return points;
}

void expect_answers(const Swarm& swarm, std::size_t set, int k, const std::vector<int>& set_on,
                    const std::vector<int>& new_on, comm::Transport& t) {
  SCOPED_TRACE(swarm.name + ", k " + std::to_string(k));
  const std::size_t n = swarm.at.size();
  const auto points = piece(swarm, 0, set, set_on, t, true);
  auto fresh = piece(swarm, set, n, new_on, t, false);
  fresh.ids.assign(fresh.size(), 5);  // not used, whatever they are
  // Core distances of any size, many equal ones among them.
  std::vector<double> core_of;
  for (std::size_t i = 0; i < set; ++i) core_of.push_back(i % 3 == 0 ? 0.0 : 0.125 * static_cast<double>(i % 4));
  std::vector<double> cores;
  for (const auto id : points.ids) cores.push_back(core_of[id]);
  msf::EuclideanOptions options;
  options.leaf = 4;
  options.threads = t.size() == 1 ? 2 : 1;
  msf::Report report;
  const auto rows = msf::nearest_points(points, fresh, k, t, options, report);
  const auto joints = msf::join_points(points, cores, fresh, k, t, options, report);
  ASSERT_EQ(rows.size(), fresh.size() * static_cast<std::size_t>(k));
  ASSERT_EQ(joints.size(), fresh.size());
  std::size_t at = 0;
  for (std::size_t i = set; i < n; ++i) {
    if (new_on[i % new_on.size()] != t.rank()) continue;
    std::vector<std::pair<double, std::uint64_t>> near;
    for (std::size_t j = 0; j < set; ++j) near.emplace_back(swarm.compared(i, j), j);
    std::sort(near.begin(), near.end());
    const auto count = static_cast<std::size_t>(k);
    for (std::size_t j = 0; j < count; ++j)
      ASSERT_EQ(rows[at * count + j], (msf::NearPoint{swarm.weight(near[j].first), near[j].second})) << i << ' ' << j;
    const double core = swarm.weight(near[count - 1].first);
    std::tuple<double, double, std::uint64_t> best{INFINITY, INFINITY, 0};
    for (const auto& [compared, id] : near) {
      const double distance = swarm.weight(compared);
      best = std::min(best, {std::max({distance, core, core_of[id]}), distance, id});
    }
    const msf::Joint expected{std::get<2>(best), std::get<1>(best), core, std::get<0>(best)};
    ASSERT_EQ(joints[at++], expected) << i;
  }
  ASSERT_EQ(at, fresh.size());
}

TEST_P(NewPointsOnRanks, are_answered_wherever_the_set_and_they_are) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const int last = t.size() - 1;
    std::vector<int> everywhere(static_cast<std::size_t>(t.size()));
    std::iota(everywhere.begin(), everywhere.end(), 0);
    std::uint64_t seed = 0;
    for (const auto* shape : {"uniform", "lattice", "clusters", "equal"})
      for (const auto metric : {msf::Distance::euclidean, msf::Distance::chebyshev}) {
        auto swarm = make_swarm(shape, 3, 110, ++seed);
        swarm.space.metric = metric;
        if (metric == msf::Distance::chebyshev) swarm.space.periods = {{2, 0, 1}};
        expect_answers(swarm, 80, 4, {last}, {0}, t);
        expect_answers(swarm, 80, 3, everywhere, {last}, t);
        expect_answers(swarm, 80, 5, {0}, everywhere, t);
        expect_answers(swarm, 80, 80, everywhere, everywhere, t);
      }
  });
}

TEST_P(NewPointsOnRanks, of_a_set_of_few_points_find_as_many_as_there_are) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::size_t set : {1U, 2U, 5U})
      for (const int dimension : {1, 2, 17}) {
        const auto swarm = make_swarm("uniform", dimension, set + 9, set);
        expect_answers(swarm, set, static_cast<int>(set), {0, t.size() - 1}, {t.size() / 2}, t);
        expect_answers(swarm, set, 1, {t.size() - 1}, {0, t.size() - 1}, t);
        expect_answers(
            {swarm.name, swarm.space, {swarm.at.begin(), swarm.at.begin() + static_cast<std::ptrdiff_t>(set)}}, set, 1,
            {0}, {0}, t);  // no new points
      }
  });
}

TEST_P(NewPointsOnRanks, far_outside_the_set_and_on_its_points_are_answered) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    auto swarm = make_swarm("uniform", 2, 75, 4);
    for (std::size_t i = 60; i < 75; ++i) {
      swarm.at[i] = swarm.at[i - 60];  // a point of the set itself
      if (i % 3 == 0) swarm.at[i][0] += i % 2 == 0 ? 1e6 : -1e6;
    }
    expect_answers(swarm, 60, 3, {0, t.size() - 1}, {0, t.size() / 2, t.size() - 1}, t);
  });
}

TEST_P(NewPointsOnRanks, that_cannot_be_are_refused_with_the_value_and_what_is_allowed_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const bool last = t.rank() == t.size() - 1;
    msf::Report report;
    const msf::Points points{{1}, last ? std::vector<double>{1, 2, 3} : std::vector<double>{}, {}};
    const msf::Points fresh{{1}, last ? std::vector<double>{4} : std::vector<double>{}, {}};
    const auto nearest = [&](const msf::PointSet& asking, int k) {
      return refusal([&] { (void)msf::nearest_points(points, asking, k, t, {}, report); });
    };
    const auto expect_part = [](const std::string& text, const std::string& part) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    EXPECT_EQ(nearest(fresh, 3), "nothing was thrown");
    expect_part(nearest(fresh, 4), "the 4 nearest of 3 points; allowed: up to their number");
    expect_part(nearest(fresh, 0), "k 0; allowed: 1 and more");
    expect_part(nearest(fresh, -2), "allowed: 1 and more");
    expect_part(nearest(msf::Points{{2}, {}, {}}, 1), "new points of another space; allowed: dimension, metric");
    expect_part(nearest(msf::Points{{1, msf::Distance::manhattan}, {}, {}}, 1), "new points of another space");
    expect_part(nearest(msf::Points{{1, {}, {}, {{0, 0, 1}}}, {}, {}}, 1), "new points of another space");
    expect_part(nearest(msf::Points{{1}, {NAN}, {}}, 1), "coordinate nan of point");
    const auto join = [&](const std::vector<double>& cores, int k) {
      return refusal<InputError>(
          [&] { (void)msf::join_points(points, last ? cores : std::vector<double>{}, fresh, k, t, {}, report); });
    };
    EXPECT_EQ(join({0, 1, INFINITY}, 2), "nothing was thrown");
    expect_part(join({0, 1}, 2), "2 core distances of 3 points; allowed: one for each");
    expect_part(join({0, 1, 2, 3}, 2), "4 core distances of 3 points; allowed: one for each");
    expect_part(join({0, -0.5, 1}, 2), "core distance -0.5 of point 1; allowed: 0 and more");
    expect_part(join({0, 0, NAN}, 2), "core distance nan of point 2; allowed: 0 and more");
    expect_part(join({0, 0, 0}, 4), "the 4 nearest of 3 points; allowed: up to their number");
    if (t.size() > 1) {
      expect_part(nearest(fresh, last ? 2 : 1), "k");
    }
  });
}

TEST(JointOrder, is_by_reachability_then_distance_then_id) {
  using msf::Joint;
  const std::vector<Joint> ascending{{9, 3, 0, 1}, {2, 1, 0, 2}, {3, 1, 0, 2}, {0, 2, 0, 2}, {0, 0, 0, 3}};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j)
      EXPECT_EQ(msf::euclidean::joins_before(ascending[i], ascending[j]), i < j) << i << ' ' << j;
}

TEST(NearRows, keep_the_least_in_order_and_drop_the_last) {
  using msf::euclidean::Near;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed, 6, 0);
    const std::size_t k = 1 + seed % 6;
    std::vector<Near> row(k);
    std::vector<std::pair<double, std::uint64_t>> all;
    for (std::uint64_t id = 0; id < 12; ++id) {
      const Near near{static_cast<double>(random.below(4)), (id * 7) % 12};
      all.emplace_back(near.d2, near.id);
      msf::euclidean::insert_near(row.data(), k, near);
      std::sort(all.begin(), all.end());
      for (std::size_t i = 0; i < k; ++i) {
        ASSERT_EQ(row[i].d2, i < all.size() ? all[i].first : INFINITY) << seed;
        ASSERT_EQ(row[i].id, i < all.size() ? all[i].second : ~std::uint64_t{0}) << seed;
      }
    }
  }
}

class SmallLabels : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, SmallLabels, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// All labels of a forest whose edges are on one rank, on every rank.
std::vector<std::uint64_t> labels_of(std::uint64_t vertices, const Edges& edges, int owner, comm::Transport& t) {
  const msf::Forest forest{vertices, graphs::WeightKind::unsigned_integer, t.rank() == owner ? edges : Edges{}};
  return comm::all_gather(t, msf::component_labels(forest, t)).flat();
}

TEST_P(SmallLabels, are_the_least_vertices_where_there_are_fewer_vertices_than_ranks_and_none) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    using Labels = std::vector<std::uint64_t>;
    for (const int owner : {0, t.size() - 1}) {
      EXPECT_EQ(labels_of(0, {}, owner, t), Labels{});
      EXPECT_EQ(labels_of(1, {}, owner, t), Labels{0});
      EXPECT_EQ(labels_of(2, {{0, 1, 5}}, owner, t), (Labels{0, 0}));
      EXPECT_EQ(labels_of(3, {{1, 2, 5}}, owner, t), (Labels{0, 1, 1}));
      EXPECT_EQ(labels_of(6, {{0, 5, 9}, {1, 4, 9}}, owner, t), (Labels{0, 1, 2, 3, 1, 0}));
      EXPECT_EQ(labels_of(6, {{4, 5, ~0ULL}, {3, 5, 0}}, owner, t), (Labels{0, 1, 2, 3, 3, 3}));
    }
  });
}

TEST_P(SmallLabels, of_a_long_path_a_star_and_a_comb_are_the_least_vertices_in_any_numbering) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    constexpr std::uint64_t kVertices = 200;
    for (const auto turn : {1U, 77U, 199U}) {  // coprime to 200
      const auto number = [&](std::uint64_t v) { return v * turn % kVertices; };
      Edges path;
      Edges star;
      Edges comb;
      for (std::uint64_t v = 1; v < kVertices; ++v) {
        if (v != 100) path.push_back(graphs::make_edge<graphs::Edge24>(number(v - 1), number(v), kVertices - v));
        star.push_back(graphs::make_edge<graphs::Edge24>(number(150), number(v == 150 ? 0 : v), v % 3));
        if (v % 20 != 0) comb.push_back(graphs::make_edge<graphs::Edge24>(number(v - v % 20), number(v), v % 7));
      }
      const auto expect_least = [&](const Edges& edges, std::uint64_t trees) {
        std::vector<std::uint64_t> expected(kVertices);
        std::iota(expected.begin(), expected.end(), 0);
        for (std::uint64_t i = 0; i < kVertices; ++i)
          for (const auto& e : edges) expected[e.low] = expected[e.high] = std::min(expected[e.low], expected[e.high]);
        ASSERT_EQ(kVertices - edges.size(), trees);
        ASSERT_EQ(labels_of(kVertices, edges, t.size() / 2, t), expected) << turn;
      };
      expect_least(path, 2);
      expect_least(star, 1);
      expect_least(comb, 10);
    }
  });
}

}  // namespace
