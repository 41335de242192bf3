/// Tests of malformed graph files of every format: the same error on every rank, with file, place, value and what is allowed.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "src/graphs/files/raw.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

struct BadGraph {
  std::string name, bytes, part;
};

std::string words(std::initializer_list<std::uint64_t> values) {
  std::string out;
  for (const std::uint64_t v : values) out.append(reinterpret_cast<const char*>(&v), 8);
  return out;
}
std::string own(std::uint8_t kind, std::uint8_t bytes, std::uint64_t n, std::uint64_t m, const std::string& body) {
  std::string out = "MRGNGRPH";
  const std::uint32_t version = 1;
  out.append(reinterpret_cast<const char*>(&version), 4);
  out += static_cast<char>(kind);
  out += static_cast<char>(bytes);
  out += std::string(2, '\0');
  return out + words({n, m}) + body;
}
const std::string kBanner = "%%MatrixMarket matrix coordinate ";

const std::vector<BadGraph> kBad{
    {"empty.txt", "", "the file is empty"},
    {"a.txt.gz", "\x1f\x8b no stream", "gzip"},  // with the library and without
    {"a.txt.bz2", "BZh91AY&SY", "bzip2"},
    {"a.mtx.xz", {"\xfd\x37zXZ\0", 6}, "xz"},
    {"a.txt.zst", "\x28\xb5\x2f\xfd", "Zstandard"},
    {"a.txt", "0 1\n1 x\n", ": line 2: column 2: vertex \"x\"; allowed: 0 to below 2^63"},
    {"a.txt", "0 1\n1\n", ": line 2: \"1\"; allowed: two ids"},
    {"a.txt", "0 1\n# c\n1 2 3\n", ": line 3: \"1 2 3\" has 3 columns; allowed: 2"},
    {"a.txt", "0 1 2 3 4\n", ": line 1: \"0 1 2 3 4\"; allowed: two ids"},
    {"a.txt", "0 1 1\n1 2 nan\n", ": line 2: column 3: weight \"nan\""},
    {"a.txt", "0 1 1\n1 2 1e999\n", ": line 2: column 3: weight \"1e999\""},
    {"a.txt", "0 1 18446744073709551616\n", "weight \"18446744073709551616\"; allowed: an integer to 64 bit"},
    {"a.txt", "0 1 18446744073709551615\n1 2 -1\n", "beside negative ones"},
    {"a.txt", "1 2 -29\n2 3 1\n1 1 9223372036854775808\n3 3 9223372036854775809\n",
     "weight 9223372036854775808 beside negative ones"},  // of loops, behind the negative one
    {"a.txt", "0 1 9007199254740993\n1 2 0.5\n",
     "weight 9007199254740993, which double precision cannot hold, beside floating-point"},
    {"a.txt", "0 1 0.5\n1 1 -9007199254740993\n",
     "allowed: integers up to 2^53 there, or one with a point, as -9007199254740993.0"},
    {"a.txt", "0 1 18446744073709551615\n1 2 -1\n2 3 0.5\n", "weight 18446744073709551615, which double"},
    {"a.txt", "0 1 -9223372036854775809\n", "weight \"-9223372036854775809\""},
    {"a.txt", "0 9223372036854775808\n", "vertex \"9223372036854775808\""},
    {"a.txt", "0 -1\n", "vertex \"-1\""},
    {"a.txt", "# vertices: 2\n0 2\n", "vertex \"2\"; allowed: below 2"},
    {"a.txt", "# vertices: 1152921504606846976\n0 2\n", "1152921504606846976 vertices; allowed for a file of"},
    {"a.txt", "% sym\n0 2\n", "vertex \"0\"; allowed: 1 to"},
    {"a.txt", "% bip\n# vertices: 4\n1 1\n3 2\n",
     ": vertex 2 of the second column, behind 3 of the first; allowed: 4 together"},
    {"a.txt", std::string(2 << 20, '7'), "allowed:"},
    {"a.csv", "0,1,,5\n", ": line 1: column 3: an empty cell"},
    {"a.txt", "0 1 2,5\n", ": line 1: column 1: vertex \"0 1 2\""},
    {"a.txt", "0 1 2\n1 2 2,5\n", ": line 2: column 3: weight \"2,5\""},
    {"a.csv", "0;1;2,5\n", ": line 1: column 3: weight \"2,5\""},
    {"a.csv", ",source,target\n0,0,1\n", ": line 1: heading, column 1 has no name: it is an index"},
    {"a.csv", "weight,a,b\n5,0,1\n", ": line 1: heading, column 1 \"weight\"; allowed: both ends"},
    {"a.csv", "source,target\nsource,target\n", ": line 2: column 1: vertex \"source\""},
    {"a.txt", "0 1\r1 2\r", ": line 1: a carriage return (CR)"},
    {"a.mtx", "%%MatrixMarket matrix coordinate real general\r1 1 0\r", ": line 1: a carriage return (CR)"},
    {"a.txt.lz4", "\x04\x22\x4d\x18", ": packed by LZ4; allowed: the unpacked file (lz4 -dk FILE)"},
    {"a.parhip", "BZh91AY&SYBZh91AY&SYBZh91AY&SY", ": packed by bzip2"},
    {"a.txt", {"0\0 \0001\0\n\0", 8}, ": text in UTF-16"},
    {"b.graph", {"\x01\x80\0\x7f\0\0", 6}, "b.graph is there, "},
    {"a.metis", "2 1 001\n2 1,5\n1 1,5\n", ": line 2: weight \"1,5\""},
    {"a.mtx", "%%MatrixMarket matrix array real general\n", ": line 1:"},
    {"a.mtx", kBanner + "complex general\n2 2 1\n1 1 1 1\n",
     "field \"complex\"; allowed: pattern, integer, unsigned-integer, real"},
    {"a.mtx", kBanner + "real hermitian\n2 2 1\n1 1 1\n", "symmetry \"hermitian\""},
    {"a.mtx", kBanner + "real general\n%\n", "no sizes"},
    {"a.mtx", kBanner + "real general\n2 3 1\n1 1 1\n", "line 2: \"2 3 1\"; allowed: as many rows as columns"},
    {"a.mtx", kBanner + "real general\n2 2\n1 1 1\n", "line 2: \"2 2\"; allowed: rows, columns and entries"},
    {"a.mtx", kBanner + "real general\n2 2 1\n1 3 1\n", "line 3: column \"3\"; allowed: 1 to 2"},
    {"a.mtx", kBanner + "real general\n2 2 1\n1 2\n", "line 3: \"1 2\"; allowed: row, column and value"},
    {"a.mtx", kBanner + "pattern general\n2 2 1\n1 2 3\n", "line 3: \"1 2 3\"; allowed: row, column"},
    {"a.mtx", kBanner + "real general\n2 2 2\n1 2 1\n", "1 entries; allowed: 2"},
    {"a.mtx", kBanner + "real general\n1152921504606846976 1152921504606846976 1\n1 2 1\n",
     "rows; allowed for a file of"},
    {"a.metis", "%\n", "no line with numbers of vertices and edges"},
    {"a.metis", "3\n", "line 1: \"3\"; allowed: vertices, edges"},
    {"a.metis", "3 2 2\n", "format \"2\"; allowed"},
    {"a.metis", "3 2 0 2\n", "number of weights \"2\""},
    {"a.metis", "3 2\n2\n1 4\n2\n", "line 3: neighbour \"4\"; allowed: 1 to 3"},
    {"a.metis", "3 2\n2\n1 0\n2\n", "line 3: neighbour \"0\""},
    {"a.metis", "3 2 1\n2 1\n1 1 3\n2 1\n", "line 3: weight \"\" of an edge"},
    {"a.metis", "3 2 10\n1 2\n\n1 2\n", "line 3: size or weight of a vertex \"\""},
    {"a.metis", "4 2\n2\n1 3\n2", "ends after the lines of 3 vertices; allowed: 4"},
    {"a.metis", "3 3\n2\n1 3\n2\n", "4 neighbours; allowed: 6"},
    {"a.metis", "2 1\n2\n1\n1\n", "line 4: \"1\" after the last vertex; allowed: 2 lines"},
    {"a.metis", "1152921504606846976 1\n2\n1\n", "vertices; allowed for a file of"},
    {"a.gr", "a 1 2 3\n", "line 1: \"a 1 2 3\"; allowed: \"p sp"},
    {"a.gr", "c\n", "no line \"p sp"},
    {"a.gr", "p max 3 1\n", "line 1: \"p max 3 1\""},
    {"a.gr", "p sp 3 1\na 1 4 1\n", "line 2: vertex \"4\"; allowed: 1 to 3"},
    {"a.gr", "p sp 3 1\na 1 2\n", "line 2: \"a 1 2\"; allowed: two vertices and a weight"},
    {"a.gr", "p sp 3 1\na 1 2 x\n", "line 2: weight \"x\""},
    {"a.gr", "p sp 3 1\ne 1 2 3\n", "line 2: \"e 1 2 3\"; allowed: lines that begin with a"},
    {"a.gr", "p edge 3 2\ne 1 2 3\ne 1 3\n", "1 lines with a weight and 1 without"},
    {"a.gr", "p sp 3 2\na 1 2 3\n", "1 arcs or edges; allowed: 2"},
    {"a.gr", "p sp 1152921504606846976 1\na 1 2 3\n", "vertices; allowed for a file of"},
    {"a.parhip", "short", "byte 5: the file ends inside the header"},
    {"a.parhip", words({64, 1, 0, 40, 40}), "byte 0: version 64; allowed: 0 to 63"},
    {"a.parhip", words({3, 1ULL << 60, 0}), "byte 8: 1152921504606846976 vertices"},
    {"a.parhip", words({3, 1, 1ULL << 60}), "arcs; allowed: as many as 24 bytes hold"},
    {"a.parhip", words({3, 2, 1, 48, 56}), "bytes; allowed: 56"},
    {"a.parhip", words({3, 2, 1, 48, 56, 56, 2}), "byte 48: vertex 2; allowed: below 2"},
    {"a.parhip", words({3, 2, 1, 48, 57, 56, 1}), "byte 32: offset 57"},
    {"a.parhip", words({3, 2, 1, 48, 56, 48, 1}), "an offset below the one before it"},
    {"a.parhip", words({3, 2, 1, 48, 48, 48, 1}), "leaves ids out"},
    {"a.parhip", words({3, 2, 1, 56, 56, 56, 1}), "leaves ids out"},
    {"a.mgr", "MRGNGRPX" + std::string(24, '\0'), "no binary graph of merganser"},
    {"a.mgr", "MRGN", "byte 4: the file ends inside the header"},
    {"a.mgr", own(9, 12, 2, 0, ""), "byte 12: kind of weights 9"},
    {"a.mgr", own(0, 13, 2, 0, ""), "edges of 13 bytes"},
    {"a.mgr", own(1, 12, 2, 0, ""), "edges of 12 bytes with weights signed"},
    {"a.mgr", own(0, 12, 2, 1ULL << 60, ""), "edges; allowed: those that"},
    {"a.mgr", own(0, 24, 1ULL << 60, 0, ""), "1152921504606846976 vertices; allowed for 32 bytes"},
    {"a.mgr", own(0, 24, 3, 1, words({2, 1, 5})), "byte 32: edge 2, 1; allowed: ids in order"},
    {"a.mgr", own(0, 24, 3, 1, words({2, 3, 5})), "byte 32: edge 2, 3"},
    {"a.mgr", own(3, 24, 3, 1, words({1, 2, ~0ULL})), "a weight is NaN"},
    {"a.mgr", own(2, 24, 3, 1, words({1, 2, 1ULL << 40})), "more than 32 bits"},
};

TEST(BadGraphFiles, are_refused_with_the_same_words_on_every_rank) {
  Folder folder;
  for (const BadGraph& bad : kBad) {
    const std::string path = folder.file(bad.name);
    write_bytes(path, bad.bytes);
    std::string first;
    for (const int ranks : {1, 2, 5}) {
      try {
        static_cast<void>(read_whole(path, {}, ranks));
        ADD_FAILURE() << bad.name << ": " << bad.part;
      } catch (const InputError& e) {
        const std::string what = e.what();
        EXPECT_NE(what.find(bad.part), std::string::npos) << what;
        if (first.empty()) first = what;
        EXPECT_EQ(what, first) << "other words on " << ranks << " ranks";
        EXPECT_EQ(what.find(path), 0U) << what;
      } catch (const std::exception& e) {
        ADD_FAILURE() << bad.name << ": " << e.what();
      }
    }
    std::filesystem::remove(path);
  }
}

TEST(BadGraphFiles, the_first_of_several_errors_is_told) {
  Folder folder;
  std::string text;
  for (int line = 1; line <= 300; ++line) text += line % 100 == 0 ? "0 bad" + std::to_string(line) + "\n" : "0 1\n";
  write_bytes(folder.file("a.txt"), text);
  for (const int ranks : {1, 2, 3, 7}) {
    try {
      static_cast<void>(read_whole(folder.file("a.txt"), {}, ranks));
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find("line 100: column 2: vertex \"bad100\""), std::string::npos) << e.what();
    }
  }
}

TEST(BadGraphFiles, arcs_beyond_the_number_that_the_header_announces_are_counted_and_not_stored) {
  graphs::detail::Raw raw("a.mtx");
  for (std::uint64_t i = 0; i < 3; ++i) raw.add(i, i + 1);  // reserves more than that
  raw.limit(4);
  for (std::uint64_t i = 3; i < 10; ++i) raw.add(i, i + 1);
  EXPECT_EQ(raw.arcs.size(), 4U);
  EXPECT_EQ(raw.added(), 10U);
}

TEST(BadGraphFiles, a_missing_file_a_folder_a_pipe_and_a_place_without_permission_are_errors) {
  Folder folder;
  const std::string pipe = folder.file("pipe.txt");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {folder.file("nothing.txt"), folder.path().string(), pipe}) {
    EXPECT_THROW(static_cast<void>(read_whole(path, {}, 2)), InputError);
    EXPECT_THROW(static_cast<void>(graphs::forecast_file(path, {}, 2)), InputError);
  }
  std::filesystem::remove(pipe);  // which was not waited for
  const auto write = [&](const std::string& path, graphs::Format format) {
    static_cast<void>(on_threads(2, [&](comm::Transport& t, graphs::ReadLog&) {
      graphs::EdgeList g = graphs::generate("path:5", {}, t);
      graphs::write_graph(path, g, format, t);
      return g;
    }));
  };
  EXPECT_THROW(write(folder.file("no/such/folder.mgr"), graphs::Format::binary), InputError);
  EXPECT_THROW(write(folder.path().string(), graphs::Format::edge_list), InputError);
  EXPECT_THROW(write(folder.file("a"), graphs::Format::bvgraph), UsageError);
  EXPECT_TRUE(folder.list().empty());
  write_bytes(folder.file("a.txt"), "0 1\n");
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("a.txt"), {"gexf", "", 1}, 2)), UsageError);
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("a.txt"), {"", "euclidean", 1}, 2)), UsageError);
  EXPECT_THROW(static_cast<void>(read_whole(folder.file("a.txt"), {"", "heavy", 1}, 2)), UsageError);
}

}  // namespace
