/// Tests of edge lists whose vertices are named by text, and of headings that name the columns: against a plain reader of the test.
#include <gtest/gtest.h>

#include <map>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::Edge24;

/// A name in an edge list: in quotes if it needs them.
std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + '"';
}

TEST(NamedVertices, are_numbered_by_their_first_places_on_any_number_of_ranks) {
  const Folder folder;
  const std::string path = folder.file("a.txt");
  const std::vector<std::string> special{"a b", "#x", "%",   "//y",   "say \"hi\"", "\"",    "1",
                                         "01",  "NA", "nan", "x,y;z", "\xc3\xa4",   "source"};
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Random random(seed, 0, 0);
    const std::uint64_t pool = 1 + random.below(seed % 4 == 0 ? 2000 : 40);
    const auto name = [&] {
      const std::uint64_t n = random.below(pool);
      return n < special.size() ? special[n] : "v" + std::to_string(n * n);
    };
    std::string text = seed % 2 == 0 ? "# Undirected\n" : "% a comment\n\n";
    std::map<std::string, std::uint64_t> number;
    std::vector<std::string> names;
    std::vector<Edge24> edges;
    for (std::uint64_t line = 1 + random.below(300); line > 0; --line) {
      const std::string ends[2] = {name(), name()};
      std::uint64_t ids[2];
      for (int i = 0; i < 2; ++i) {
        const auto [at, is_new] = number.emplace(ends[i], names.size());
        if (is_new) names.push_back(ends[i]);
        ids[i] = at->second;
        text += quoted_name(ends[i]) + ' ';
      }
      const std::uint64_t weight = random.below(3);
      text += std::to_string(weight) + '\n';
      if (ids[0] != ids[1]) edges.push_back(graphs::make_edge<Edge24>(ids[0], ids[1], weight));
    }
    std::sort(edges.begin(), edges.end(), by_ends);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    write_bytes(path, text);
    for (const int ranks : {1, 2, 3, 4, 7}) {
      const NamedGraph g = read_named(path, ranks);
      ASSERT_EQ(g.names, names) << seed << " on " << ranks;
      ASSERT_EQ(g.graph.edges, edges) << seed << " on " << ranks;
      EXPECT_EQ(g.graph.vertices, names.size());
      EXPECT_TRUE(g.graph.log.named);
    }
    // What is written has the names, and is read as the same graph, whose vertices may have other numbers.
    const std::string copy = folder.file("b.txt");
    comm::run({"threads", 3, "", {}}, [&](comm::Transport& t) {
      graphs::ReadLog log;
      graphs::ReadOptions options;
      options.names = true;
      graphs::write_graph(copy, graphs::read_graph(path, options, t, log), graphs::Format::edge_list, t);
    });
    if (edges.empty()) continue;
    const NamedGraph again = read_named(copy, 2);
    std::vector<Edge24> back;
    for (const Edge24& e : again.graph.edges)
      back.push_back(
          graphs::make_edge<Edge24>(number.at(again.names[e.low]), number.at(again.names[e.high]), e.weight));
    std::sort(back.begin(), back.end(), by_ends);
    EXPECT_EQ(back, edges) << seed;
  }
}

TEST(NamedVertices, may_stand_under_a_heading_that_names_both_ends) {
  const Folder folder;
  const std::string path = folder.file("a.csv");
  const auto names = [&](const std::string& text) {
    write_bytes(path, text);
    return read_named(path, 2).names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("source,target\nann,bob\n"), (Names{"ann", "bob"}));
  EXPECT_EQ(names("ann,bob\nbob,eve\n"), (Names{"ann", "bob", "eve"})) << "no heading, though no cell is a number";
  EXPECT_EQ(names("ann bob\n"), (Names{"ann", "bob"})) << "one row";
  EXPECT_EQ(names("ann;bob smith\nbob smith;\"eve\"\n"), (Names{"ann", "bob smith", "eve"}));
  EXPECT_EQ(names("from\tto\tw\nann\tbob\t5\n"), (Names{"ann", "bob"}));
  EXPECT_EQ(names("0 1\n1 2\n"), (Names{"0", "1", "2"})) << "numbers are names too";
  EXPECT_EQ(names("name,source\nann,bob\n"), (Names{"name", "source", "ann", "bob"}));
}

TEST(NamedVertices, may_begin_as_the_mark_of_bzip2) {
  const Folder folder;
  const std::string path = folder.file("a.txt");
  for (const char* text : {"BZhang bob\n", "BZh9 bob\n"}) {
    write_bytes(path, text);
    EXPECT_EQ(read_named(path, 2).names.size(), 2U) << text;
  }
}

TEST(NamedVertices, of_several_words_may_stand_between_tabs) {
  const Folder folder;
  const std::string path = folder.file("a.tsv");
  const auto names = [&](const std::string& text) {
    write_bytes(path, text);
    return read_named(path, 2).names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("Smith, John\tP17\nLee, Ann\tP18\n"), (Names{"Smith, John", "P17", "Lee, Ann", "P18"}));
  EXPECT_EQ(names("Route 66\t1926\n"), (Names{"Route 66", "1926"}));
  EXPECT_EQ(names("source\ttarget\tdate of it\nann lee\tbob\tx\n"), (Names{"ann lee", "bob"}));
  EXPECT_EQ(names("ann lee\tbob\t\neve\tbob\t\n"), (Names{"ann lee", "bob", "eve"})) << "a tab ends every row";
  EXPECT_EQ(names("ann,\tbob\n"), (Names{"ann", "bob"})) << "commas separate";
  EXPECT_EQ(names("ann bob\neve \t bob\n"), (Names{"ann", "bob", "eve"})) << "no tab in the first row";
  EXPECT_EQ(names("\"ann\tlee\" bob\n"), (Names{"ann\tlee", "bob"})) << "a tab in quotes";
}

TEST(NamedVertices, lines_that_are_taken_for_comments_are_counted) {
  const Folder folder;
  const std::string path = folder.file("a.txt");
  write_bytes(path, "# first\nann bob\n#eve bob\n//x bob\nbob %y\n");
  for (const int ranks : {1, 2, 3, 4, 7}) {
    const auto lines = read_named(path, ranks).graph.log.lines;
    EXPECT_NE(std::find(lines.begin(), lines.end(),
                        "taken for comments, not for names: 2 lines behind the first row that begin with #, % or //"),
              lines.end())
        << ranks;
  }
  write_bytes(path, "# first\nann bob\n");
  for (const auto& line : read_named(path, 2).graph.log.lines) EXPECT_EQ(line.find("taken for"), std::string::npos);
}

std::string names_refusal(const std::string& path, const graphs::ReadOptions& options, int ranks) {
  try {
    static_cast<void>(read_whole(path, options, ranks));
  } catch (const Error& e) {
    return e.what();
  }
  return "none";
}

TEST(NamedVertices, that_are_wrong_are_refused_on_every_rank) {
  const Folder folder;
  graphs::ReadOptions options;
  options.names = true;
  std::string long_start;  // longer than what is looked at for the format
  while (long_start.size() < 100000) long_start += "a b\n";
  const std::vector<std::pair<std::string, std::string>> bad{
      {"a b 1\nc\n", ": line 2: \"c\"; allowed: two ids"},
      {"a,b\nc,\n", ": line 2: column 2: an empty cell, a missing value; allowed: names"},
      {"a b 1\na c x\n", ": line 2: column 3: weight \"x\""},
      {"a \"b 1\n", ": line 1: column 2: a quote without an end"},
      {"% bip\na b\n", ": line 1: two kinds of vertices (% bip) with names"},
      {"# vertices: 3\na b\n", ": 2 names of vertices; allowed: 3"},
      {"a\"\"b c 1\n", ": line 1: column 1: a quote within \"a\"\"b\"; allowed: names with a quote in quotes"},
      {"a b 1\na b\"c 1\n", ": line 2: column 2: a quote within"},
      {"5\" pipe;x;1\n", ": line 1: column 1: a quote within \"5\"\""},
      {"source,target,2019\nann,bob,5\n", ": line 1: column 3: \"2019\", a number among names of columns; allowed"},
      {"source\ttarget\t2019\nann\tbob s\t5\n", ": line 1: column 3: \"2019\", a number among names of columns"},
      {long_start + "a\rb c\n", ": a carriage return (CR) without a line feed"},
  };
  for (const auto& [text, part] : bad) {
    const std::string path = folder.file("a.txt");
    write_bytes(path, text);
    for (const int ranks : {1, 3})
      EXPECT_NE(names_refusal(path, options, ranks).find(part), std::string::npos)
          << names_refusal(path, options, ranks);
  }
  write_bytes(folder.file("a.mtx"), "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  EXPECT_NE(names_refusal(folder.file("a.mtx"), options, 2).find("names of vertices in format \"matrix-market\""),
            std::string::npos);
}

TEST(Headings, name_the_columns_in_any_order) {
  const Folder folder;
  const std::string path = folder.file("a.csv");
  const std::vector<Edge24> wanted{{0, 1, 5}, {1, 2, 7}};
  for (const char* text :
       {"source,target,weight\n0,1,5\n2,1,7\n", "weight,source,target\n5,0,1\n7,2,1\n",
        "Id;Label;Target;Weight;Source\n9;x;0;5;1\n8;;1;7;2\n",
        "Source,Target,Type,Id,Label,timeset,Weight\n0,1,Undirected,0,\"a, b\",,5\n1,2,Undirected,1,,,7\n"}) {
    write_bytes(path, text);
    for (const int ranks : {1, 2, 3, 4, 7}) EXPECT_EQ(read_whole(path, {}, ranks).edges, wanted) << text;
  }
  EXPECT_EQ(read_whole(path).log.lines[1], "columns by the heading; not used: Type, Id, Label, timeset");
  write_bytes(path, "key,source,target\n0.5,0,1\n");
  EXPECT_FALSE(read_whole(path).log.weighted) << "no column is named weight";
  for (const char* text : {"source,target,dist\n0,1,5\n1,2,7\n", "source,target,dist,x\n0,1,5,9\n1,2,7,9\n"}) {
    write_bytes(path, text);
    for (const int ranks : {1, 3}) {
      EXPECT_EQ(read_whole(path, {}, ranks).edges, wanted) << "a third column of numbers, whatever its name";
      EXPECT_TRUE(read_whole(path, {}, ranks).log.weighted);
    }
  }
  write_bytes(path, "source,target,type\n0,1,road\n1,2,rail\n");
  EXPECT_FALSE(read_whole(path).log.weighted) << "a third column of words";
}

TEST(Headings, that_are_ambiguous_are_refused) {
  const Folder folder;
  const std::string path = folder.file("a.csv");
  const std::vector<std::pair<std::string, std::string>> bad{
      {"source,target,weight,cost\n0,1,5,6\n",
       ": line 1: heading, columns 3 \"weight\" and 4 \"cost\"; allowed: one of them"},
      {"source,src,target\n0,1,5\n", ": line 1: heading, columns 1 \"source\" and 2 \"src\"; allowed: one of them"},
      {"weight,a,b\n5,0,1\n", ": line 1: heading, column 1 \"weight\"; allowed: both ends of an edge first"},
      {"id,source,target\n0,x,1\n", ": line 2: column 2: vertex \"x\"; allowed: 0 to below 2^63"},
      {"id,weight,source,target\n0,z,0,1\n", ": line 2: column 2: weight \"z\"; allowed: an integer"},
      {"id,weight,source,target\n0,,0,1\n", ": line 2: column 2: an empty cell"},
      {"id,source,target\n0,1\n", ": line 2: \"0,1\" has 2 columns; allowed: 3"},
  };
  for (const auto& [text, part] : bad) {
    write_bytes(path, text);
    for (const int ranks : {1, 3})
      EXPECT_NE(names_refusal(path, {}, ranks).find(part), std::string::npos) << names_refusal(path, {}, ranks);
  }
}

}  // namespace
