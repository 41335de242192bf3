/// Tests of graph files of every format: contents read on any number of ranks, and round trips.
#include <gtest/gtest.h>

#include <cmath>

#include "merganser/graphs/weights.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::Edge24;
using graphs::Format;
using graphs::WeightKind;

bool says(const graphs::ReadLog& log, const std::string& part) {
  return std::any_of(log.lines.begin(), log.lines.end(),
                     [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

class GraphFiles : public testing::Test {
 protected:
  /// Writes a file and reads it on several numbers of ranks, which must yield the same graph.
  WholeGraph read(const std::string& name, const std::string& bytes, const graphs::ReadOptions& options = {}) {
    const std::string path = folder_.file(name);
    write_bytes(path, bytes);
    const WholeGraph one = read_whole(path, options);
    for (const int ranks : {2, 3, 8}) {
      const WholeGraph more = read_whole(path, options, ranks);
      EXPECT_EQ(more.vertices, one.vertices) << name << " on " << ranks;
      EXPECT_EQ(more.edges, one.edges) << name << " on " << ranks;
      EXPECT_EQ(more.kind, one.kind);
      EXPECT_EQ(more.edge_bytes, one.edge_bytes);
      EXPECT_EQ(more.names, one.names);
      EXPECT_EQ(more.log.lines, one.log.lines);
    }
    return one;
  }
  Folder folder_;
};

std::uint64_t real(double weight) { return graphs::ordered_bits(weight); }
std::uint64_t negative(std::int64_t weight) { return graphs::ordered_bits(weight); }

TEST_F(GraphFiles, edge_lists_have_two_three_or_four_columns_and_comments) {
  const WholeGraph two = read("a.txt", "# Directed graph\n# Nodes: 4 Edges: 4\n0\t1\n1\t0\n\n2\t2\r\n1\t3\t\n");
  EXPECT_EQ(two.log.format, Format::edge_list);
  EXPECT_EQ(two.vertices, 4U);
  EXPECT_EQ(two.log.arcs, 4U);
  EXPECT_EQ(two.log.loops, 1U);
  EXPECT_EQ(two.log.repeated, 1U);
  EXPECT_TRUE(says(two.log, "directed: 4 arcs became 2 undirected edges"));
  EXPECT_TRUE(says(two.log, "no weights in the file: made ones (uniform"));
  const graphs::WeightMaker make = graphs::parse_weights("uniform", 1);
  EXPECT_EQ(two.edges, (std::vector<Edge24>{{0, 1, make(0, 1)}, {1, 3, make(1, 3)}}));
  const WholeGraph three = read("b.tsv", "% comment\n0 1 5\n2 1 7\n// another\n1 2 7");
  EXPECT_EQ(three.edges, (std::vector<Edge24>{{0, 1, 5}, {1, 2, 7}}));
  EXPECT_EQ(three.edge_bytes, 12U);
  EXPECT_FALSE(says(three.log, "made ones"));
  const WholeGraph four = read("c.txt", "1 2 -1 1082040961\n2 3 3 1082040962\n");
  EXPECT_EQ(four.kind, WeightKind::signed_integer);
  EXPECT_EQ(four.edges, (std::vector<Edge24>{{1, 2, negative(-1)}, {2, 3, negative(3)}}));
  EXPECT_TRUE(says(four.log, "fourth column is not used"));
}

TEST_F(GraphFiles, edge_lists_may_have_headings_quotes_any_separator_and_a_byte_order_mark) {
  const std::vector<Edge24> wanted{{0, 1, 5}, {1, 2, 7}};
  const struct {
    const char *text, *told;
  } samples[] = {
      {"0 1 5\n1 2\t7\n", "edge list: 3 columns; separated by blanks; no heading"},
      {"source,target,weight\n0,1,5\n1, 2,7\n", "edge list: 3 columns source, target, weight; separator ','; heading"},
      {"% a comment\n\"x1\";\"x2\";\"x3\"\n\"0\";1;5\n1;2;7\n",
       "edge list: 3 columns x1, x2, x3; separator ';'; heading"},
      {"\xef\xbb\xbf"
       "0\t1\t5\n1\t2\t7\n",
       "edge list: 3 columns; separated by tabs; no heading"},
      {"\xef\xbb\xbf"
       "to from w\n0 1 5\n1 2 7\n",
       "edge list: 3 columns to, from, w; separated by blanks; heading"}};
  for (const auto& sample : samples) {
    const WholeGraph g = read("a.csv", sample.text);
    EXPECT_EQ(g.edges, wanted) << sample.text;
    EXPECT_TRUE(says(g.log, sample.told)) << sample.text << g.log.lines[0];
  }
  EXPECT_TRUE(read("a.txt", "\xef\xbb\xbf# Undirected\n0 1\n").log.directed == false) << "a comment behind the mark";
  EXPECT_EQ(read("b", "\xef\xbb\xbf%%MatrixMarket matrix coordinate integer general\n3 3 2\n1 2 5\n2 3 7\n").edges,
            wanted);
  EXPECT_EQ(read("c.metis",
                 "\xef\xbb\xbf"
                 "3 2 001\n2 5\n1 5 3 7\n2 7\n")
                .edges,
            wanted);
}

TEST_F(GraphFiles, weights_are_integers_to_64_bit_or_numbers) {
  const WholeGraph wide = read("a.txt", "0 1 18446744073709551615\n1 2 4294967296\n2 3 0\n");
  EXPECT_EQ(wide.kind, WeightKind::unsigned_integer);
  EXPECT_EQ(wide.edge_bytes, 16U);
  EXPECT_EQ(wide.edges, (std::vector<Edge24>{{0, 1, ~0ULL}, {1, 2, 1ULL << 32}, {2, 3, 0}}));
  const WholeGraph low = read("b.txt", "0 1 -9223372036854775808\n1 2 9223372036854775807\n");
  EXPECT_EQ(low.edges, (std::vector<Edge24>{{0, 1, negative(INT64_MIN)}, {1, 2, negative(INT64_MAX)}}));
  // One number among integers makes all of them numbers, on ranks that saw none too.
  const WholeGraph mixed = read("c.txt", "0 1 3\n1 2 -4\n2 3 +5\n3 4 2.5e-1\n4 5 -0\n5 6 inf\n");
  EXPECT_EQ(mixed.kind, WeightKind::float64);
  EXPECT_EQ(mixed.edges, (std::vector<Edge24>{{0, 1, real(3)},
                                              {1, 2, real(-4)},
                                              {2, 3, real(5)},
                                              {3, 4, real(.25)},
                                              {4, 5, real(0)},
                                              {5, 6, real(INFINITY)}}));
  const WholeGraph minus = read("d.txt", "0 1 3\n1 2 4\n2 3 -5\n");
  EXPECT_EQ(minus.kind, WeightKind::signed_integer);
  EXPECT_EQ(minus.edges, (std::vector<Edge24>{{0, 1, negative(3)}, {1, 2, negative(4)}, {2, 3, negative(-5)}}));
}

TEST_F(GraphFiles, integers_of_both_signs_beyond_64_bits_are_numbers_beside_numbers_wherever_they_stand) {
  const std::vector<Edge24> wanted{{0, 1, real(-1)}, {1, 2, real(0x1p63)}, {2, 3, real(.5)}};
  for (const char* text : {"0 1 -1\n1 2 9223372036854775808\n2 3 .5\n", "2 3 .5\n1 2 9223372036854775808\n0 1 -1\n",
                           "1 2 9223372036854775808\n0 1 -1\n2 3 .5\n", "0 1 -1\n2 3 .5\n1 2 9223372036854775808\n"}) {
    const WholeGraph g = read("a.txt", text);
    EXPECT_EQ(g.kind, WeightKind::float64) << text;
    EXPECT_EQ(g.edges, wanted) << text;
  }
  const WholeGraph named = read("a.txt", "0 1 -1\n1 2 9223372036854775808\n", {"", "unit", 1});
  EXPECT_EQ(named.edges, (std::vector<Edge24>{{0, 1, 1}, {1, 2, 1}}));
}

TEST_F(GraphFiles, parallel_edges_of_different_weights_stay_and_equal_ones_are_one) {
  const WholeGraph g = read("a.txt", "0 1 5\n1 0 5\n1 0 4\n0 1 5\n");
  EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 4}, {0, 1, 5}}));
  EXPECT_TRUE(says(g.log, "1 edges are parallel"));
}

TEST_F(GraphFiles, weights_named_by_the_user_replace_those_of_the_file) {
  const WholeGraph g = read("a.txt", "0 1 5\n1 0 6\n1 2 7\n", {"", "unit", 1});
  EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 1}, {1, 2, 1}}));
  EXPECT_TRUE(says(g.log, "weights of the file not used"));
  const WholeGraph seed = read("a.txt", "0 1 5\n1 0 6\n1 2 7\n", {"", "float64", 9});
  EXPECT_EQ(seed.edges[0].weight, graphs::parse_weights("float64", 9)(0, 1));
}

TEST_F(GraphFiles, konect_files_count_from_one_and_their_sides_are_apart) {
  const WholeGraph g = read("out.txt", "% sym weighted\n% 2 3 3\n1 2 4\n2 3 5\n");
  EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 4}, {1, 2, 5}}));
  EXPECT_FALSE(g.log.directed);
  const WholeGraph sides = read("bip.txt", "% bip unweighted\n1 1 1\n1 2 1\n2 2 1\n3 1 1\n", {"", "unit", 1});
  EXPECT_EQ(sides.vertices, 5U);
  EXPECT_EQ(sides.edges, (std::vector<Edge24>{{0, 3, 1}, {0, 4, 1}, {1, 4, 1}, {2, 3, 1}}));
  EXPECT_TRUE(says(sides.log, "bipartite"));
}

TEST_F(GraphFiles, sparse_ids_get_dense_ones_in_their_order_and_keep_their_names) {
  std::string text;
  std::vector<std::uint64_t> names;
  for (std::uint64_t i = 0; i < 100; ++i) names.push_back(i * i * i * 1'000'003 + 17);
  for (std::size_t i = 0; i < 100; ++i)
    text += std::to_string(names[(i * 37 + 1) % 100]) + " " + std::to_string(names[i * 37 % 100]) + " 3\n";
  const WholeGraph g = read("a.txt", text);
  EXPECT_EQ(g.vertices, 100U);
  EXPECT_EQ(g.names, names);
  EXPECT_TRUE(g.log.relabelled);
  EXPECT_TRUE(says(g.log, "numbered anew"));
  ASSERT_EQ(g.edges.size(), 100U);
  for (const Edge24& e : g.edges) EXPECT_TRUE(e.high == e.low + 1 || (e.low == 0 && e.high == 99)) << e.low;
  const WholeGraph top = read("b.txt", "0 9223372036854775807\n");
  EXPECT_EQ(top.names, (std::vector<std::uint64_t>{0, INT64_MAX}));
  EXPECT_FALSE(read("c.txt", "0 1000000\n").log.relabelled) << "a million vertices are no burden";
}

TEST_F(GraphFiles, matrix_market_files_are_general_symmetric_or_skew) {
  const std::string sizes = "% made\n4 4 3\n";
  const WholeGraph g =
      read("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n" + sizes + "1 2\n2 1\n4 4\n", {"", "unit", 1});
  EXPECT_EQ(g.log.format, Format::matrix_market);
  EXPECT_EQ(g.vertices, 4U);
  EXPECT_TRUE(g.log.directed);
  EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 1}}));
  const WholeGraph s =
      read("b.mtx", "%%MatrixMarket Matrix Coordinate Integer Symmetric\n" + sizes + "2 1 9\n\n3 2 8\n4 3 -7\n");
  EXPECT_FALSE(s.log.directed);
  EXPECT_EQ(s.edges, (std::vector<Edge24>{{0, 1, negative(9)}, {1, 2, negative(8)}, {2, 3, negative(-7)}}));
  const WholeGraph r =
      read("c.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n" + sizes + "2 1 1\n3 2 2\n4 3 .5\n");
  EXPECT_EQ(r.kind, WeightKind::float64);
  EXPECT_EQ(r.edges, (std::vector<Edge24>{{0, 1, real(1)}, {1, 2, real(2)}, {2, 3, real(.5)}}));
}

TEST_F(GraphFiles, metis_files_have_every_flag) {
  const std::vector<Edge24> path{{0, 1, 1}, {1, 2, 1}};
  for (const std::string text : {"3 2\n2\n1 3\n2\n", "% c\n3 2 0\n2\n% c\n1 3\n2", "3 2 10\n9 2\n9 1 3\n9 2\n",
                                 "3 2 100\n9 2\n9 1 3\n9 2\n\n\n", "3 2 110 2\n9 8 7 2\n9 8 7 1 3\n9 8 7 2\n"}) {
    const WholeGraph g = read("a.metis", text, {"", "unit", 1});
    EXPECT_EQ(g.log.format, Format::metis);
    EXPECT_EQ(g.edges, path) << text;
    EXPECT_FALSE(g.log.directed);
  }
  const WholeGraph weighted = read("b.graph", "4 2 011\n9 2 5\n9 1 5 3 6\n9 2 6\n9\n");
  EXPECT_EQ(weighted.vertices, 4U);
  EXPECT_EQ(weighted.edges, (std::vector<Edge24>{{0, 1, 5}, {1, 2, 6}}));
  const WholeGraph alone = read("c.metis", "3 1\n\n3\n2\n", {"", "unit", 1});
  EXPECT_EQ(alone.edges, (std::vector<Edge24>{{1, 2, 1}})) << "an empty line is a vertex without edges";
}

TEST_F(GraphFiles, dimacs_files_hold_arcs_or_edges) {
  const WholeGraph g = read("a.gr", "c road\np sp 3 4\na 1 2 17\na 2 1 17\nc x\na 2 3 5\na 3 2 6\n");
  EXPECT_EQ(g.log.format, Format::dimacs);
  EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 17}, {1, 2, 5}, {1, 2, 6}}));
  EXPECT_TRUE(g.log.directed);
  const WholeGraph c = read("b.col", "p col 3 2\ne 1 2\ne 3 2\n", {"", "unit", 1});
  EXPECT_EQ(c.edges, (std::vector<Edge24>{{0, 1, 1}, {1, 2, 1}}));
  EXPECT_EQ(read("noextension", "c x\np edge 3 1\ne 1 3 4\n").edges, (std::vector<Edge24>{{0, 2, 4}}));
}

/// Returns the bytes of a ParHIP file of the path 0 - 1 - 2 with weights 5 and -6.
std::string parhip(std::uint64_t version) {
  std::string out;
  const auto put = [&](std::uint64_t value, bool narrow) {
    out.append(reinterpret_cast<const char*>(&value), narrow ? 4 : 8);
  };
  const bool weighted = (version & 1) == 0, weights = (version & 2) == 0, ids = (version & 8) != 0,
             offsets = (version & 4) != 0;
  put(version, false);
  put(3, false);
  put(4, false);
  for (const std::uint64_t arc : {0, 1, 3, 4}) put(24 + 4 * (offsets ? 4 : 8) + arc * (ids ? 4 : 8), offsets);
  for (const std::uint64_t to : {1, 0, 2, 1}) put(to, ids);
  if (weights)
    for (int i = 0; i < 3; ++i) put(1, (version & 16) != 0);
  if (weighted)
    for (const std::int64_t w : {5, 5, -6, -6}) put(static_cast<std::uint64_t>(w), (version & 32) != 0);
  return out;
}

TEST_F(GraphFiles, parhip_files_have_every_width_and_weight) {
  for (std::uint64_t version = 0; version < 64; ++version) {
    const bool weighted = (version & 1) == 0;
    const WholeGraph g = read("a.parhip", parhip(version), {"", weighted ? "" : "unit", 1});
    if (weighted)
      EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, negative(5)}, {1, 2, negative(-6)}})) << version;
    else
      EXPECT_EQ(g.edges, (std::vector<Edge24>{{0, 1, 1}, {1, 2, 1}})) << version;
  }
}

TEST_F(GraphFiles, a_format_is_told_by_extension_or_content_and_may_be_named) {
  EXPECT_EQ(read("noextension", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n").log.format,
            Format::matrix_market);
  EXPECT_EQ(read("noextension", parhip(3)).log.format, Format::parhip);
  EXPECT_EQ(read("noextension", "1 2\n").log.format, Format::edge_list);
  EXPECT_EQ(read("b.txt", "2 1\n2\n1\n", {"metis", "", 1}).log.format, Format::metis);
  for (const Format format : graphs::formats()) EXPECT_EQ(graphs::parse_format(graphs::to_string(format)), format);
  EXPECT_THROW(static_cast<void>(graphs::parse_format("gexf")), UsageError);
  EXPECT_THROW(static_cast<void>(graphs::format_from_path("a.out")), UsageError);
  EXPECT_EQ(graphs::format_from_path("a.mtx.gz"), Format::matrix_market);
}

TEST_F(GraphFiles, long_texts_are_cut_between_ranks_at_line_ends) {
  std::string list, metis = "20000 19999\n";
  std::vector<Edge24> wanted;
  for (std::uint64_t v = 0; v < 20000; ++v) {
    if (v < 19999) {
      list += std::to_string(v) + " " + std::to_string(v + 1) + " " + std::to_string(v % 7) + "\n";
      wanted.push_back({v, v + 1, v % 7});
    }
    metis += (v > 0 ? std::to_string(v) + " " : "") + (v < 19999 ? std::to_string(v + 2) : "") + "\n";
    if (v % 1000 == 0) metis += "% comment\n";
  }
  EXPECT_EQ(read("a.txt", list).edges, wanted);
  for (Edge24& e : wanted) e.weight = 1;
  EXPECT_EQ(read("a.metis", metis, {"", "unit", 1}).edges, wanted);
}

TEST_F(GraphFiles, what_is_written_reads_back_the_same_from_any_ranks_to_any) {
  for (const std::string weights : {"uniform", "signed", "float32", "float64", "uniform:3"}) {
    const std::string spec = "gnm:7:4";
    const WholeGraph whole = made(spec, {5, weights});
    for (const std::string name : {"g.mgr", "g.txt", "g.mtx", "g.gr", "g.metis", "g.parhip"}) {
      const Format format = graphs::format_from_path(name);
      if (weights.starts_with("float") && (format == Format::metis || format == Format::parhip)) continue;
      std::string first;
      for (const int ranks : {1, 3}) {
        const std::string path = folder_.file(name);
        const WholeGraph written = on_threads(ranks, [&](comm::Transport& t, graphs::ReadLog&) {
          graphs::EdgeList g = graphs::generate(spec, {5, weights}, t);
          graphs::write_graph(path, g, format, t);
          return g;
        });
        std::ifstream in(path, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(in)), {});
        if (ranks == 1) first = bytes;
        EXPECT_EQ(bytes, first) << name << ": the file depends on the ranks";
        const WholeGraph back = read_whole(path, {}, 5 - ranks);
        EXPECT_EQ(back.vertices, whole.vertices);
        if (weights == "float32" && format != Format::binary) {
          ASSERT_EQ(back.edges.size(), whole.edges.size());
          for (std::size_t i = 0; i < back.edges.size(); ++i)
            EXPECT_EQ(graphs::weight_from_bits(back.kind, back.edges[i].weight),
                      graphs::weight_from_bits(whole.kind, whole.edges[i].weight));
        } else {
          EXPECT_EQ(back.edges, whole.edges) << name << " " << weights;
          EXPECT_EQ(back.kind, whole.kind);
          EXPECT_EQ(back.edge_bytes, whole.edge_bytes);
          EXPECT_EQ(back.log.directed, format == Format::dimacs);
        }
      }
    }
  }
  EXPECT_EQ(folder_.list(), (std::vector<std::string>{"g.gr", "g.metis", "g.mgr", "g.mtx", "g.parhip", "g.txt"}))
      << "nothing else is left";
}

TEST_F(GraphFiles, binary_files_keep_names_and_parallel_edges_and_take_other_weights) {
  const WholeGraph g = read("a.txt", "5 1000000000000 7\n1000000000000 9 8\n9 5 4\n9 5 3\n");
  const std::string path = folder_.file("b.mgr");
  static_cast<void>(on_threads(2, [&](comm::Transport& t, graphs::ReadLog& log) {
    graphs::EdgeList list = graphs::read_graph(folder_.file("a.txt"), {}, t, log);
    graphs::write_graph(path, list, Format::binary, t);
    return list;
  }));
  for (const int ranks : {1, 2, 4}) {
    const WholeGraph back = read_whole(path, {}, ranks);
    EXPECT_EQ(back.edges, g.edges);
    EXPECT_EQ(back.names, g.names);
    const WholeGraph other = read_whole(path, {"", "float64", 3}, ranks);
    EXPECT_EQ(other.kind, WeightKind::float64);
    EXPECT_EQ(other.edges[0].weight, graphs::parse_weights("float64", 3)(0, 1));
  }
}

TEST_F(GraphFiles, forecasts_come_from_the_head_of_a_file) {
  const auto forecast = [&](const std::string& name, const std::string& bytes) {
    write_bytes(folder_.file(name), bytes);
    return graphs::forecast_file(folder_.file(name), {}, 2);
  };
  EXPECT_EQ(forecast("a.mtx", "%%MatrixMarket matrix coordinate pattern general\n900000 900000 800000\n1 1\n").edges,
            800000U);
  EXPECT_EQ(forecast("a.metis", "300 200\n").edges, 200U);
  EXPECT_EQ(forecast("a.gr", "p sp 300 200\n").vertices, 300U);
  EXPECT_EQ(forecast("a.parhip", parhip(3)).edges, 2U);
  std::string list;
  for (int i = 0; i < 50000; ++i) list += "123456 654321\n";
  const auto long_list = forecast("a.txt", list);
  EXPECT_NEAR(static_cast<double>(long_list.edges), 50000, 500);
  EXPECT_GE(long_list.bytes_per_rank, 50000U / 2 * (24 + 12));
  EXPECT_EQ(forecast("b.txt", "# nothing\n").edges, 0U);
}

}  // namespace
