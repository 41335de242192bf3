/// Tests of files of process graphs: round trips in every format, detection of formats, refusal of malformed files.
#include "merganser/graphs/process_graph_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "tests/base/system.hpp"
#include "tests/graphs/process_graph_samples.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using namespace merganser::graphs;
using Rows = std::vector<std::vector<ProcessGraph::Arc>>;

/// Numbers of `width` bytes, in the order of a little- or big-endian machine.
std::string packed(const std::vector<std::int64_t>& numbers, int width = 8, bool big = false) {
  std::string out;
  for (const std::int64_t n : numbers)
    for (int i = 0; i < width; ++i) out += static_cast<char>(n >> 8 * (big ? width - 1 - i : i));
  return out;
}
constexpr std::int64_t kOne = 0x3FF0000000000000;  // 1.0
constexpr std::int64_t kFloatOne = 0x3F800000;

/// A chain of two ranks as each build of the published program writes it.
const std::vector<std::int64_t> kTwo{2, 2, 0, 1, 2, 1, kOne, 0, kOne};

std::string refusal(const std::string& bytes, ProcessGraphFormat format) {
  try {
    (void)parse("file", bytes, format);
  } catch (const InputError& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("no InputError: ") + e.what();
  }
  return "accepted";
}

TEST(ProcessGraphFiles, the_binary_layout_is_the_published_one) {
  const ProcessGraph two = make_process_graph("chain", 2, 1);
  EXPECT_EQ(print(two, ProcessGraphFormat::binary), packed(kTwo));
  EXPECT_EQ(parse("file", packed(kTwo), ProcessGraphFormat::binary), two);
  const std::pair<int, std::size_t> sizes[] = {{2, 72}, {4, 152}, {8, 312}, {16, 632}};
  for (const auto& [ranks, bytes] : sizes)
    EXPECT_EQ(print(make_process_graph("chain", ranks, 1), ProcessGraphFormat::binary).size(), bytes);
}

TEST(ProcessGraphFiles, text_formats_look_as_documented) {
  const ProcessGraph g(Rows{{{1, 64}, {2, 0.5}}, {{0, 64}}, {}});
  EXPECT_EQ(print(g, ProcessGraphFormat::adjacency),
            "# merganser process graph, \"rank: neighbour weight neighbour weight ...\": 3 ranks, 3 arcs\n"
            "0: 1 64 2 0.5\n1: 0 64\n2:\n");
  EXPECT_EQ(print(g, ProcessGraphFormat::pairs),
            "# merganser process graph, \"from,to\" or \"from,to,weight\"\n# ranks 3\n0,1,64\n0,2,0.5\n1,0,64\n");
  EXPECT_EQ(
      print(g, ProcessGraphFormat::matrix_market),
      "%%MatrixMarket matrix coordinate real general\n% merganser process graph\n3 3 3\n1 2 64\n1 3 0.5\n2 1 64\n");
  EXPECT_EQ(print(make_process_graph("chain", 3, 1), ProcessGraphFormat::matrix_market),
            "%%MatrixMarket matrix coordinate pattern general\n% merganser process graph\n3 3 4\n1 2\n2 1\n2 3\n3 2\n");
  EXPECT_EQ(print(ProcessGraph(Rows{{{1, 7}}, {{0, 7}}, {}}), ProcessGraphFormat::metis),
            "% merganser process graph\n3 1 001\n2 7\n1 7\n\n");
  EXPECT_EQ(print(make_process_graph("chain", 3, 1), ProcessGraphFormat::metis),
            "% merganser process graph\n3 2\n2\n1 3\n2\n");
}

TEST(ProcessGraphFiles, a_thousand_graphs_of_every_format_come_back_as_they_were) {
  for (const ProcessGraphFormat format : process_formats()) {
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
      const ProcessGraph g = random_graph(seed, liked_by(format));
      const std::string bytes = print(g, format);
      const ProcessGraph back = graphs::detail::parse_any("file", bytes);  // the format is seen
      ASSERT_EQ(back, g) << to_string(format) << ", seed " << seed << '\n' << bytes;
      ASSERT_EQ(print(back, format), bytes);
    }
  }
}

TEST(ProcessGraphFiles, files_are_written_by_extension_and_read_by_what_they_hold) {
  const Folder folder;
  const ProcessGraph g = make_process_graph("random:3", 8, 1);
  for (const char* name : {"g.bin", "g.txt", "g.adj", "g.mtx", "g.graph", "g.metis"}) {
    const std::string path = folder.file(name);
    write_process_graph(path, g, process_format_from_path(path));
    EXPECT_EQ(read_process_graph(path), g) << name;
    EXPECT_EQ(read_process_graph(path, process_format_from_path(path)), g) << name;
    const std::string misnamed = folder.file("misnamed");
    std::filesystem::rename(path, misnamed);
    EXPECT_EQ(read_process_graph(misnamed), g) << name;
    std::filesystem::remove(misnamed);
  }
  EXPECT_TRUE(folder.list().empty());  // no temporary file is left
  EXPECT_THROW((void)process_format_from_path("g.vtk"), UsageError);
  EXPECT_THROW((void)process_format_from_path("graph"), UsageError);
  EXPECT_THROW((void)parse_process_format("yaml"), UsageError);
  for (const ProcessGraphFormat format : process_formats()) EXPECT_EQ(parse_process_format(to_string(format)), format);
}

TEST(ProcessGraphFiles, a_file_is_replaced_whole_and_a_link_is_written_through) {
  const Folder folder;
  const std::string path = folder.file("g.bin"), link = folder.file("link.bin");
  write_process_graph(path, make_process_graph("complete", 9, 1), ProcessGraphFormat::binary);
  std::filesystem::create_symlink("g.bin", link);
  chmod(path.c_str(), 0640);
  write_process_graph(link, make_process_graph("chain", 2, 1), ProcessGraphFormat::binary);
  EXPECT_EQ(read_bytes(path), packed(kTwo));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  struct stat s {};
  ASSERT_EQ(stat(path.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0640U);
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"g.bin", "link.bin"}));
  EXPECT_THROW(write_process_graph(folder.file("no/such/folder.bin"), make_process_graph("chain", 2, 1),
                                   ProcessGraphFormat::binary),
               InputError);
  EXPECT_THROW(
      write_process_graph(folder.path().string(), make_process_graph("chain", 2, 1), ProcessGraphFormat::binary),
      InputError);
  EXPECT_THROW(write_process_graph(path, ProcessGraph(), ProcessGraphFormat::binary), InputError);
}

TEST(ProcessGraphFiles, what_is_no_file_is_refused) {
  const Folder folder;
  EXPECT_THROW((void)read_process_graph(folder.file("missing")), InputError);
  EXPECT_THROW((void)read_process_graph(folder.path().string()), InputError);
  EXPECT_THROW((void)read_process_graph("/dev/zero"), InputError);
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW((void)read_process_graph(pipe), InputError);  // and not waited for
  std::ofstream(folder.file("empty")) << "";
  EXPECT_THROW((void)read_process_graph(folder.file("empty")), InputError);
}

struct Bad {
  std::string bytes;
  std::string says;
};

TEST(ProcessGraphFiles, wrong_binary_files_say_where_and_what) {
  std::string pairs = packed({2, 2, 0, 1, 2, 0, 1, kOne, 1, 0, kOne});
  std::string small = packed({2, 2, 0, 1, 2, 1, kFloatOne, 0, kFloatOne}, 4);
  const std::vector<Bad> cases{
      {packed(kTwo).substr(0, 20), "offset 20: the file ends; allowed: at least 24 bytes"},
      {packed(kTwo).substr(0, 71), "offset 0: 2 ranks and 2 arcs in a file of 71 bytes; allowed: 72 bytes"},
      {packed(kTwo) + "x", "in a file of 73 bytes; allowed: 72 bytes"},
      {packed(kTwo, 8, true), "of a big-endian machine"},
      {small, "fields of 32 bits (built with USE_32_BIT_GRAPH)"},
      {packed({2, 2, 0, 1, 2, 1, kFloatOne, 0, kFloatOne}, 4, true), "big-endian machine, with fields of 32 bits"},
      {pairs, "EDGE_AS_VERTEX_PAIR"},
      {packed({0, 0, 0}), "offset 0: 0 ranks; allowed: 1 to 2147483647"},
      {packed({-1, 0, 0}), "offset 0: -1 ranks"},
      {packed({1LL << 31, 0, 0}), "offset 0: 2147483648 ranks"},
      {packed({1, -1, 0}), "offset 8: -1 arcs; allowed: at least 0"},
      {packed({2147483647, INT64_MAX, 0}), "allowed: more than 18446744073709551615 bytes"},
      {packed({2, 1152921504606846976, 0, 0, 0}), "in a file of 40 bytes"},  // 16 * arcs overflows
      {packed({2, 2, 1, 1, 2, 1, kOne, 0, kOne}), "offset 16: the arcs of rank 0 begin at 1; allowed: 0"},
      {packed({2, 2, 0, 3, 2, 1, kOne, 0, kOne}), "offset 24: the arcs of rank 1 begin at 3; allowed: 0 to 2"},
      {packed({2, 2, 0, -1, 2, 1, kOne, 0, kOne}), "offset 24: the arcs of rank 1 begin at -1"},
      {packed({2, 2, 0, 1, 1, 1, kOne, 0, kOne}), "offset 32: the arcs of rank 2 begin at 1; allowed: 2"},
      {packed({2, 2, 0, 1, 2, 2, kOne, 0, kOne}), "offset 40: rank 2; allowed: 0 to 1"},
      {packed({2, 2, 0, 1, 2, -5, kOne, 0, kOne}), "offset 40: rank -5"},
      {packed({2, 2, 0, 1, 2, 0, kOne, 0, kOne}), "offset 40: an arc from 0 to 0"},
      {packed({2, 2, 0, 2, 2, 1, kOne, 1, kOne}), "offset 56: the arc from 0 to 1 stands at offset 40 already"},
      {packed({2, 2, 0, 1, 2, 1, kOne, 0, -1}), "offset 64: weight"},
      {packed({2, 2, 0, 1, 2, 1, 0x7FF0000000000000, 0, kOne}), "offset 48: weight inf; allowed: finite numbers >= 0"},
  };
  for (const Bad& bad : cases) {
    const std::string message = refusal(bad.bytes, ProcessGraphFormat::binary);
    EXPECT_EQ(message.rfind("file: ", 0), 0U) << message;
    EXPECT_NE(message.find(bad.says), std::string::npos) << message << "\nwanted: " << bad.says;
    EXPECT_NE(message.find("allowed: "), std::string::npos) << message;
  }
}

void expect_refusals(ProcessGraphFormat format, const std::vector<Bad>& cases) {
  for (const Bad& bad : cases) {
    const std::string message = refusal(bad.bytes, format);
    EXPECT_EQ(message.rfind("file: ", 0), 0U) << bad.bytes << '\n' << message;
    EXPECT_NE(message.find(bad.says), std::string::npos) << bad.bytes << '\n' << message << "\nwanted: " << bad.says;
    EXPECT_NE(message.find("allowed"), std::string::npos) << message;
  }
}

TEST(ProcessGraphFiles, wrong_adjacency_files_say_where_and_what) {
  expect_refusals(ProcessGraphFormat::adjacency,
                  {{"# nothing\n", "line 1: no ranks"},
                   {"0: 1 1\n1 0 1\n", "line 2: \"1 0 1\" has no colon"},
                   {"0: 1\n1:\n", "line 1: 1 numbers after the colon"},
                   {"0: 1 1\n", "line 1: rank 1 in a graph of 1 ranks"},
                   {"0:\n7:\n", "line 2: rank 7 in a file of 2 ranks"},
                   {"0:\n\n0:\n", "line 3: rank 0 has line 1 already"},
                   {"x: 1 1\n", "line 1: rank \"x\""},
                   {": 1 1\n", "line 1: rank \"\""},
                   {"0: 1 -1\n1:\n", "line 1: weight \"-1\"; allowed: finite numbers >= 0"},
                   {"0: 1 nan\n1:\n", "line 1: weight \"nan\""},
                   {"0: 1 1e999\n1:\n", "line 1: weight \"1e999\""},
                   {"0: 0 1\n", "line 1: an arc from 0 to 0"},
                   {"0: 1 1 1 1\n1:\n", "line 1: the arc from 0 to 1 stands at line 1 already"},
                   {"0: 99999999999999999999 1\n", "line 1: rank \"99999999999999999999\""},
                   {"0: 2147483646 1\n", "line 1: rank 2147483646 in a graph of 1 ranks"},
                   {"0: 1 1\r\n1: \x1b[31m 1\r\n", "line 2: rank \"?[31m\""}});
}

TEST(ProcessGraphFiles, wrong_pairs_say_where_and_what) {
  expect_refusals(ProcessGraphFormat::pairs, {{"", "no arcs"},
                                              {"0 1\n", "line 1: \"0 1\" has no comma"},
                                              {"0,\n", "line 1: rank \"\""},
                                              {"0,1,\n", "line 1: weight \"\""},
                                              {"0,1,2,3\n", "line 1: weight \"2,3\""},
                                              {"0,1\n0,1\n", "line 2: the arc from 0 to 1 stands at line 1 already"},
                                              {"3,3\n", "line 1: an arc from 3 to 3"},
                                              {"# ranks 2\n0,1\n2,1\n", "line 3: rank 2 in a graph of 2 ranks"},
                                              {"# ranks 0\n", "line 1: number of ranks \"0\""},
                                              {"0,2147483646\n", "line 1: rank \"2147483646\"; allowed: 0 to 1048575"},
                                              {"-1,0\n", "line 1: rank \"-1\""}});
}

TEST(ProcessGraphFiles, wrong_matrix_market_files_say_where_and_what) {
  const std::string general = "%%MatrixMarket matrix coordinate pattern general\n";
  const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  expect_refusals(ProcessGraphFormat::matrix_market,
                  {{"", "line 1: the file is empty"},
                   {"%%MatrixMarket matrix array real general\n2 2\n", "line 1: \"%%MatrixMarket matrix array"},
                   {"%%MatrixMarket matrix coordinate complex general\n", "line 1: "},
                   {"%%MatrixMarket matrix coordinate real hermitian\n", "line 1: symmetry \"hermitian\""},
                   {general, "line 1: the file ends"},
                   {general + "2 2\n", "line 2: \"2 2\"; allowed: rows, columns and entries"},
                   {general + "2 3 0\n", "line 2: \"2 3 0\"; allowed: as many rows as columns"},
                   {general + "0 0 0\n", "line 2: number of rows \"0\""},
                   {general + "2147483647 2147483647 0\n", "allowed: 1 to 1048576"},
                   {general + "2 2 999999999999\n", "line 2: number of entries"},
                   {general + "2 2 2\n1 2\n", "line 3: the file ends after 1 entries; allowed: 2"},
                   {general + "2 2 1\n1 2\n2 1\n", "line 4: \"2 1\" after the last entry"},
                   {general + "2 2 1\n1 2 3\n", "line 3: \"1 2 3\"; allowed: row, column"},
                   {general + "2 2 1\n1 3\n", "line 3: column \"3\"; allowed: 1 to 2"},
                   {general + "2 2 1\n0 1\n", "line 3: row \"0\""},
                   {general + "2 2 2\n1 2\n1 2\n", "line 4: the arc from 1 to 2 stands at line 3 already"},
                   {symmetric + "2 2 2\n1 2 1\n2 1 1\n", "line 4: the arc from 1 to 2 stands at line 3 already"},
                   {symmetric + "2 2 1\n2 1 -1\n", "line 3: weight \"-1\""}});
}

TEST(ProcessGraphFiles, matrices_may_be_symmetric_and_have_a_diagonal) {
  const std::string text =
      "%%matrixmarket MATRIX Coordinate Integer Symmetric\n% a comment\n\n3 3 3\n1 1 9\n2 1 5\n3 2 7\n";
  EXPECT_EQ(parse("file", text, ProcessGraphFormat::matrix_market),
            ProcessGraph(Rows{{{1, 5}}, {{0, 5}, {2, 7}}, {{1, 7}}}));
}

TEST(ProcessGraphFiles, wrong_metis_files_say_where_and_what) {
  expect_refusals(ProcessGraphFormat::metis,
                  {{"3\n", "line 1: \"3\"; allowed: vertices, edges"},
                   {"0 0\n", "line 1: number of vertices \"0\""},
                   {"2147483647 0\n", "line 1: number of vertices \"2147483647\"; allowed: 1 to 13"},
                   {"2 1 2\n2\n1\n", "line 1: format \"2\""},
                   {"2 1\n2\n", "line 2: the file ends after the lines of 1 vertices; allowed: 2"},
                   {"2 1\n2\n1\n1\n", "line 4: \"1\" after the last vertex"},
                   {"2 2\n2\n1\n", "line 1: 2 neighbours; allowed: 4, two for each"},
                   {"2 1\n3\n1\n", "line 2: neighbour \"3\"; allowed: 1 to 2"},
                   {"3 1\n2\n3\n\n", "the edge from vertex 1 to 2 of weight 1 has no equal one back"},
                   {"2 1 1\n2 5\n1 6\n", "the edge from vertex 1 to 2 of weight 5 has no equal one back"},
                   {"2 1 001\n2\n1\n", "line 2: weight \"\" of an edge"},
                   {"2 1 1\n2 -1\n1 -1\n", "line 2: weight \"-1\"; allowed: finite numbers >= 0"},
                   {"2 1 1\n2 inf\n1 inf\n", "line 2: weight \"inf\""},
                   {"2 1 11 9\n1 2\n", "line 2: size or weight of a vertex \"\""},
                   {"2 1 0 3\n2\n1\n", "line 1: number of weights \"3\""}});
}

TEST(ProcessGraphFiles, metis_files_may_have_sizes_weights_and_comments) {
  const ProcessGraph g(Rows{{{1, 5}}, {{0, 5}}, {}});
  EXPECT_EQ(parse("file", "% c\n3 1 111 2\n9 1 1 2 5\n% c\n9 1 1 1 5\n9 1 1\n", ProcessGraphFormat::metis), g);
  EXPECT_EQ(parse("file", "3 1 001\n2 5\n1 5\n\n\n\n", ProcessGraphFormat::metis), g);
}

TEST(ProcessGraphFiles, metis_cannot_hold_every_graph) {
  EXPECT_THROW((void)print(ProcessGraph(Rows{{{1}}, {}}), ProcessGraphFormat::metis), InputError);
  EXPECT_THROW((void)print(ProcessGraph(Rows{{{1, 2}}, {{0, 3}}}), ProcessGraphFormat::metis), InputError);
  EXPECT_THROW((void)print(ProcessGraph(Rows{{{1, 0.5}}, {{0, 0.5}}}), ProcessGraphFormat::metis), InputError);
  EXPECT_THROW((void)print(ProcessGraph(Rows{{{1, 0}}, {{0, 0}}}), ProcessGraphFormat::metis), InputError);
}

TEST(ProcessGraphFiles, text_by_hand_is_read_too) {
  EXPECT_EQ(graphs::detail::parse_any("file", "  # pairs by hand\r\n\r\n0 , 1\r\n 1,0\r\n"),
            make_process_graph("chain", 2, 1));
  EXPECT_EQ(graphs::detail::parse_any("file", "1 : 0 1\n\n0:1 1"), make_process_graph("chain", 2, 1));
  EXPECT_EQ(graphs::detail::parse_any("file", "# ranks 3\n").ranks(), 3);
  for (const char* bad : {"hello\n", "# only\n# comments\n", "\xff\xfe\x01", "{\"a\" 1}"})
    EXPECT_THROW((void)graphs::detail::parse_any("file", bad), InputError) << bad;
}

TEST(ProcessGraphFiles, files_that_do_not_fit_into_memory_are_refused_before_they_are_read) {
  const Folder folder;
  const std::string path = folder.file("large.txt");
  std::ofstream(path) << "0: 1\n";
  std::filesystem::resize_file(path, 5 << 20);  // a hole
  const System system;
  system.memory(8);
  try {
    (void)read_process_graph(path);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(path + ": it has 5.00 MiB; allowed: up to half"), std::string::npos)
        << e.what();
  }
}

TEST(ProcessGraphFiles, compressed_names_get_no_plain_file) {
  const Folder folder;
  for (const ProcessGraphFormat format : process_formats())
    EXPECT_THROW(write_process_graph(folder.file("a.bin.gz"), generate_process_graph("ring", {}).graph, format),
                 UsageError);
  EXPECT_TRUE(folder.list().empty());
}

}  // namespace
