/// Tests of the command graph convert by running it: generated graphs, files, forecasts, errors.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

TEST(GraphConvert, a_made_graph_goes_through_every_format_and_is_the_same_on_any_ranks) {
  const Folder folder;
  const std::string made = folder.file("a.mgr"), text = folder.file("a.txt"), back = folder.file("b.mgr");
  Outcome o = run({"graph", "convert", "--gen", "gnm:9:4", "--weights", "uniform:3", made});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "512 vertices, 2,048 edges, weights unsigned (uniform:3)")) << o.out;
  ASSERT_EQ(run({"graph", "convert", made, text, "--ranks", "3"}).code, 0);
  ASSERT_EQ(run({"graph", "convert", text, folder.file("c.mgr")}).code, 0);
  ASSERT_EQ(run({"graph", "convert", text, back, "--ranks", "4", "--json", folder.file("r.json")}).code, 0);
  EXPECT_EQ(read_bytes(back), read_bytes(folder.file("c.mgr")));
  const Json record = read_json_file(folder.file("r.json"));
  EXPECT_EQ(record["graph"]["vertices"], 512);
  EXPECT_EQ(record["graph"]["edges"], 2048);
  EXPECT_EQ(record["graph"]["weights"], "file");
  EXPECT_EQ(record["graph"]["format"], "edge-list");
  EXPECT_EQ(record["graph"]["symmetrised"], false);
  EXPECT_EQ(record["options"]["ranks"], 4);
  if (process_models().empty()) return;
  ASSERT_EQ(run_on(3, {"graph", "convert", "--gen", "gnm:9:4", "--weights", "uniform:3", folder.file("p.mgr")}).code,
            0);
  EXPECT_EQ(read_bytes(folder.file("p.mgr")), read_bytes(made));
}

TEST(GraphConvert, what_was_done_to_a_file_is_said) {
  const Folder folder;
  std::ofstream(folder.file("a.txt")) << "0 1\n1 0\n2 2\n1 2\n";
  const Outcome o = run({"graph", "convert", folder.file("a.txt")});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "3 vertices, 2 edges, weights unsigned (uniform)")) << o.out;
  EXPECT_TRUE(says(o.out, "directed: 4 arcs became 2 undirected edges (1 loops dropped, 1 arcs were the reverse"))
      << o.out;
  EXPECT_TRUE(says(o.out, "no weights in the file: made ones (uniform, a hash of both ends and seed 1)")) << o.out;
}

TEST(GraphConvert, vertices_without_an_edge_are_counted_where_names_are_written) {
  const Folder folder;
  std::ofstream(folder.file("a.net")) << "*Vertices 4\n1 a\n2 b\n3 c\n4 d\n*Edges\n1 2 5\n3 3 5\n";
  for (const std::string ranks : {"1", "3"}) {
    const Outcome o =
        run({"graph", "convert", folder.file("a.net"), folder.file("b.txt"), "--names", "--ranks", ranks});
    EXPECT_TRUE(says(o.out, "b.txt: vertices without an edge, 2, are not in it")) << o.text();
    const Outcome tree = run({"msf", folder.file("a.net"), "-o", folder.file("c.txt"), "--names", "--ranks", ranks});
    EXPECT_TRUE(says(tree.out, "c.txt: vertices without an edge, 2, are not in it")) << tree.text();
  }
}

TEST(GraphConvert, names_with_tabs_are_refused_where_labels_are_written) {
  const Folder folder;
  std::ofstream(folder.file("a.txt")) << "ann \"c\td\" 5\n";
  for (const std::string ranks : {"1", "3"}) {
    for (const Arguments& command :
         {Arguments{"msf", folder.file("a.txt"), "--names", "--labels", "-", "--ranks", ranks},
          Arguments{"linkage", folder.file("a.txt"), "--names", "--height", "3", "--labels", "-", "--ranks", ranks}}) {
      const Outcome o = run(command);
      EXPECT_EQ(o.code, 3) << o.text();
      EXPECT_TRUE(says(o.text(), "with a tab, which stands between names and labels in")) << o.text();
    }
  }
}

TEST(GraphConvert, names_of_vertices_are_in_what_is_written_and_where_they_are_not_it_is_said) {
  const Folder folder;
  std::ofstream(folder.file("a.txt")) << "ann bob 5\nbob \"c d\" 2\neve \"#x\" 1\n";
  for (const std::string ranks : {"1", "3"}) {
    const Outcome o =
        run({"graph", "convert", folder.file("a.txt"), folder.file("b.txt"), "--names", "--ranks", ranks});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(says(o.out, "numbered in the order of the first places of their names")) << o.out;
    EXPECT_EQ(read_bytes(folder.file("b.txt")),
              "# Undirected graph\nsource target weight\nann bob 5\nbob \"c d\" 2\neve \"#x\" 1\n");
    EXPECT_TRUE(
        says(run({"graph", "convert", folder.file("a.txt"), folder.file("b.mgr"), "--names", "--ranks", ranks}).out,
             "b.mgr: binary files hold no names: vertices have their numbers there"));
    EXPECT_EQ(run({"msf", folder.file("a.txt"), "--names", "--labels", "-", "--ranks", ranks}).out,
              "ann\tann\nbob\tann\nc d\tann\neve\teve\n#x\teve\n");
    EXPECT_EQ(run({"linkage", folder.file("a.txt"), "--names", "--height", "3", "--labels", "-", "--ranks", ranks}).out,
              "ann\t0\nbob\t1\nc d\t1\neve\t2\n#x\t2\n");
  }
  EXPECT_EQ(run({"msf", folder.file("a.txt"), "--names", "-o", folder.file("t.tsv")}).code, 0);
  EXPECT_TRUE(says(read_bytes(folder.file("t.tsv")), "bob \"c d\" 2\n"));
  EXPECT_EQ(run({"graph", "convert", folder.file("a.txt")}).code, 3);
  EXPECT_EQ(run({"graph", "convert", "--gen", "path:3", "--names"}).code, 2);
}

TEST(GraphConvert, what_does_not_fit_is_refused_before_it_is_read) {
  const Outcome o = run({"graph", "convert", "--gen", "rmat:40:100"});
  EXPECT_EQ(o.code, 2) << o.text();
  EXPECT_TRUE(says(o.err, "rmat:40:100 (") && says(o.err, ": needs about ")) << o.err;
  EXPECT_TRUE(says(o.err, "there is ") && says(o.err, "--force")) << o.err;
  const Folder folder;
  std::ofstream(folder.file("a.mtx"))
      << "%%MatrixMarket matrix coordinate pattern general\n1000000 1000000 1000000000000000\n1 2\n";
  const Outcome file = run({"graph", "convert", folder.file("a.mtx")});
  EXPECT_EQ(file.code, 3);
  EXPECT_TRUE(says(file.err, "needs about ")) << file.err;
  const Outcome forced = run({"graph", "convert", folder.file("a.mtx"), "--force"});
  EXPECT_EQ(forced.code, 3);
  EXPECT_TRUE(says(forced.err, "going on, as --force says")) << forced.err;
  EXPECT_TRUE(says(forced.err, "1 entries; allowed: 1000000000000000")) << forced.err;
}

TEST(GraphConvert, misuse_and_bad_input_are_one_line_each) {
  const Folder folder;
  std::ofstream(folder.file("a.txt")) << "0 1\n1 x\n";
  const std::vector<std::tuple<Arguments, int, std::string>> cases{
      {{}, 2, "no graph; allowed: GRAPH or --gen NAME"},
      {{"a", "b.mgr", "--gen", "path:3"}, 2, "allowed: one of them"},
      {{"--gen", "path:3", "--format", "metis"}, 2, "--format: \"metis\" is not used with --gen"},
      {{"--gen", "pth:3"}, 2, "graph \"pth:3\" is none that is known"},
      {{"--gen", "path:3", "--weights", "euclidean"}, 2, "euclidean"},
      {{"--gen", "path:3", folder.file("x"), "--to", "bvgraph"}, 2, "read only; allowed: edge-list"},
      {{"--gen", "path:3", "--weights", "float32", folder.file("x.metis")}, 3, "weights float32; allowed: integers"},
      {{"--gen", "path:3", folder.file("x.foo")}, 2, "no extension that tells a format"},
      {{"--gen", "path:3", "--to", "binary"}, 2, "--to without OUT"},
      {{"nothing.txt"}, 3, "cannot read nothing.txt"},
      {{folder.file("a.txt")},
       3,
       "line 2: column 2: vertex \"x\"; allowed: 0 to below 2^63, or names (--names of msf, linkage and graph convert, "
       "names=True in Python)"},
      {{folder.file("a.txt"), "--format", "gexf"}, 2, "format \"gexf\"; allowed: edge-list"},
      {{"--gen", "path:3", folder.file("no/folder.mgr")}, 3, "no/folder.mgr"},
  };
  for (const auto& [words, code, part] : cases) {
    Arguments all{"graph", "convert"};
    all.insert(all.end(), words.begin(), words.end());
    const Outcome o = run(all);
    EXPECT_EQ(o.code, code) << o.text();
    EXPECT_TRUE(says(o.err, part)) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

}  // namespace
