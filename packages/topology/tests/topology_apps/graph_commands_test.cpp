/// The commands topo gen, topo convert and topo table2: files, output, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

Json result_of(const std::string& path) { return Json::parse(read_bytes(path)).at("result"); }

TEST(TopoGen, writes_a_graph_that_convert_takes_through_every_format) {
  const Folder folder;
  const std::string first = folder.file("g.bin"), json = folder.file("g.json");
  const Outcome made =
      run({"topo", "gen", "rgg", "--ranks", "16", "--vertices", "512", "--cross", "0.1", "-o", first, "--json", json});
  ASSERT_EQ(made.code, 0) << made.text();
  const Json graph = result_of(json).at("graph");
  EXPECT_EQ(graph.at("ranks"), 16);
  EXPECT_EQ(graph.at("symmetric"), true);
  EXPECT_EQ(graph.at("digest"), made.digest());
  EXPECT_EQ(std::filesystem::file_size(first), 16 + 8 * 17 + 16 * graph.at("arcs").get<std::size_t>());
  std::string from = first;
  for (const char* name : {"g.txt", "g.adj", "g.mtx", "g.metis", "back.bin"}) {
    const std::string to = folder.file(name);
    const Outcome o = run({"topo", "convert", from, to});
    ASSERT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), made.digest()) << name;
    from = to;
  }
  EXPECT_EQ(read_bytes(first), read_bytes(from));
  const Outcome coarse = run({"topo", "convert", from, folder.file("4.mtx"), "--ranks", "4"});
  EXPECT_EQ(coarse.code, 0) << coarse.text();
  EXPECT_TRUE(says(coarse.out, "coarser: 4 ranks")) << coarse.out;
}

TEST(TopoGen, makes_one_graph_under_a_launcher) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome alone = run({"topo", "gen", "random:3", "--ranks", "8"});
  const Outcome many = run_on(2, {"topo", "gen", "random:3", "--ranks", "8"});
  EXPECT_EQ(many.code, 0) << many.text();
  EXPECT_EQ(many.out, alone.out);
}

TEST(TopoGen, sets_the_published_generator_beside_the_correct_one) {
  const Outcome o = run({"topo", "gen", "rgg", "--ranks", "16", "--cross", "2", "--compat", "neve"});
  EXPECT_EQ(o.code, 0) << o.text();
  for (const char* part : {"1967017404", "560,752", "5,607", "seed 42", "16 ranks, 240 arcs"})
    EXPECT_TRUE(says(o.out, part)) << o.out;
  const Outcome lcg = run({"topo", "gen", "rgg", "--ranks", "4", "--compat", "neve", "--lcg"});
  EXPECT_TRUE(says(lcg.out, "130,042")) << lcg.text();
}

TEST(TopoGen, misuse_has_its_exit_code_and_says_what_is_allowed) {
  const Folder folder;
  const std::string bad = folder.file("bad.bin");
  std::ofstream(bad, std::ios::binary) << std::string(30, '\0');
  const std::vector<std::pair<Arguments, int>> cases{
      {{"topo", "gen", "tours"}, 2},
      {{"topo", "gen", "chain", "--cross", "2"}, 2},
      {{"topo", "gen", "chain", "--lcg"}, 2},
      {{"topo", "gen", "rgg", "--lcg"}, 2},
      {{"topo", "gen", "rgg", "--compat", "neve", "--degree", "4"}, 2},
      {{"topo", "gen", "chain", "--format", "metis"}, 2},
      {{"topo", "gen", "chain", "-o", folder.file("g.xyz")}, 2},
      {{"topo", "gen", "incast", "-o", folder.file("g.metis")}, 3},
      {{"topo", "gen", "torus", "--dims", "3,3"}, 2},
      {{"topo", "convert", bad}, 3},
      {{"topo", "convert", folder.file("missing.bin")}, 3},
      {{"topo", "convert", bad, folder.file("g.mtx"), "--from", "yaml"}, 2},
      {{"topo", "gen", "chain", "-o", folder.file("no/folder/g.bin")}, 3}};
  for (const auto& [words, code] : cases) {
    const Outcome o = run(words);
    EXPECT_EQ(o.code, code) << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"bad.bin"}));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(TopoTable2, all_entries_agree) {
  const Folder folder;
  const std::string json = folder.file("t.json");
  const Outcome o = run({"topo", "table2", "--json", json});
  EXPECT_EQ(o.code, 0) << o.text();
  const Json result = result_of(json);
  EXPECT_EQ(result.at("agree"), 21);
  EXPECT_EQ(result.at("edge_counts_agree"), 7);
  const Json last = result.at("rows").back();
  EXPECT_EQ(last.at("vertex_edges"), 21951350);
  EXPECT_EQ(last.at("entries").at(2).at("published"), 918492);
}
#endif

}  // namespace
