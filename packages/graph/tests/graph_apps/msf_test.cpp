/// Tests of the command msf by running it.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

const Arguments kTies{"msf", "--gen", "rmat:10:8", "--weights", "uniform:3"};

TEST(Msf, gives_one_digest_for_every_algorithm_and_model) {
  const Outcome first = run(kTies + Arguments{"--verify"});
  ASSERT_EQ(first.code, 0) << first.text();
  EXPECT_TRUE(says(first, "verified")) << first.text();
  ASSERT_EQ(first.digest().size(), 32U) << first.text();
  for (const Arguments& more :
       {Arguments{"--ranks", "3", "--method", "filter", "--base-case", "0", "--policy", "stars"},
        Arguments{"--ranks", "4", "--method", "local", "--base-case", "10", "--threads", "2"},
        Arguments{"--ranks", "2", "--algo", "mnd", "--style", "baseline", "--verify"},
        Arguments{"--ranks", "5", "--algo", "mnd", "--post", "leader", "--verify"}}) {
    const Outcome o = run(kTies + more);
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), first.digest()) << o.text();
  }
  for (const auto& model : process_models()) {
    const Outcome o = run_on(2, kTies + Arguments{"--comm", model, "--method", "boruvka", "--base-case", "50"});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), first.digest()) << o.text();
  }
}

TEST(Msf, writes_the_forest_the_labels_and_a_record) {
  const Folder folder;
  const std::string graph = folder.file("g.tsv");
  std::ofstream(graph) << "# two trees\n0 1 5\n1 2 7\n0 2 6\n3 4 1\n";
  const Outcome o = run({"msf", graph, "-o", folder.file("f.tsv"), "--labels", folder.file("l.txt"), "--json",
                         folder.file("r.json"), "--verify"});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(read_bytes(folder.file("l.txt")), "0\n0\n0\n3\n3\n");
  const Json record = Json::parse(read_bytes(folder.file("r.json")));
  EXPECT_EQ(record["result"]["edges"], 3);
  EXPECT_EQ(record["result"]["trees"], 2);
  EXPECT_EQ(record["result"]["weight"], "12");
  EXPECT_EQ(record["verified"]["graph_edges"], 4);
  EXPECT_GT(record["rate"]["edges_per_second"].get<double>(), 0);
  EXPECT_TRUE(record["phases"].contains("local forest"));
  EXPECT_TRUE(says(o, "phase") && says(o, "time ") && !says(o, "median")) << o.text();
  EXPECT_TRUE(says(run({"msf", graph, "--ranks", "2"}), "time, most")) << o.text();
  const Outcome again = run({"msf", folder.file("f.tsv"), "--verify"});
  EXPECT_EQ(again.digest(), o.digest()) << again.text();
  const Outcome most = run({"msf", graph, "--maximum", "--verify"});
  EXPECT_TRUE(says(most, "weight 14")) << most.text();
}

TEST(Msf, vertices_without_an_edge_are_told_apart_from_trees) {
  const Folder folder;
  const std::string graph = folder.file("g.txt");
  std::ofstream(graph) << "# Nodes: 4 Edges: 3\n1\t2\n2\t3\n3\t7\n";
  for (const char* ranks : {"1", "3"}) {
    const Outcome o = run({"msf", graph, "--ranks", ranks, "--json", folder.file("r.json")});
    EXPECT_TRUE(says(o, "3 edges in 1 tree, and 4 vertices without an edge, weight ")) << o.text();
    EXPECT_TRUE(says(o, "edge list: 2 columns; separated by tabs; no heading\n")) << o.text();
    const Json record = Json::parse(read_bytes(folder.file("r.json")));
    EXPECT_EQ(record["result"]["trees"], 1);
    EXPECT_EQ(record["result"]["vertices_without_edge"], 4);
  }
}

TEST(Msf, sparse_ids_come_back_as_they_were) {
  const Folder folder;
  const std::string graph = folder.file("sparse.tsv");
  std::ofstream(graph)
      << "# Undirected graph\n9000000000 5000000000 3\n7000000000 9000000000 1\n5000000000 7000000000 9\n";
  for (const char* ranks : {"1", "3"}) {
    const Outcome o =
        run({"msf", graph, "-o", folder.file("f.tsv"), "--labels", folder.file("l.txt"), "--ranks", ranks});
    ASSERT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(read_bytes(folder.file("l.txt")),
              "5000000000 5000000000\n7000000000 5000000000\n9000000000 5000000000\n");
    const std::string forest = read_bytes(folder.file("f.tsv"));
    EXPECT_NE(forest.find("7000000000 9000000000 1\n"), std::string::npos) << forest;
    EXPECT_NE(forest.find("5000000000 9000000000 3\n"), std::string::npos) << forest;
    EXPECT_EQ(std::count(forest.begin(), forest.end(), '\n'), 3) << forest;
  }
}

TEST(Msf, finds_trees_of_points) {
  const Outcome one = run({"msf", "--points", "uniform:3:2000", "--verify"});
  ASSERT_EQ(one.code, 0) << one.text();
  EXPECT_TRUE(says(one, "1,999 edges in 1 tree")) << one.text();
  EXPECT_EQ(run({"msf", "--points", "uniform:3:2000", "--ranks", "3"}).digest(), one.digest());
  const Outcome lattice = run({"msf", "--points", "lattice:2:20", "--ranks", "2", "--verify", "--periodic", "xy"});
  EXPECT_EQ(lattice.code, 0) << lattice.text();
  const Outcome reach = run({"msf", "--points", "clusters:2:600:5", "--min-samples", "5", "--ranks", "2", "--verify"});
  EXPECT_EQ(reach.code, 0) << reach.text();
}

TEST(Msf, misuse_and_bad_input_are_one_line) {
  const std::vector<std::pair<Arguments, int>> cases{{{"msf"}, 2},
                                                     {{"msf", "--gen", "rmat:4"}, 2},
                                                     {{"msf", "--gen", "path:5", "--points", "equal:3"}, 2},
                                                     {{"msf", "--points", "equal:3", "--maximum"}, 2},
                                                     {{"msf", "--gen", "path:5", "--weights", "heavy"}, 2},
                                                     {{"msf", "--gen", "path:5", "--threads", "0"}, 2},
                                                     {{"msf", "/no/such/file.mtx"}, 3},
                                                     {{"msf", "--gen", "rmat:40:16"}, 2},
                                                     {{"msf", "--points", "uniform:2:100000", "--verify"}, 2}};
  for (const auto& [words, code] : cases) {
    const Outcome o = run(words);
    EXPECT_EQ(o.code, code) << words.back() << '\n' << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << words.back() << '\n' << o.err;
  }
}

}  // namespace
