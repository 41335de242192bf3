/// Tests of the stages of a spanning tree of points: contraction, searches for points of other components, rounds
/// of one rank, upper boxes of other ranks, core distances on several ranks.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "src/msf/euclidean/distribute_points.hpp"
#include "src/msf/euclidean/remote_boxes.hpp"
#include "src/msf/euclidean/state.hpp"
#include "tests/msf/swarms.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::msf::euclidean;

/// Number of the set of each of n things after pairs were joined, counted in the order of their least members.
std::vector<std::uint32_t> joined_sets(std::size_t n, const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  std::vector<std::size_t> least(n);
  std::iota(least.begin(), least.end(), std::size_t{0});
  for (bool again = true; again;) {
    again = false;
    for (const auto& [a, b] : pairs) {
      again = again || least[a] != least[b];
      least[a] = least[b] = std::min(least[a], least[b]);
    }
  }
  std::map<std::size_t, std::uint32_t> number;
  std::vector<std::uint32_t> out;
  for (const auto l : least)
    out.push_back(number.try_emplace(l, static_cast<std::uint32_t>(number.size())).first->second);
  return out;
}

TEST(ContractTest, chosen_edges_join_components_each_edge_is_kept_once_and_numbers_follow_the_least_member) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed, 1, 0);
    const auto n = static_cast<std::size_t>(2 + random.below(30));
    // Least edges out of each component in a random graph with one weight per edge, so that the order is strict.
    std::vector<std::pair<Key, std::uint32_t>> best(n, {Key{}, kNone});
    std::uint64_t id = 0;
    for (std::size_t e = 0; e < n + random.below(2 * n); ++e) {
      const auto a = static_cast<std::uint32_t>(random.below(n));
      const auto b = static_cast<std::uint32_t>(random.below(n));
      if (a == b) continue;
      const Key key = make_key(static_cast<double>(random.below(4)), id, id + 1);
      id += 2;
      if (key < best[a].first) best[a] = {key, b};
      if (key < best[b].first) best[b] = {key, a};
    }
    std::vector<std::uint32_t> target(n, kNone);
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    std::set<std::pair<std::uint64_t, std::uint64_t>> edges;
    for (std::size_t c = 0; c < n; ++c) {
      if (random.below(4) > 0) target[c] = best[c].second;
      if (target[c] == kNone) continue;
      pairs.emplace_back(c, target[c]);
      edges.emplace(best[c].first.low, best[c].first.high);
    }
    const auto made = contract(target);
    const auto expected = joined_sets(n, pairs);
    ASSERT_EQ(made.renamed, expected) << seed;
    ASSERT_EQ(made.components, 1 + *std::max_element(expected.begin(), expected.end()));
    std::set<std::pair<std::uint64_t, std::uint64_t>> kept;
    for (std::size_t c = 0; c < n; ++c) {
      if (made.keeps[c] == 0) continue;
      ASSERT_NE(target[c], kNone);
      ASSERT_TRUE(kept.emplace(best[c].first.low, best[c].first.high).second) << "twice";
    }
    ASSERT_EQ(kept, edges) << seed;
    ASSERT_EQ(kept.size() + made.components, n) << "a forest";
  }
}

TEST(ContractTest, nothing_chosen_changes_nothing_and_of_two_that_choose_each_other_the_higher_keeps_the_edge) {
  const auto none = contract({kNone, kNone});
  EXPECT_EQ(none.components, 2U);
  EXPECT_EQ(none.renamed, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(none.keeps, (std::vector<std::uint8_t>{0, 0}));
  EXPECT_EQ(contract({1, 0}).keeps, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(contract({1, kNone}).keeps, (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(contract({kNone, 0}).keeps, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(contract({}).components, 0U);
}

TEST(KeyTest, edges_compare_by_distance_then_lower_then_higher_id) {
  const std::vector<Key> ascending{{1, 0, 9}, {2, 0, 3}, {2, 0, 4}, {2, 1, 2}, {3, 0, 1}, {}};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) ASSERT_EQ(ascending[i] < ascending[j], i < j) << i << ' ' << j;
  EXPECT_EQ(make_key(2, 7, 3), (Key{2, 3, 7}));
  EXPECT_EQ(make_key(2, 3, 7), (Key{2, 3, 7}));
}

template <std::size_t D>
std::vector<IdentifiedPoint<D>> points_of(const test::Swarm& swarm, const std::vector<std::size_t>& which) {
  std::vector<IdentifiedPoint<D>> items;
  for (const auto i : which) {
    IdentifiedPoint<D> item{{}, i};
    std::copy(swarm.at[i].begin(), swarm.at[i].end(), item.at.begin());
    items.push_back(item);
  }
  return items;
}
std::vector<std::size_t> all_of(const test::Swarm& swarm) {
  std::vector<std::size_t> which(swarm.at.size());
  std::iota(which.begin(), which.end(), std::size_t{0});
  return which;
}

template <std::size_t D>
BoruvkaState<D> begun(const test::Swarm& swarm, int min_samples, int neighbours, comm::Transport& t) {
  auto items = points_of<D>(swarm, all_of(swarm));
  Metric<D> metric;
  metric.norm = to_norm(swarm.space.metric);
  BoruvkaState<D> state;
  const auto k = static_cast<std::uint32_t>(min_samples);
  state.tree = PointTree<D>(items, metric, 6, std::max(k, 2U));
  if (k > 1) state.core = core_squares<D>(state.tree, k, 1, nullptr, t);
  find_lists(state, neighbours, 1);
  return state;
}

TEST(StateSearchTest, finds_the_nearest_point_of_another_component_by_the_order_of_edges_below_a_limit) {
  test::on_threads(1, [](comm::Transport& t) {
    std::uint64_t seed = 0;
    for (const auto* shape : {"uniform", "lattice", "clusters", "heaps"})
      for (const int min_samples : {1, 4}) {
        const auto swarm = test::make_swarm(shape, min_samples == 1 ? 3 : 4, 150, ++seed);
        auto state = begun<4>(swarm, min_samples, 3, t);
        Random random(seed, 2, 0);
        state.components = 5;
        for (std::uint32_t v = 0; v < state.tree.size(); ++v)
          state.component[v] =
              static_cast<std::uint32_t>(state.tree.at(v)[0] * 3) + static_cast<std::uint32_t>(random.below(2));
        state.node_component.clear();
        state.mark_nodes();
        for (std::size_t i = 0; i < state.tree.nodes().size(); ++i) {
          const auto& node = state.tree.nodes()[i];
          std::set<std::uint32_t> within(state.component.begin() + node.begin, state.component.begin() + node.end);
          ASSERT_EQ(state.node_component[i], within.size() == 1 ? *within.begin() : kNone) << i;
        }
        for (std::uint32_t v = 0; v < state.tree.size(); ++v) {
          Key least;
          std::uint32_t point = kNone;
          for (std::uint32_t u = 0; u < state.tree.size(); ++u) {
            if (state.component[u] == state.component[v]) continue;
            const Key key = state.key(v, u, state.weight(v, u));
            if (!(key < least)) continue;
            least = key;
            point = u;
          }
          const Seeker<4> seeker{state.tree.at(v), state.core_or_zero(v), state.tree.id(v), state.component[v]};
          const auto found = state.search(seeker, {});
          ASSERT_EQ(found.point, point) << swarm.name;
          ASSERT_EQ(found.d2, least.d2);
          ASSERT_EQ(state.search(seeker, least).point, kNone) << "an edge at the limit does not precede it";
          ASSERT_EQ(state.search(seeker, {least.d2, least.low, least.high + 1}).point, point);
          ASSERT_EQ(state.search(seeker, {least.d2, 0, 0}).point, kNone);
          ASSERT_EQ(state.search(seeker, {least.d2, ~0ULL, ~0ULL}).point, point);
        }
      }
  });
}

TEST(LocalRoundsTest, on_one_rank_make_the_whole_tree_whatever_the_length_of_the_lists) {
  test::on_threads(1, [](comm::Transport& t) {
    std::uint64_t seed = 0;
    for (const auto* shape : {"uniform", "lattice", "clusters", "heaps", "equal", "line"})
      for (const int min_samples : {1, 5})
        for (const int neighbours : {1, 2, 8, 32}) {
          auto swarm = test::make_swarm(shape, 3, 130, ++seed);
          if (seed % 3 == 0) swarm.space.metric = msf::Distance::manhattan;
          auto state = begun<3>(swarm, min_samples, neighbours, t);
          for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
          const int rounds = local_rounds(state, {});
          ASSERT_EQ(test::sorted(state.edges), test::compute_tree(swarm, min_samples)) << swarm.name;
          ASSERT_LE(state.components, 1U);
          ASSERT_LE(rounds, 8) << "components at least halve in a round";
        }
  });
}

TEST(LocalRoundsTest, make_the_same_tree_on_any_number_of_threads_with_lists_of_any_kind) {
  test::on_threads(1, [](comm::Transport& t) {
    const auto expect_tree = [&](const auto& swarm, int min_samples, auto& state, int threads) {
      state.threads = threads;
      for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
      (void)local_rounds(state, {});
      ASSERT_GT(state.tree.leaves().size(), 256U) << "threads share the work";
      ASSERT_EQ(test::sorted(state.edges), test::compute_tree(swarm, min_samples)) << swarm.name << ' ' << threads;
    };
    std::uint64_t seed = 300;
    for (const auto* shape : {"uniform", "clusters", "lattice"})
      for (const int threads : {2, 5}) {
        const int axes = shape == std::string("lattice") ? 8 : 3;
        const auto swarm = test::make_swarm(shape, axes, 1600, ++seed);
        auto plain = begun<8>(swarm, 1, 2, t);
        expect_tree(swarm, 1, plain, threads);
        auto reach = begun<8>(swarm, 4, 1, t);
        expect_tree(swarm, 4, reach, threads);
        // Lists from those of the core distances, which threads convert.
        auto lists = begun<8>(swarm, 4, 1, t);
        NearPoints near{7, {}};
        lists.core = core_squares<8>(lists.tree, 4, threads, nullptr, t, &near);
        lists.threads = threads;
        find_reach_lists(lists, near, 5, 4, lists.tree.folds().empty());
        expect_tree(swarm, 4, lists, threads);
        if (axes > 3) continue;
        auto without_filter = begun<3>(swarm, 1, 1, t);
        expect_tree(swarm, 1, without_filter, threads);
      }
  });
}

TEST(LocalRoundsTest, share_a_round_among_so_many_threads_as_the_memory_for_their_choices_admits) {
  test::on_threads(1, [](comm::Transport& t) {
    auto state = begun<3>(test::make_swarm("uniform", 3, 600, 9), 1, 2, t);
    const std::size_t n = state.component.size();
    ASSERT_EQ(n, 600U);
    state.threads = 16;
    const auto team = [&](std::size_t components) {
      state.best.assign(components, {});
      const std::size_t size = state.team_size(1000);
      EXPECT_LE((size - 1) * components * sizeof(Choice), n * state.kCopiedBytes);
      EXPECT_EQ(state.team_size(255), 1U) << "little work";
      return size;
    };
    EXPECT_EQ(team(n), 3U);
    EXPECT_EQ(team(n / 2), 5U);
    EXPECT_EQ(team(3 * n), 1U) << "in global rounds there may be more components than points";
    EXPECT_EQ(team(n / 10), 16U);
    EXPECT_EQ(team(0), 16U);
    state.threads = 1;
    EXPECT_EQ(team(n / 10), 1U);
  });
}

TEST(LocalRoundsTest, give_up_the_filter_where_a_far_point_leaves_it_no_digits) {
  test::on_threads(1, [](comm::Transport& t) {
    for (const int min_samples : {1, 4}) {
      auto swarm = test::make_swarm("uniform", 4, 1500, 77);
      std::int64_t visits[2];
      for (const bool far : {false, true}) {
        if (far) swarm.at[5].assign(4, 1e20);
        auto state = begun<4>(swarm, min_samples, 2, t);
        (void)local_rounds(state, {});
        EXPECT_EQ(test::sorted(state.edges), test::compute_tree(swarm, min_samples));
        visits[far ? 1 : 0] = state.visits;
      }
      EXPECT_GT(visits[0], 1000) << "the filter is used";
      EXPECT_LE(visits[1], 2 * visits[0]);
    }
  });
}

TEST(LocalRoundsTest, edges_not_shorter_than_the_way_to_other_ranks_are_left_to_them_and_are_the_rest_of_the_own_tree) {
  test::on_threads(1, [](comm::Transport& t) {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const int min_samples = seed % 3 == 0 ? 4 : 1;
      const auto swarm = test::make_swarm(seed % 2 == 0 ? "uniform" : "lattice", 3, 150, seed);
      auto state = begun<3>(swarm, min_samples, 3, t);
      for (const auto& fold : state.tree.folds()) state.add_edge({0, fold.low, fold.high});
      // A wall of other ranks at the plane x = 0.5, where they have points opposite to those of this rank.
      auto walled = swarm;
      std::vector<double> bounds;
      for (std::uint32_t v = 0; v < state.tree.size(); ++v) {
        const double gap = 0.5 - state.tree.at(v)[0];
        bounds.push_back(std::max(gap * gap, state.core_or_zero(v)));
        walled.at.push_back({0.5, state.tree.at(v)[1], state.tree.at(v)[2]});
      }
      (void)local_rounds(state, bounds);
      const auto whole = test::compute_tree(swarm, min_samples);
      const auto with_wall = test::compute_tree(walled, 1);
      std::vector<std::pair<std::size_t, std::size_t>> pairs;
      for (const auto& e : state.edges) {
        ASSERT_TRUE(std::binary_search(whole.begin(), whole.end(), e));
        ASSERT_TRUE(min_samples > 1 || std::binary_search(with_wall.begin(), with_wall.end(), e)) << swarm.name;
        pairs.emplace_back(e.low, e.high);
      }
      const auto set = joined_sets(swarm.at.size(), pairs);
      ASSERT_EQ(state.components, 1 + *std::max_element(set.begin(), set.end()));
      ASSERT_GT(state.components, 1U) << "some are left";
      ASSERT_GT(state.edges.size(), swarm.at.size() / 4) << "some are made";
      const auto component = state.component;
      const auto open = find_open_edges(state);
      ASSERT_EQ(state.component, component);
      std::map<std::uint64_t, std::uint32_t> of;
      for (std::uint32_t v = 0; v < state.tree.size(); ++v) of[state.tree.id(v)] = component[v];
      for (const OpenEdge& edge : open) {
        ASSERT_EQ(std::minmax(edge.a, edge.b), std::minmax(of.at(edge.key.low), of.at(edge.key.high)));
        state.add_edge(edge.key);
      }
      ASSERT_EQ(test::sorted(state.edges), whole) << swarm.name;
      state.mark_nodes();
      for (std::size_t i = 0; i < state.tree.nodes().size(); ++i) {
        const auto& node = state.tree.nodes()[i];
        const std::set<std::uint32_t> within(component.begin() + node.begin, component.begin() + node.end);
        ASSERT_EQ(state.node_component[i], within.size() == 1 ? *within.begin() : kNone) << i;
      }
    }
  });
}

class RemoteTest : public testing::TestWithParam<test::Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, RemoteTest, testing::ValuesIn(test::setups()),
                         test::setup_name<testing::TestParamInfo<test::Setup>>);

/// Points of a rank by slabs of the first axis; with `gap` the second rank has none.
std::vector<std::size_t> slab(const test::Swarm& swarm, int rank, int ranks, bool gap) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < swarm.at.size(); ++i) {
    const int place = std::min(ranks - 1, static_cast<int>(swarm.at[i][0] * ranks));
    const int owner = gap && place == 1 ? 0 : place;
    if (owner == rank) which.push_back(i);
  }
  return which;
}

TEST_P(RemoteTest, boxes_bound_distances_to_each_rank_and_say_when_they_are_above_what_is_asked) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto* shape : {"uniform", "lattice", "clusters"})
      for (const bool gap : {false, true}) {
        const auto swarm = test::make_swarm(shape, 3, 120, 4);
        auto items = points_of<3>(swarm, slab(swarm, t.rank(), t.size(), gap));
        const PointTree<3> tree(items, {}, 4, 1000);
        const RemoteBoxes<3> boxes(tree, t);
        ASSERT_EQ(boxes.ranks(), static_cast<std::size_t>(t.size()));
        for (std::uint32_t v = 0; v < tree.size(); ++v) {
          const Bounds<3> from{tree.at(v), tree.at(v)};
          double of_all = kInfinity;
          for (int r = 0; r < t.size(); ++r) {
            const auto at = static_cast<std::size_t>(r);
            const double bound = boxes.distance2(from, at, kInfinity);
            const auto theirs = slab(swarm, r, t.size(), gap);
            if (r == t.rank() || theirs.empty()) {
              ASSERT_EQ(bound, kInfinity) << "no points of another rank";
              continue;
            }
            double least = kInfinity;
            for (const auto i : theirs) {
              Place<3> there{};
              std::copy(swarm.at[i].begin(), swarm.at[i].end(), there.begin());
              least = std::min(least, tree.metric().distance2(tree.at(v), there));
            }
            ASSERT_LE(bound, least);
            ASSERT_GE(bound, boxes.distance2(tree.bounds(), at, kInfinity)) << "a point is not nearer than its box";
            ASSERT_EQ(boxes.distance2(from, at, bound), bound) << "at the limit it counts";
            const double below = bound - std::min(bound, 0.001);
            ASSERT_TRUE(bound == 0 || boxes.distance2(from, at, below) > below);
            of_all = std::min(of_all, bound);
          }
          ASSERT_EQ(boxes.distance2(from), of_all);
          for (const Bounds<3>& box : {from, tree.bounds()})
            for (const double most :
                 {0.0, 0.01, kInfinity}) {  // no boxes, few, and with several ranks too many to collect
              boxes.gather_near(box, most);
              const double within = boxes.bound_within(tree.at(v));
              ASSERT_TRUE(of_all <= most ? within == of_all : within > most && within <= of_all);
            }
        }
      }
  });
}

// Each rank has 100 points near 0 and 100 near 10 on an axis, and none between: a box around all of them is no bound in the middle.
TEST_P(RemoteTest, boxes_of_a_rank_are_finer_than_one_around_all_of_its_points) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    test::Swarm swarm = test::make_swarm("uniform", 3, 200, 9);
    for (std::size_t i = 0; i < 200; ++i) swarm.at[i][0] = swarm.at[i][0] / 100 + (i < 100 ? 0 : 10);
    std::vector<std::size_t> all(200);
    std::iota(all.begin(), all.end(), 0U);
    auto items = points_of<3>(swarm, all);
    const PointTree<3> tree(items, {}, 4, 1000);
    const RemoteBoxes<3> boxes(tree, t);
    const Bounds<3> middle{{5, 0, 0}, {5, 1, 1}};
    for (int r = 0; r < t.size(); ++r) {
      if (r == t.rank()) continue;
      const double bound = boxes.distance2(middle, static_cast<std::size_t>(r), kInfinity);
      EXPECT_GE(bound, 4.98 * 4.98);
      EXPECT_LE(bound, 25);
    }
  });
}

TEST_P(RemoteTest, boxes_of_one_component_are_ignored_by_that_component_once_they_are_marked) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    const auto swarm = test::make_swarm("uniform", 3, 140, 5);
    auto items = points_of<3>(swarm, slab(swarm, t.rank(), t.size(), false));
    BoruvkaState<3> state;
    state.tree = PointTree<3>(items, {}, 4, 2);
    find_lists(state, 2, 1);
    RemoteBoxes<3> boxes(state.tree, t);
    // The components: points below and above the middle of axis 1, on all ranks.
    for (std::uint32_t v = 0; v < state.tree.size(); ++v) state.component[v] = state.tree.at(v)[1] < 0.5 ? 0 : 1;
    state.mark_nodes();
    double unmarked = kInfinity;
    const Bounds<3> corner{{0, 0, 0}, {1, 0, 1}};
    unmarked = boxes.distance2(corner, 0);
    ASSERT_EQ(unmarked, boxes.distance2(corner)) << "unmarked boxes may have points of any component";
    boxes.mark(state, t);
    ASSERT_EQ(boxes.distance2(corner), unmarked);
    ASSERT_EQ(boxes.distance2(corner, 1), unmarked) << "the boxes nearest to the corner are of component 0";
    const double others = boxes.distance2(corner, 0);
    boxes.gather_near(corner, 0.25);
    for (const Place<3>& at : {Place<3>{0.5, 0, 0.5}, Place<3>{0.9, 0, 0.1}})
      ASSERT_EQ(std::min(boxes.bound_within(at, 0), 0.25), std::min(boxes.distance2(Bounds<3>{at, at}, 0), 0.25));
    double least = kInfinity;
    for (int r = 0; r < t.size(); ++r)
      for (const auto i : slab(swarm, r, t.size(), false))
        if (r != t.rank() && swarm.at[i][1] >= 0.5) least = std::min(least, swarm.at[i][1] * swarm.at[i][1]);
    ASSERT_LE(others, least);
    if (t.size() > 1) {
      ASSERT_GT(others, unmarked) << "boxes of several components or the other one";
    }
  });
}

TEST_P(RemoteTest, bounds_of_points_are_not_above_the_way_to_any_point_of_another_rank) {
  test::on_ranks(GetParam(), [](comm::Transport& t) {
    for (const int min_samples : {1, 3}) {
      const auto swarm = test::make_swarm(min_samples == 1 ? "clusters" : "uniform", 3, 150, 6);
      auto items = points_of<3>(swarm, slab(swarm, t.rank(), t.size(), false));
      BoruvkaState<3> state;
      state.tree = PointTree<3>(items, {}, 4, 1000);
      const RemoteBoxes<3> boxes(state.tree, t);
      const auto cores = test::compute_cores(swarm, min_samples);
      if (min_samples > 1) {
        state.core = core_squares<3>(state.tree, 3, 1, &boxes, t);
        ASSERT_EQ(state.core.size(), state.tree.size() + 16);
        for (std::uint32_t v = 0; v < state.tree.size(); ++v) ASSERT_EQ(state.core[v], cores[state.tree.id(v)]);
      }
      find_lists(state, 4, 1);
      const auto bounds = boxes.bounds(state);
      ASSERT_EQ(bounds.size(), state.tree.size());
      for (std::uint32_t v = 0; v < state.tree.size(); ++v) {
        const auto id = static_cast<std::size_t>(state.tree.id(v));
        ASSERT_GE(bounds[v], min_samples > 1 ? cores[id] : 0);
        ASSERT_TRUE(t.size() > 1 || bounds[v] == kInfinity);
        for (int r = 0; r < t.size(); ++r)
          for (const auto i : slab(swarm, r, t.size(), false)) {
            ASSERT_TRUE(r == t.rank() || bounds[v] <= std::max({swarm.compared(id, i), cores[id], cores[i]}));
          }
      }
    }
  });
}

}  // namespace
