/// Tests of compressed graph files: decompressed by one rank, read by all.
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/base/system.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

void write_gzip(const std::string& path, const std::string& text, const char* mode = "wb1") {
  gzFile file = gzopen(path.c_str(), mode);
  ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  gzclose(file);
}

/// Returns a text longer than what a rank receives in one round.
std::string metis_text() {
  std::string text = "% a comment\n60000 59999 001\n";
  for (int v = 1; v <= 60000; ++v) {
    if (v > 1) text += std::to_string(v - 1) + " " + std::to_string(1000000 + v - 1) + " ";
    if (v < 60000) text += std::to_string(v + 1) + " " + std::to_string(1000000 + v);
    text += v % 100 == 0 ? "\n% comment\n" : "\n";
  }
  return text;
}

TEST(GzipGraphs, every_text_format_reads_the_same_compressed) {
  Folder folder;
  const std::vector<std::pair<std::string, std::string>> files{
      {"a.txt", "# c\n0 1 5\n1 2 6\n"},
      {"a.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n%\n3 3 2\n2 1 5\n3 2 6\n"},
      {"a.metis", metis_text()},
      {"a.gr", "c x\np sp 3 2\na 1 2 5\na 2 3 6\n"},
  };
  for (const auto& [name, text] : files) {
    write_bytes(folder.file(name), text);
    write_gzip(folder.file(name + ".gz"), text);
    const WholeGraph plain = read_whole(folder.file(name));
    for (const int ranks : {1, 3}) {
      const WholeGraph g = read_whole(folder.file(name + ".gz"), {}, ranks);
      EXPECT_TRUE(g.log.compressed);
      EXPECT_EQ(g.log.format, plain.log.format);
      EXPECT_EQ(g.vertices, plain.vertices);
      EXPECT_EQ(g.edges, plain.edges) << name << " on " << ranks;
    }
  }
  ASSERT_GT(metis_text().size(), 1U << 20);
}

TEST(GzipGraphs, several_members_are_one_text) {
  Folder folder;
  write_gzip(folder.file("a.txt.gz"), "0 1 5\n1 2");
  write_gzip(folder.file("a.txt.gz"), " 6\n", "ab1");
  EXPECT_EQ(read_whole(folder.file("a.txt.gz")).edges, (std::vector<graphs::Edge24>{{0, 1, 5}, {1, 2, 6}}));
}

TEST(GzipGraphs, errors_tell_the_line_and_spoiled_data_is_refused) {
  Folder folder;
  const std::string path = folder.file("a.txt.gz");
  const auto error = [&](int ranks) -> std::string {
    try {
      static_cast<void>(read_whole(path, {}, ranks));
    } catch (const InputError& e) {
      return e.what();
    }
    return "none";
  };
  std::string text;
  for (int line = 1; line <= 300000; ++line) text += line % 100000 == 0 ? "0 x\n" : "0 1000000\n";
  for (const int ranks : {1, 2, 3}) {
    write_gzip(path, text);
    EXPECT_EQ(error(ranks), path +
                                ": line 100000: column 2: vertex \"x\"; allowed: 0 to below 2^63, or names (--names of "
                                "msf, linkage and graph convert, names=True in Python)")
        << ranks;
    std::string bytes;
    {
      std::ifstream in(path, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    write_bytes(path, bytes.substr(0, bytes.size() / 2));
    EXPECT_NE(error(ranks).find(path), std::string::npos);
    write_gzip(path, "0 1\n0 2\n");
    bytes = "\x1f\x8b";
    write_bytes(path, bytes + "spoiled");
    EXPECT_NE(error(ranks).find("spoiled gzip data"), std::string::npos) << error(ranks);
  }
  write_gzip(path, std::string(3 << 20, '7'));
  EXPECT_NE(error(2).find("line 1: more than 1048576 bytes"), std::string::npos) << error(2);
}

TEST(GzipGraphs, spoiled_files_are_read_or_refused_and_never_more) {
  Folder folder;
  const std::string path = folder.file("a.metis.gz");
  write_gzip(path, "% c\n4 4 011 2\n1 2 2 5 3 6\n1 1 1 5 4 7\n3 1 1 6 4 8\n0 0 2 7 3 8\n");
  std::ifstream in(path, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(in), {});
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    write_bytes(path, mutated(good, seed));
    try {
      EXPECT_LE(read_whole(path, {}, 1 + static_cast<int>(seed % 2)).edges.size(), 100U);
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

/// Returns the error of reading with so many MiB of memory available.
std::string error_with(std::int64_t mib, const std::string& path, int ranks) {
  const System system;
  system.memory(mib);
  try {
    static_cast<void>(read_whole(path, {}, ranks));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(GzipGraphs, what_comes_out_is_refused_as_soon_as_it_does_not_fit) {
  Folder folder;
  std::string text;
  for (int i = 0; i < 400000; ++i) text += "0 1\n";
  write_gzip(folder.file("a.txt.gz"), text, "wb9");
  write_bytes(folder.file("b.txt"), text);
  for (const char* name : {"a.txt.gz", "b.txt"}) {
    for (const int ranks : {1, 3}) {
      const std::string path = folder.file(name), why = error_with(8, path, ranks);
      EXPECT_NE(why.find(path + ": more than "), std::string::npos) << why;
      EXPECT_NE(why.find("there is 8.00 MiB"), std::string::npos) << why;
      EXPECT_EQ(error_with(1 << 20, path, ranks), "");
    }
  }
}

TEST(GzipGraphs, entries_that_the_head_does_not_speak_of_are_counted_but_not_kept) {
  Folder folder;
  std::string arcs, entries;
  for (int i = 0; i < 400000; ++i) arcs += "a 1 2 5\n", entries += "1 2\n";
  write_gzip(folder.file("a.gr.gz"), "p sp 2 2\n" + arcs, "wb9");
  write_gzip(folder.file("a.mtx.gz"), "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n" + entries, "wb9");
  for (const int ranks : {1, 3}) {  // in memory that they would not fit into
    EXPECT_EQ(error_with(1, folder.file("a.gr.gz"), ranks),
              folder.file("a.gr.gz") + ": 400000 arcs or edges; allowed: 2, as the line p says");
    EXPECT_EQ(error_with(1, folder.file("a.mtx.gz"), ranks),
              folder.file("a.mtx.gz") + ": 400000 entries; allowed: 3, as its sizes say");
  }
}

TEST(GzipGraphs, a_line_without_an_end_is_refused_as_soon_as_it_does_not_fit) {
  Folder folder;
  const std::string path = folder.file("a.metis.gz");
  write_gzip(path, "1000000 1\n" + std::string(32 << 20, ' ') + "2\n1\n", "wb9");
  const std::string why = error_with(16, path, 1);
  EXPECT_NE(why.find("line 2 has more than "), std::string::npos) << why;
  EXPECT_NE(why.find("there is 16.0 MiB"), std::string::npos) << why;
}

TEST(GzipGraphs, no_writer_puts_plain_text_under_a_compressed_name) {
  Folder folder;
  for (const graphs::Format format : graphs::formats()) {
    comm::run({"threads", 2, "", {}}, [&](comm::Transport& t) {
      graphs::EdgeList graph;
      graph.vertices = 2;
      EXPECT_THROW(graphs::write_graph(folder.file("a.gz"), graph, format, t), UsageError);
    });
  }
  EXPECT_TRUE(folder.list().empty());
}

TEST(GzipGraphs, a_line_that_no_graph_has_is_not_kept_in_memory) {
  Folder folder;
  const std::string path = folder.file("a.metis.gz");
  write_gzip(path, "2 1\n" + std::string(64 << 20, ' ') + "2\n1\n");
  try {
    static_cast<void>(read_whole(path, {}, 2));
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("line 2: more than "), std::string::npos) << e.what();
  }
}

}  // namespace
