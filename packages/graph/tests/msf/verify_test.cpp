// Tests of verify_forest(): right forests are accepted, forests wrong in every way are refused, with a witness.
#include "merganser/msf/verify.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "merganser/base/error.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using msf::Fault;
using msf::Sense;

class VerifyTest : public testing::TestWithParam<Setup> {
 protected:
  /// Both spread over the ranks at random. The same on every rank.
  static void expect(const Shape& graph, const Edges& forest, Fault fault, const std::string& witness,
                     Sense sense = Sense::minimum) {
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Shape forest_shape{"forest", graph.vertices, forest};
      const msf::Forest share{graph.vertices, graphs::WeightKind::unsigned_integer,
                              widened(distribute(forest_shape, t, 5))};
      msf::Report report;
      const auto found = msf::verify_forest(distribute(graph, t), share, sense, t, report);
      EXPECT_EQ(found.fault, fault) << graph.name << ": " << found.witness;
      EXPECT_EQ(found.is_correct(), fault == Fault::none);
      EXPECT_EQ(found.witness, witness) << graph.name;
      EXPECT_EQ(found.graph_edges, static_cast<std::int64_t>(graph.edges.size()));
      EXPECT_EQ(found.forest_edges, static_cast<std::int64_t>(forest.size()));
      EXPECT_EQ(found.trees, static_cast<std::int64_t>(graph.vertices - forest.size()));
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Models, VerifyTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// 0 - 1 - 2 - 3 - 4 of weights 4 7 4 6, chords (0, 2) of weight 7, (1, 3) of 9, (0, 4) of 8; 5 - 6 of weight 1; 7 alone.
Shape small_graph() {
  Shape shape{"small", 8, {}};
  shape.add(0, 1, 4);
  shape.add(1, 2, 7);
  shape.add(2, 3, 4);
  shape.add(3, 4, 6);
  shape.add(0, 2, 7);
  shape.add(1, 3, 9);
  shape.add(0, 4, 8);
  shape.add(5, 6, 1);
  shape.add(6, 6, 0);
  return shape;
}
/// Its forest: of the two edges of weight 7 that join 0 and 1 to the rest, (0, 2) comes first.
Edges small_forest() { return {{0, 1, 4}, {0, 2, 7}, {2, 3, 4}, {3, 4, 6}, {5, 6, 1}}; }

TEST_P(VerifyTest, right_forests_of_all_shapes_are_accepted) {
  for (const auto& shape : shapes())
    for (const auto sense : {Sense::minimum, Sense::maximum})
      expect(shape, plain_kruskal(shape.edges, shape.vertices, sense), Fault::none, "", sense);
}

TEST_P(VerifyTest, a_right_forest_of_equal_parallel_edges_is_accepted) {
  Shape graph = small_graph();
  graph.edges.insert(graph.edges.end(), {{0, 1, 4}, {0, 1, 4}, {0, 1, 5}});
  expect(graph, small_forest(), Fault::none, "");
}

TEST_P(VerifyTest, an_edge_left_out_leaves_an_edge_between_two_trees) {
  Edges forest = small_forest();
  forest.erase(forest.begin() + 3);
  expect(small_graph(), forest, Fault::not_spanning,
         "edge (3, 4) of weight 6 of the graph joins two trees of the forest");
  expect(small_graph(), {}, Fault::not_spanning, "edge (5, 6) of weight 1 of the graph joins two trees of the forest");
}

TEST_P(VerifyTest, a_heavier_edge_of_the_graph_instead_is_seen_from_the_lighter_one) {
  Edges forest = small_forest();
  forest[1] = {1, 3, 9};
  expect(small_graph(), forest, Fault::not_minimal,
         "edge (0, 2) of weight 7 is less than edge (1, 3) of weight 9 on the forest's path between its ends");
}

TEST_P(VerifyTest, a_tie_broken_the_wrong_way_is_seen) {
  Edges forest = small_forest();
  forest[1] = {1, 2, 7};
  expect(small_graph(), forest, Fault::not_minimal,
         "edge (0, 2) of weight 7 is less than edge (1, 2) of weight 7 on the forest's path between its ends");
}

TEST_P(VerifyTest, a_maximum_forest_is_no_minimum_forest) {
  const Edges greatest = plain_kruskal(small_graph().edges, 8, Sense::maximum);
  expect(small_graph(), greatest, Fault::none, "", Sense::maximum);
  expect(small_graph(), small_forest(), Fault::not_minimal,
         "edge (1, 3) of weight 9 comes before edge (2, 3) of weight 4 on the forest's path between its ends",
         Sense::maximum);
}

TEST_P(VerifyTest, a_cycle_is_named_by_its_greatest_edge) {
  Edges forest = small_forest();
  forest.push_back({0, 4, 8});
  expect(small_graph(), forest, Fault::cycle, "edge (0, 4) of weight 8 closes a cycle with other edges of the forest");
  forest = small_forest();
  forest.push_back({0, 1, 9});
  expect(small_graph(), forest, Fault::cycle, "edge (0, 1) of weight 9 closes a cycle with other edges of the forest");
  forest = small_forest();
  forest.push_back({2, 3, 4});
  expect(small_graph(), forest, Fault::cycle, "the forest has the edge (2, 3) of weight 4 twice");
  forest = small_forest();
  forest.push_back({6, 6, 0});
  expect(small_graph(), forest, Fault::cycle, "the forest's edge (6, 6) of weight 0 is a loop");
}

TEST_P(VerifyTest, an_edge_that_the_graph_has_not_is_named) {
  Edges forest = small_forest();
  forest[3] = {1, 4, 6};
  expect(small_graph(), forest, Fault::foreign, "the forest's edge (1, 4) of weight 6 is not an edge of the graph");
  forest = small_forest();
  forest.push_back({6, 7, 3});
  expect(small_graph(), forest, Fault::foreign, "the forest's edge (6, 7) of weight 3 is not an edge of the graph");
}

TEST_P(VerifyTest, a_wrong_weight_is_an_edge_that_the_graph_has_not) {
  for (const std::uint64_t weight : {3, 5}) {
    Edges forest = small_forest();
    forest[2].weight = weight;
    expect(small_graph(), forest, Fault::foreign,
           "the forest's edge (2, 3) of weight " + std::to_string(weight) + " is not an edge of the graph");
  }
}

TEST_P(VerifyTest, ends_that_are_no_vertices_are_named) {
  Edges forest = small_forest();
  forest.push_back({2, 8, 1});
  expect(small_graph(), forest, Fault::vertices,
         "the forest's edge (2, 8) of weight 1: its ends must ascend and be below 8");
}

/// The greatest edge on the path between two vertices of a forest, by walking; empty if there is none.
std::optional<graphs::Edge24> greatest_between(const Edges& forest, std::uint64_t from, std::uint64_t to) {
  std::vector<std::pair<std::uint64_t, graphs::Edge24>> reached = {{from, {0, 0, 0}}};
  std::vector<std::uint8_t> used(forest.size(), 0);
  for (std::size_t at = 0; at < reached.size(); ++at) {
    if (reached[at].first == to) return reached[at].second;
    for (std::size_t i = 0; i < forest.size(); ++i) {
      const auto& e = forest[i];
      if (used[i] != 0 || (e.low != reached[at].first && e.high != reached[at].first)) continue;
      used[i] = 1;
      reached.push_back({e.low == reached[at].first ? e.high : e.low, std::max(reached[at].second, e)});
    }
  }
  return std::nullopt;
}

TEST_P(VerifyTest, any_other_spanning_tree_is_refused_for_the_least_edge_that_shows_it) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Shape graph = random_shape(seed, 45, 160, 1 + seed % 3);
    Edges order = graph.edges;  // Kruskal in a random order: some spanning forest
    Random random(seed, 99, 0);
    for (auto& e : order) e.weight = random.below(5);
    Edges forest;
    for (const auto& e : plain_kruskal(order, graph.vertices)) {
      const auto same = [&](const auto& g) { return g.low == e.low && g.high == e.high; };
      forest.push_back(*std::find_if(graph.edges.begin(), graph.edges.end(), same));
    }
    std::optional<graphs::Edge24> least;
    std::optional<graphs::Edge24> greatest;
    for (const auto& e : graph.edges) {
      const auto on_path = greatest_between(forest, e.low, e.high);
      ASSERT_TRUE(on_path || e.low == e.high);
      if (e.low == e.high || !(e < *on_path) || (least && !(e < *least))) continue;
      least = e;
      greatest = on_path;
    }
    const auto text = [](const graphs::Edge24& e) {
      return "edge (" + std::to_string(e.low) + ", " + std::to_string(e.high) + ") of weight " +
             std::to_string(e.weight);
    };
    if (least) {
      expect(graph, forest, Fault::not_minimal,
             text(*least) + " is less than " + text(*greatest) + " on the forest's path between its ends");
    } else {
      expect(graph, forest, Fault::none, "");
    }
  }
}

TEST_P(VerifyTest, a_bad_edge_of_the_graph_is_an_error_of_the_input) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    graphs::EdgeList graph{5, graphs::WeightKind::unsigned_integer, std::vector<graphs::Edge12>{}};
    if (t.rank() == t.size() - 1) graph.edges = std::vector<graphs::Edge12>{{3, 5, 1}};
    msf::Report report;
    const msf::Forest forest{5, graph.kind, {}};
    EXPECT_THROW((void)msf::verify_forest(graph, forest, Sense::minimum, t, report), InputError);
  });
}

TEST_P(VerifyTest, forests_of_other_graphs_are_refused) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const graphs::EdgeList graph{5, graphs::WeightKind::unsigned_integer, std::vector<graphs::Edge12>{}};
    msf::Report report;
    const auto check = [&](std::uint64_t vertices, graphs::WeightKind kind) {
      return msf::verify_forest(graph, {vertices, kind, {}}, Sense::minimum, t, report).fault;
    };
    EXPECT_EQ(check(5, graphs::WeightKind::unsigned_integer), Fault::none);
    EXPECT_EQ(check(6, graphs::WeightKind::unsigned_integer), Fault::vertices);
    EXPECT_EQ(check(5, graphs::WeightKind::float32), Fault::vertices);
  });
}

TEST_P(VerifyTest, weights_are_told_as_what_they_stand_for) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto witness = [&](graphs::WeightKind kind, std::uint64_t bits) {
      graphs::EdgeList graph{2, kind, std::vector<graphs::Edge16>{}};
      if (t.rank() == 0) graph.edges = std::vector<graphs::Edge16>{{0, 1, bits}};
      msf::Report report;
      return msf::verify_forest(graph, {2, kind, {}}, Sense::maximum, t, report).witness;
    };
    const std::string joins = " of the graph joins two trees of the forest";
    EXPECT_EQ(witness(graphs::WeightKind::signed_integer, graphs::ordered_bits(std::int64_t{-7})),
              "edge (0, 1) of weight -7" + joins);
    EXPECT_EQ(witness(graphs::WeightKind::unsigned_integer, std::numeric_limits<std::uint64_t>::max()),
              "edge (0, 1) of weight 18446744073709551615" + joins);
    EXPECT_EQ(witness(graphs::WeightKind::float32, graphs::ordered_bits(0.5F)), "edge (0, 1) of weight 0.5" + joins);
    EXPECT_EQ(witness(graphs::WeightKind::float64, graphs::ordered_bits(-0.1)), "edge (0, 1) of weight -0.1" + joins);
  });
}

TEST_P(VerifyTest, more_than_one_round_of_records_is_no_matter) {
  if (GetParam().ranks != 2 || GetParam().backend != "threads") GTEST_SKIP() << "large: once is enough";
  const Shape graph = random_shape(77, 150'000, 200'000, 3);
  Edges forest = plain_kruskal(graph.edges, graph.vertices);
  expect(graph, forest, Fault::none, "");
}

}  // namespace
