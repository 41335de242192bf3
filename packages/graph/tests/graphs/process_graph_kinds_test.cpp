/// Tests of the generators of process graphs: properties of every kind, errors of options.
#include "merganser/graphs/process_graph_kinds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "tests/base/system.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::graphs;

ProcessGraphOptions on(int ranks) {
  ProcessGraphOptions o;
  o.ranks = ranks;
  return o;
}

std::set<std::pair<int, int>> arcs(const ProcessGraph& g) {
  std::set<std::pair<int, int>> out;
  for (int r = 0; r < g.ranks(); ++r)
    for (const auto& arc : g.row(r)) out.insert({r, arc.to});
  return out;
}

bool connected(const ProcessGraph& g) {
  std::vector<int> stack{0};
  std::set<int> seen{0};
  while (!stack.empty()) {
    const int r = stack.back();
    stack.pop_back();
    for (const auto& arc : g.row(r))
      if (seen.insert(arc.to).second) stack.push_back(arc.to);
  }
  return static_cast<int>(seen.size()) == g.ranks();
}

TEST(GenerateProcessGraph, every_kind_works_for_every_small_number_of_ranks) {
  for (const auto& kind : process_graph_kinds()) {
    for (int ranks = 1; ranks <= 40; ++ranks) {
      ProcessGraphOptions o = on(ranks);
      o.vertices = 50;
      const ProcessGraph g = generate_process_graph(kind.name, o).graph;
      EXPECT_EQ(g.ranks(), ranks) << kind.name;
      EXPECT_EQ(g.is_symmetric(), kind.name != "incast" || ranks == 1) << kind.name << ' ' << ranks;
      EXPECT_FALSE(g.is_weighted()) << kind.name << ' ' << ranks;
      EXPECT_EQ(g.digest(), generate_process_graph(kind.name, o).graph.digest()) << kind.name;
    }
  }
}

TEST(GenerateProcessGraph, chains_rings_and_complete_graphs_have_their_arcs) {
  EXPECT_EQ(arcs(generate_process_graph("chain", on(3)).graph),
            (std::set<std::pair<int, int>>{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
  EXPECT_EQ(generate_process_graph("chain", on(16)).graph.arcs(), 30);
  EXPECT_EQ(generate_process_graph("ring", on(16)).graph.arcs(), 32);
  EXPECT_EQ(generate_process_graph("ring", on(2)).graph.arcs(), 2);
  EXPECT_EQ(generate_process_graph("ring", on(3)).graph, generate_process_graph("complete", on(3)).graph);
  EXPECT_EQ(generate_process_graph("complete", on(16)).graph.arcs(), 240);
}

TEST(GenerateProcessGraph, tori_join_ranks_one_step_apart) {
  for (const std::vector<int>& dims : {std::vector<int>{5}, {4, 3}, {2, 3, 4}, {1, 1, 6}, {2, 2, 2}, {1, 7}}) {
    for (const AxisFlags periodic : {AxisFlags{true, true, true}, {false, false, false}, {true, false, false}}) {
      ProcessGraphOptions o;
      o.dims = dims;
      o.periodic = periodic;
      o.ranks = 1;
      for (const int d : dims) o.ranks *= d;
      std::set<std::pair<int, int>> expected;
      std::vector<int> lengths = dims;
      lengths.resize(3, 1);
      const auto rank = [&](int x, int y, int z) { return (z * lengths[1] + y) * lengths[0] + x; };
      for (int z = 0; z < lengths[2]; ++z)
        for (int y = 0; y < lengths[1]; ++y)
          for (int x = 0; x < lengths[0]; ++x)
            for (std::size_t axis = 0; axis < dims.size(); ++axis)
              for (const int step : {-1, 1}) {
                int at[3] = {x, y, z};
                at[axis] += step;
                if (periodic[axis]) at[axis] = (at[axis] + lengths[axis]) % lengths[axis];
                if (at[axis] < 0 || at[axis] >= lengths[axis] || rank(at[0], at[1], at[2]) == rank(x, y, z)) continue;
                expected.insert({rank(x, y, z), rank(at[0], at[1], at[2])});
              }
      EXPECT_EQ(arcs(generate_process_graph("torus", o).graph), expected);
    }
  }
  EXPECT_EQ(generate_process_graph("torus2d", on(12)).dims, (std::vector<int>{4, 3}));
  EXPECT_EQ(generate_process_graph("grid3d", on(64)).dims, (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(generate_process_graph("torus3d", on(7)).dims, (std::vector<int>{7, 1, 1}));
  EXPECT_EQ(generate_process_graph("torus2d", on(72)).dims, (std::vector<int>{9, 8}));
  EXPECT_EQ(generate_process_graph("grid3d", on(432)).dims, (std::vector<int>{9, 8, 6}));
  EXPECT_EQ(generate_process_graph("torus1d", on(9)).graph, generate_process_graph("ring", on(9)).graph);
  EXPECT_EQ(generate_process_graph("grid1d", on(9)).graph, generate_process_graph("chain", on(9)).graph);
}

TEST(GenerateProcessGraph, lengths_that_are_not_given_are_as_equal_as_can_be) {
  for (int ranks = 1; ranks <= 500; ++ranks) {
    int width = 1;
    int least = ranks + 2;
    for (int z = 1; z * z * z <= ranks; ++z)
      for (int y = z; ranks % z == 0 && y * y <= ranks / z; ++y)
        if (ranks / z % y == 0) least = std::min(least, z + y + ranks / z / y);
    for (int d = 1; d * d <= ranks; ++d)
      if (ranks % d == 0) width = d;
    EXPECT_EQ(generate_process_graph("grid2d", on(ranks)).dims, (std::vector<int>{ranks / width, width}));
    const auto box = generate_process_graph("grid3d", on(ranks)).dims;
    EXPECT_EQ(box[0] + box[1] + box[2], least) << ranks;
  }
}

TEST(GenerateProcessGraph, incast_is_directed_to_rank_0) {
  ProcessGraphOptions o = on(8);
  o.fan_in = 5;
  const ProcessGraph g = generate_process_graph("incast", o).graph;
  EXPECT_EQ(arcs(g), (std::set<std::pair<int, int>>{{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}));
  EXPECT_EQ(generate_process_graph("incast", on(8)).graph.local(0).in.size(), 7U);
}

TEST(GenerateProcessGraph, random_graphs_are_regular_for_every_degree_and_differ_by_seed) {
  for (const int ranks : {2, 5, 8, 9, 32}) {
    for (int degree = 1; degree < ranks; ++degree) {
      if (ranks * degree % 2 == 1) continue;
      ProcessGraphOptions o = on(ranks);
      o.degree = degree;
      const ProcessGraph g = generate_process_graph("random", o).graph;
      EXPECT_TRUE(g.is_symmetric());
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(g.row(r).size(), static_cast<std::size_t>(degree));
    }
  }
  std::set<std::string> digests;
  std::vector<int> met(64, 0);
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    ProcessGraphOptions o = on(64);
    o.seed = seed;
    const ProcessGraph g = generate_process_graph("random", o).graph;
    digests.insert(g.digest());
    for (const auto& arc : g.row(0)) ++met[static_cast<std::size_t>(arc.to)];
  }
  EXPECT_EQ(digests.size(), 50U);
  // 200 neighbours over 63 ranks: nothing of the circulant graph it starts from is left.
  for (const int near : {1, 2, 62, 63}) EXPECT_LT(met[static_cast<std::size_t>(near)], 14);
}

TEST(GenerateProcessGraph, small_worlds_keep_their_edges_and_lose_their_order) {
  ProcessGraphOptions o = on(200);
  o.degree = 6;
  o.rewire = 0;
  const ProcessGraph lattice = generate_process_graph("small-world", o).graph;
  EXPECT_EQ(lattice.max_degree(), 6);
  EXPECT_EQ(lattice.arcs(), 1200);
  o.rewire = 0.2;
  const ProcessGraph g = generate_process_graph("small-world", o).graph;
  EXPECT_EQ(g.arcs(), 1200);
  int far = 0;
  for (const auto& [a, b] : arcs(g)) far += std::min(std::abs(a - b), 200 - std::abs(a - b)) > 3 ? 1 : 0;
  EXPECT_NEAR(far, 240, 90);  // each edge with probability 0.2, nearly always to a far end
  o.ranks = 7;
  o.rewire = 1;
  EXPECT_EQ(generate_process_graph("small-world", o).graph, generate_process_graph("complete", on(7)).graph);
}

TEST(GenerateProcessGraph, power_laws_have_hubs) {
  ProcessGraphOptions o = on(2000);
  o.degree = 4;
  const ProcessGraph g = generate_process_graph("power-law", o).graph;
  EXPECT_EQ(g.arcs(), 2 * (3 + 1997 * 2));
  EXPECT_GT(g.max_degree(), 40);
  EXPECT_TRUE(connected(g));
  for (int r = 0; r < g.ranks(); ++r) EXPECT_GE(g.row(r).size(), 2U);
}

TEST(GenerateProcessGraph, geometric_graphs_have_the_mean_degree) {
  for (const double degree : {2.0, 6.0, 40.0, 700.0}) {
    ProcessGraphOptions o = on(1000);
    o.degree = degree;
    const GeneratedProcessGraph g = generate_process_graph("geometric", o);
    EXPECT_NEAR(g.graph.mean_degree(), degree, 0.1 * degree + 0.2);
    EXPECT_TRUE(g.graph.is_symmetric());
  }
}

TEST(GenerateProcessGraph, rgg_without_cross_edges_is_a_chain_where_strips_are_high) {
  for (const int ranks : {2, 3, 7, 16, 33})
    EXPECT_EQ(generate_process_graph("rgg", on(ranks)).graph, generate_process_graph("chain", on(ranks)).graph);
}

TEST(GenerateProcessGraph, rgg_adds_exactly_the_percent_of_edges_asked_for) {
  ProcessGraphOptions o = on(12);
  o.vertices = 300;
  const auto without = generate_process_graph("rgg", o);
  o.cross = 2.5;
  const auto with = generate_process_graph("rgg", o);
  EXPECT_EQ(with.vertex_edges, without.vertex_edges);
  EXPECT_EQ(with.cross_edges, static_cast<std::int64_t>(2.5 * static_cast<double>(without.vertex_edges) / 100));
  EXPECT_GT(with.graph.arcs(), without.graph.arcs());
  for (const auto& arc : arcs(without.graph)) EXPECT_TRUE(arcs(with.graph).count(arc) != 0);
}

TEST(GenerateProcessGraph, rgg_meets_a_mean_degree) {
  for (const double degree : {1.875, 4.0, 7.5, 14.0, 15.0}) {
    ProcessGraphOptions o = on(16);
    o.vertices = 200;
    o.degree = degree;
    const ProcessGraph g = generate_process_graph("rgg", o).graph;
    EXPECT_NEAR(g.mean_degree(), degree, 1.0 / 16);
    EXPECT_TRUE(g.is_symmetric());
  }
  ProcessGraphOptions o = on(16);
  o.degree = 1;
  EXPECT_NE(test::refusal<UsageError>([&] {
              (void)generate_process_graph("rgg", o);
            }).find("a mean degree of 1; allowed: 1.875"),
            std::string::npos);
}

TEST(GenerateProcessGraph, rgg_weighs_arcs_by_ghost_vertices) {
  ProcessGraphOptions o = on(5);
  o.vertices = 400;
  o.cross = 1;
  o.ghost_bytes = 8;
  const ProcessGraph weighted = generate_process_graph("rgg", o).graph;
  o.ghost_bytes = 0;
  EXPECT_EQ(arcs(weighted), arcs(generate_process_graph("rgg", o).graph));
  for (int r = 0; r < 5; ++r)
    for (const auto& arc : weighted.row(r)) {
      EXPECT_EQ(std::fmod(arc.bytes, 8), 0);
      EXPECT_GT(arc.bytes, 0);
      EXPECT_LE(arc.bytes, 8 * 400);
      if (std::abs(arc.to - r) == 1) {
        EXPECT_GT(arc.bytes, 8 * 10);  // a whole border
      }
    }
}

TEST(GenerateProcessGraph, graphs_stay_what_they_were) {
  // A change here means that seeds no longer name the graphs that they named in records of earlier runs.
  const auto digest = [](const char* text, int ranks) { return make_process_graph(text, ranks, 42).digest(); };
  EXPECT_EQ(digest("random:4", 64), "ec8d0d8cb8bdf1e792d91d4bb4600be2");
  EXPECT_EQ(digest("small-world:4", 64), "fb944266cb2675ac2f145c53c85b6ea1");
  EXPECT_EQ(digest("power-law:4", 64), "9c99dd65563e93e894b17dee76fb68df");
  EXPECT_EQ(digest("geometric:6", 64), "6e7fc787f052cceaf393cfb654f097bd");
  EXPECT_EQ(digest("rgg:0.01", 64), "82b7e5af6f44ec9f9ea3ffd7b8b12ede");
}

TEST(MakeGraph, reads_kinds_and_parameters) {
  EXPECT_EQ(make_process_graph("chain", 6, 1), generate_process_graph("chain", on(6)).graph);
  ProcessGraphOptions o = on(8);
  o.dims = {4, 2};
  EXPECT_EQ(make_process_graph("torus:4x2", 8, 1), generate_process_graph("torus", o).graph);
  EXPECT_EQ(make_process_graph("incast:3", 8, 1).arcs(), 3);
  EXPECT_EQ(make_process_graph("random:3", 8, 5).arcs(), 24);
  EXPECT_EQ(make_process_graph("rgg:5", 8, 5).arcs(), 56);
  EXPECT_GT(make_process_graph("rgg:0.01", 8, 5).arcs(), 14);  // a point does not make it a file
}

TEST(MakeGraph, says_what_it_does_not_know) {
  const auto message = [](const char* text) {
    return test::refusal<UsageError>([&] { (void)make_process_graph(text, 4, 1); });
  };
  EXPECT_EQ(message("tours2d"), "unknown process graph \"tours2d\"; did you mean torus2d?");
  EXPECT_NE(message("spaghetti").find("unknown process graph \"spaghetti\"; allowed: chain, complete"),
            std::string::npos);
  for (const char* bad : {"",           "chain:3",           "random:x",  "random:",   "random:9",      "random:-1",
                          "random:1.5", "small-world:3",     "torus:3x2", "torus:0x4", "torus:2x2x1x1", "torus:",
                          "incast:4",   "incast:0",          "rgg:-1",    "rgg:nan",   "power-law:1",   "geometric:9",
                          "rgg:1e300",  "torus:4294967297x1"}) {
    EXPECT_NE(message(bad).find("allowed: "), std::string::npos) << bad << ": " << message(bad);
  }
  EXPECT_NE(test::refusal<UsageError>([] { (void)make_process_graph("complete", 100000, 1); }).find("268435456"),
            std::string::npos);
  EXPECT_NE(test::refusal<UsageError>([] { (void)make_process_graph("chain", 0, 1); }).find("at least 1"),
            std::string::npos);
}

TEST(MakeGraph, takes_files_of_the_right_number_of_ranks) {
  const test::Folder folder;
  const std::string path = folder.file("g.bin");
  const ProcessGraph g = make_process_graph("random:3", 8, 1);
  write_process_graph(path, g, ProcessGraphFormat::binary);
  EXPECT_EQ(make_process_graph(path, 8, 1), g);
  try {
    (void)make_process_graph(path, 4, 1);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("a graph of 8 ranks for a run on 4"), std::string::npos) << e.what();
  }
  EXPECT_THROW((void)make_process_graph("no/such/file", 4, 1), InputError);
}

TEST(GenerateProcessGraph, graphs_that_do_not_fit_into_memory_are_refused_before_they_are_made) {
  const test::System system;
  system.memory(8);
  for (const char* kind : {"complete", "incast", "chain", "torus2d", "random", "power-law"}) {
    const int ranks = std::string(kind) == "complete" ? 4000 : 1000000;
    const std::string why = test::refusal<UsageError>([&] { (void)generate_process_graph(kind, on(ranks)); });
    EXPECT_NE(why.find(" of memory; there is 8.00 MiB"), std::string::npos) << kind << ": " << why;
  }
  ProcessGraphOptions o = on(2);
  o.vertices = 1000000;
  EXPECT_NE(
      test::refusal<UsageError>([&] { (void)generate_process_graph("rgg", o); }).find(" of memory; there is 8.00 MiB"),
      std::string::npos);
  EXPECT_EQ(test::refusal<UsageError>([&] { (void)generate_process_graph("complete", on(100)); }),
            "nothing was thrown");
}

}  // namespace
