// Tests of the two steps of verification: the tree over components of a contracted forest, and the comparison of edges with the
// greatest edge on the forest's path; and of the look-ups at owners that both make.
#include "src/msf/verify/hierarchy.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/msf/verify.hpp"
#include "src/msf/local/union_find.hpp"
#include "src/msf/verify/routing.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using msf::Fault;
using msf::Sense;
using msf::detail::Hierarchy;
using msf::detail::Node;

class HierarchyTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, HierarchyTest, testing::ValuesIn(thread_setups("chaos:6")),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Edges of a list that a rank holds: none on every third rank, but on few ranks.
Edges share_of(const Edges& all, const comm::Transport& t) {
  Edges mine;
  const int holders = t.size() > 2 ? t.size() - 1 : t.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (static_cast<int>(i % static_cast<std::size_t>(holders)) == t.rank()) mine.push_back(all[i]);
  return mine;
}

/// All components of a level, on every rank.
std::vector<Node> nodes_of(const msf::detail::Level& level, comm::Transport& t) {
  return level.everywhere ? level.nodes : comm::all_gather(t, level.nodes).flat();
}

std::vector<Shape> forests_to_contract() {
  std::vector<Shape> all = {{"nothing", 0, {}}, {"apart", 30, {}}, path_shape(200)};
  Shape star{"star", 120, {}};
  for (std::uint64_t v = 0; v < 119; ++v) star.add(v, 119, 7);  // ties: the lowest end first
  Shape comb{"comb", 200, {}};  // teeth are joined at once, the back of it in many levels
  for (std::uint64_t v = 0; v < 100; ++v) {
    comb.add(2 * v, 2 * v + 1, 1);
    if (v > 0) comb.add(2 * v - 2, 2 * v, 2 + (v & (~v + 1)));
  }
  Shape valleys{"valleys", 150, {}};
  for (std::uint64_t v = 0; v + 1 < 150; ++v) valleys.add(v, v + 1, v % 11 < 6 ? v % 11 : 11 - v % 11);
  all.insert(all.end(), {star, comb, valleys});
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    const Shape graph = random_shape(seed, 130 + 40 * seed, 90 * seed, seed % 2 == 0 ? 3 : 1U << 30);
    all.push_back({graph.name, graph.vertices, plain_kruskal(graph.edges, graph.vertices)});
  }
  return all;
}

/// By definition: the level above joins every component with the one that its least edge leads to.
TEST_P(HierarchyTest, every_level_joins_components_along_their_least_edges) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& forest : forests_to_contract()) {
      const Hierarchy found = msf::detail::contract(forest.vertices, share_of(forest.edges, t), t);
      EXPECT_FALSE(found.closes_cycle) << forest.name;
      std::vector<std::uint64_t> component(forest.vertices);  // by vertex: its component in this level
      std::iota(component.begin(), component.end(), std::uint64_t{0});
      std::uint64_t size = forest.vertices;
      for (const auto& level : found.levels) {
        EXPECT_EQ(level.ranges.first, graphs::Ranges::even(size, t.size()).first) << forest.name;
        EXPECT_EQ(level.everywhere,
                  t.size() == 1 ||
                      size <= std::max<std::uint64_t>(16, forest.vertices / static_cast<std::uint64_t>(t.size())));
        const auto nodes = nodes_of(level, t);
        ASSERT_EQ(nodes.size(), size) << forest.name;
        std::vector<const graphs::Edge24*> least(size, nullptr);
        msf::UnionFind sets(size);
        std::size_t live = 0;
        for (const auto& e : forest.edges) {
          const auto a = component[e.low];
          const auto b = component[e.high];
          if (a == b) continue;
          ++live;
          for (const auto c : {a, b})
            if (least[c] == nullptr || e < *least[c]) least[c] = &e;
        }
        ASSERT_GT(live, 0U) << forest.name;
        for (const auto& e : forest.edges)
          for (const auto v : {e.low, e.high})
            if (least[component[v]] == &e)
              sets.join(static_cast<std::uint32_t>(component[e.low]), static_cast<std::uint32_t>(component[e.high]));
        std::vector<std::uint64_t> root_of;  // by component of the next level
        for (std::uint32_t c = 0; c < size; ++c) {
          if (least[c] == nullptr) {
            ASSERT_EQ(nodes[c].parent, msf::detail::kNone) << forest.name;
            continue;
          }
          ASSERT_EQ(nodes[c].least, *least[c]) << forest.name;
          const auto parent = nodes[c].parent;
          if (parent >= root_of.size()) root_of.resize(parent + 1, msf::detail::kNone);
          if (root_of[parent] == msf::detail::kNone) root_of[parent] = sets.find(c);
          ASSERT_EQ(root_of[parent], sets.find(c)) << forest.name;  // one parent for each set
        }
        auto roots = root_of;
        std::sort(roots.begin(), roots.end());
        EXPECT_TRUE(std::adjacent_find(roots.begin(), roots.end()) == roots.end()) << forest.name;
        for (auto& c : component)
          if (c != msf::detail::kNone) c = nodes[c].parent;
        size = root_of.size();
      }
      for (const auto& e : forest.edges) EXPECT_EQ(component[e.low], component[e.high]) << forest.name;
    }
  });
}

/// Greatest edge on the forest's path between two vertices, by a walk from one of them; none between two trees.
std::vector<std::optional<graphs::Edge24>> greatest_from(const Shape& forest, std::uint64_t from) {
  std::vector<std::optional<graphs::Edge24>> greatest(forest.vertices);
  greatest[from] = graphs::Edge24{0, 0, 0};
  std::vector<std::vector<graphs::Edge24>> at(forest.vertices);
  for (const auto& e : forest.edges) {
    at[e.low].push_back(e);
    at[e.high].push_back(e);
  }
  std::vector<std::uint64_t> reached = {from};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const auto& e : at[reached[i]]) {
      const auto other = e.low == reached[i] ? e.high : e.low;
      if (greatest[other]) continue;
      greatest[other] = std::max(*greatest[reached[i]], e);
      reached.push_back(other);
    }
  }
  return greatest;
}

TEST_P(HierarchyTest, edges_are_compared_with_the_greatest_on_their_path) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const auto& forest : forests_to_contract()) {
      if (forest.vertices == 0) continue;
      const Hierarchy hierarchy = msf::detail::contract(forest.vertices, share_of(forest.edges, t), t);
      Edges edges = forest.edges;  // all of these are equal to the greatest on their path
      Random random(3, 61, 0);
      for (std::uint64_t i = 0; i < 500; ++i)
        edges.push_back(graphs::make_edge<graphs::Edge24>(random.below(forest.vertices), random.below(forest.vertices),
                                                          random.below(4)));
      const Edges mine = share_of(edges, t);
      Edges equal;
      std::optional<graphs::Edge24> apart;
      std::optional<msf::detail::Violation> small;
      std::vector<std::vector<std::optional<graphs::Edge24>>> greatest(forest.vertices);
      for (const auto& e : mine) {
        if (e.low == e.high) continue;
        if (greatest[e.low].empty()) greatest[e.low] = greatest_from(forest, e.low);
        const auto on_path = greatest[e.low][e.high];
        if (!on_path) {
          if (!apart || e < *apart) apart = e;
        } else if (e == *on_path) {
          equal.push_back(e);
        } else if (e < *on_path && (!small || e < small->edge)) {
          small = msf::detail::Violation{e, *on_path};
        }
      }
      Edges told;
      std::vector<double> done;
      const auto read = [&](std::size_t first, std::span<graphs::Edge24> to) {
        std::copy_n(mine.begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
      };
      const auto found = msf::detail::check_paths(
          hierarchy, {mine.size(), read}, t,
          [&](std::span<const graphs::Edge24> common) { told.insert(told.end(), common.begin(), common.end()); },
          [&](double share) { done.push_back(share); });
      EXPECT_EQ(sorted(told), sorted(equal)) << forest.name;
      EXPECT_EQ(found.between_trees, apart) << forest.name;
      ASSERT_EQ(found.too_small.has_value(), small.has_value()) << forest.name;
      if (small) {
        EXPECT_EQ(found.too_small->edge, small->edge) << forest.name;
        EXPECT_EQ(found.too_small->greatest, small->greatest) << forest.name;
      }
      EXPECT_EQ(done, (std::vector{0.0}));
    }
  });
}

TEST_P(HierarchyTest, a_cycle_is_found_however_long_and_wherever_it_is) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const std::uint64_t length : {2, 3, 4, 17, 64, 150}) {
      Shape cycle = path_shape(200);  // vertices after the cycle are a tail
      const graphs::Edge24 last{0, length - 1, length == 2 ? 1'000'000U : 500U};
      cycle.edges.push_back(last);
      const auto found = msf::detail::contract(cycle.vertices, share_of(cycle.edges, t), t).closes_cycle;
      Edges all;
      if (found) all.push_back(*found);
      all = sorted(gathered(all, t));
      ASSERT_FALSE(all.empty()) << length;
      EXPECT_EQ(all.front(), last) << length;
    }
  });
}

/// One rank asks for all, most ids many times, in more than one round; another one asks for nothing.
TEST_P(HierarchyTest, look_ups_answer_every_id_in_its_place) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto ranges = graphs::Ranges::even(1'000, t.size());
    const auto me = static_cast<std::size_t>(t.rank());
    std::vector<std::uint64_t> mine;
    for (std::uint64_t id = ranges.first[me]; id < ranges.first[me + 1]; ++id) mine.push_back(3 * id + 1);
    msf::detail::DistributedLookup lookup(t, ranges);
    for (const std::size_t most : {std::size_t{0}, std::size_t{40}, msf::detail::kRound, msf::detail::kRound + 1}) {
      const std::size_t count = t.rank() == 0 ? most : t.rank() == 1 ? 0 : most / 100;
      std::vector<std::uint64_t> ids;
      Random random(me, 62, 0);
      for (std::size_t i = 0; i < count; ++i) ids.push_back(random.below(1'000));
      std::vector<std::uint64_t> answers(count, 77);
      lookup.query<std::uint64_t>(ids, mine, answers);
      for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(answers[i], 3 * ids[i] + 1);
    }
  });
}

msf::Verification verified(const Shape& graph, const Shape& forest, comm::Transport& t, msf::Report& report) {
  const graphs::EdgeList list{graph.vertices, graphs::WeightKind::unsigned_integer, share_of(graph.edges, t), {}};
  return msf::verify_forest(list, {forest.vertices, list.kind, share_of(forest.edges, t)}, Sense::minimum, t, report);
}

/// 0 - 1 - 2 - 3 of weights 1, 2, 3 and (0, 3) of weight 4; 4 - 5 of weight 6.
Shape chain_graph() { return {"chain", 6, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {0, 3, 4}, {4, 5, 6}}}; }

TEST_P(HierarchyTest, of_several_faults_the_first_kind_is_told_by_its_least_edge) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto expect = [&](const Edges& forest, Fault fault, const std::string& witness) {
      msf::Report report;
      const auto found = verified(chain_graph(), {"forest", 6, forest}, t, report);
      EXPECT_EQ(found.fault, fault) << found.witness;
      EXPECT_EQ(found.witness, witness);
    };
    const std::string ends = ": its ends must ascend and be below 6";
    expect({{7, 8, 1}, {0, 9, 0}, {3, 3, 0}}, Fault::vertices, "the forest's edge (0, 9) of weight 0" + ends);
    expect({{2, 1, 5}, {5, 6, 9}}, Fault::vertices, "the forest's edge (2, 1) of weight 5" + ends);
    expect({{5, 5, 1}, {3, 3, 0}, {0, 1, 1}, {0, 1, 1}}, Fault::cycle,
           "the forest's edge (3, 3) of weight 0 is a loop");
    expect({{1, 2, 2}, {0, 1, 1}, {1, 2, 2}, {0, 1, 1}}, Fault::cycle,
           "the forest has the edge (0, 1) of weight 1 twice");
    expect({{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {0, 3, 4}, {4, 5, 7}}, Fault::cycle,
           "edge (0, 3) of weight 4 closes a cycle with other edges of the forest");
    expect({{0, 1, 1}, {1, 3, 9}, {0, 4, 8}, {4, 5, 6}}, Fault::foreign,
           "the forest's edge (0, 4) of weight 8 is not an edge of the graph");
    expect({{1, 2, 2}, {0, 3, 4}}, Fault::not_spanning,
           "edge (0, 1) of weight 1 of the graph joins two trees of the forest");
    expect({{0, 1, 1}, {1, 2, 2}, {0, 3, 4}, {4, 5, 6}}, Fault::not_minimal,
           "edge (2, 3) of weight 3 is less than edge (0, 3) of weight 4 on the forest's path between its ends");
    expect({{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {4, 5, 6}}, Fault::none, "");
  });
}

TEST_P(HierarchyTest, counts_levels_and_progress_are_told) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    std::vector<double> shares;
    report.progress = [&](std::string_view what, double share) {
      EXPECT_EQ(what, "verify");
      shares.push_back(share);
    };
    const auto found = verified(chain_graph(), {"forest", 6, {{0, 1, 1}, {1, 2, 2}, {2, 3, 3}, {4, 5, 6}}}, t, report);
    EXPECT_EQ(found.graph_edges, 5);
    EXPECT_EQ(found.forest_edges, 4);
    EXPECT_EQ(found.trees, 2);
    EXPECT_EQ(shares, t.rank() == 0 ? std::vector{0.0} : std::vector<double>{});
    const std::vector<std::pair<std::string, std::int64_t>> facts = {
        {"verify: levels", 1}};  // a path of rising weights
    EXPECT_EQ(report.facts(), facts);
    ASSERT_EQ(report.phases().size(), 2U);
    EXPECT_EQ(report.phases()[0].name, "verify: forest");
    EXPECT_EQ(report.phases()[1].name, "verify: paths");
  });
}

TEST_P(HierarchyTest, a_rank_with_another_kind_of_weights_or_a_bad_edge_is_heard_by_all) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const bool last = t.rank() == t.size() - 1;
    graphs::EdgeList graph{6, graphs::WeightKind::unsigned_integer, Edges{}, {}};
    msf::Report report;
    const msf::Forest odd{6, last ? graphs::WeightKind::float32 : graph.kind, {}};
    EXPECT_EQ(msf::verify_forest(graph, odd, Sense::minimum, t, report).fault, Fault::vertices);
    const msf::Forest larger{7, graph.kind, {}};
    EXPECT_EQ(msf::verify_forest(graph, larger, Sense::minimum, t, report).witness,
              "the forest has 7 vertices and unsigned weights, the graph 6 and unsigned");
    for (const graphs::Edge24 bad : {graphs::Edge24{3, 6, 1}, graphs::Edge24{4, 3, 1}}) {
      if (last) graph.edges = Edges{{0, 5, 1}, bad};
      std::string told;
      try {
        (void)msf::verify_forest(graph, {6, graph.kind, {}}, Sense::minimum, t, report);
      } catch (const InputError& e) {
        told = e.what();
      }
      const std::string edge = "edge (" + std::to_string(bad.low) + ", " + std::to_string(bad.high) + ") of the graph";
      EXPECT_NE(told.find(edge + "; allowed: ends in ascending order below 6"), std::string::npos) << told;
    }
  });
}

}  // namespace
