/// Tests of files compressed with gzip, bzip2, xz and Zstandard: what comes out, on any number of ranks, and what is refused.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "tests/base/system.hpp"
#include "tests/graphs/compressors.hpp"
#include "tests/graphs/whole_graph.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/mutated.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class Compressed : public testing::TestWithParam<Packer> {
 protected:
  std::string write(const std::string& bytes) {
    const std::string path = folder_.file(std::string("a.txt") + GetParam().extension);
    write_bytes(path, bytes);
    return path;
  }
  [[nodiscard]] static std::string pack(const std::string& bytes) {
    return compressed_with(GetParam().compression, bytes);
  }
  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(All, Compressed, testing::ValuesIn(kPackers),
                         [](const auto& info) { return std::string(info.param.extension).substr(1); });

/// Returns all bytes of a compressed file, asked for in pieces of random lengths.
std::string unpacked(const std::string& path, std::uint64_t seed = 1) {
  const auto file = graphs::Decompressor::open(path);
  Random random(seed, 0, 0);
  std::string out;
  for (;;) {
    std::string part(1 + static_cast<std::size_t>(random.below(random.below(2) == 0 ? 7 : 100000)), '\0');
    const std::size_t got = file->read(part.data(), part.size());
    out.append(part, 0, got);
    if (got < part.size()) return out;
  }
}
std::string error(const std::string& path) {
  try {
    static_cast<void>(unpacked(path));
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}
/// Returns bytes that compress to about a third.
std::string random_text(std::size_t bytes) {
  Random random(7, 0, 0);
  std::string text;
  while (text.size() < bytes)
    text += std::to_string(random.below(1000)) + " " + std::to_string(random.below(1000)) + "\n";
  return text;
}

TEST_P(Compressed, bytes_come_out_as_they_went_in) {
  std::string all_bytes;
  for (int i = 0; i < 1000; ++i) all_bytes += static_cast<char>(i * i);
  for (const std::string& bytes :
       {std::string(), std::string("x"), all_bytes, random_text(700000), std::string(5 << 20, '\0')}) {
    const std::string path = write(pack(bytes));
    EXPECT_EQ(graphs::find_compression(read_bytes(path)), GetParam().compression);
    for (const std::uint64_t seed : {1, 2}) EXPECT_TRUE(unpacked(path, seed) == bytes) << bytes.size();
  }
}

TEST_P(Compressed, streams_one_after_the_other_are_one_text_and_zeros_between_them_are_none) {
  EXPECT_EQ(unpacked(write(pack("ab") + pack("") + pack("cd"))), "abcd");
  EXPECT_EQ(unpacked(write(pack("ab") + std::string(512, '\0') + pack("cd") + std::string(300000, '\0'))), "abcd");
}

TEST_P(Compressed, what_is_cut_off_changed_or_followed_by_something_else_is_refused_with_its_place) {
  const std::string good = pack(random_text(3000));
  const std::size_t first = graphs::kCompressionBytes;
  for (std::size_t length = first; length < good.size(); ++length) {
    const std::string path = write(good.substr(0, length));
    EXPECT_EQ(error(path).find(path + ": byte "), 0U) << length << error(path);
    EXPECT_NE(error(path).find("(it ends too early)"), std::string::npos) << length << error(path);
  }
  const std::string path = write(good + "more");
  const std::string why = error(path), begin = path + ": byte ";
  ASSERT_EQ(why.find(begin), 0U) << why;
  EXPECT_GE(std::stoul(why.substr(begin.size())), good.size()) << why;
  std::string changed = good;
  changed[good.size() / 2] = static_cast<char>(changed[good.size() / 2] ^ 1);
  EXPECT_NE(error(write(changed)).find(": spoiled "), std::string::npos) << "no checksum found the change";
}

TEST_P(Compressed, spoiled_files_are_read_or_refused_and_never_more) {
  const std::string good = pack("0 1 5\n1 2 6\n2 3 7\n"), name = "a.txt";
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const std::string path = write(mutated(good, seed));
    try {
      EXPECT_LE(read_whole(path, {"edge-list"}, 1 + static_cast<int>(seed % 2)).edges.size(), 100U);
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(path), std::string::npos) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 50);
}

TEST_P(Compressed, graphs_of_every_text_format_are_the_same_on_any_number_of_ranks) {
  const std::vector<std::pair<std::string, std::string>> files{
      {"b.txt", "# c\n0 1 5\n1 2 6\n"},
      {"b.mtx", "%%MatrixMarket matrix coordinate integer symmetric\n%\n3 3 2\n2 1 5\n3 2 6\n"},
      {"b.metis", "% c\n3 2 001\n2 5\n1 5 3 6\n2 6\n"},
      {"b.gr", "c x\np sp 3 2\na 1 2 5\na 2 3 6\n"},
      {"b.net", "*Vertices 3\n*Edges\n1 2 5\n2 3 6\n"},
      {"b.gml",
       "graph [ node [ id 1 ] node [ id 2 ] node [ id 3 ] edge [ source 1 target 2 weight 5 ]\n"
       "edge [ source 2 target 3 weight 6 ] ]\n"},
      {"b.graphml",
       "<graphml><key id=\"w\" for=\"edge\" attr.name=\"weight\"/><graph edgedefault=\"undirected\"><node id=\"a\"/>"
       "<node id=\"b\"/><edge source=\"a\" target=\"b\"><data key=\"w\">5</data></edge></graph></graphml>\n"},
      {"long.txt", random_text(5 << 20)},
  };
  for (const auto& [name, text] : files) {
    const std::string path = folder_.file(name);
    write_bytes(path, text);
    write_bytes(path + GetParam().extension, pack(text));
    WholeGraph plain;
    try {
      plain = read_whole(path);
    } catch (const InputError& e) {
      if (std::string(e.what()).find("expat") != std::string::npos) continue;  // this build has none
      throw;
    }
    EXPECT_FALSE(plain.log.compressed);
    for (const int ranks : {1, 2, 3, 4, 7}) {
      if (name == "long.txt" && ranks != 1 && ranks != 3) continue;  // every rank decompresses all of it
      const WholeGraph g = read_whole(path + GetParam().extension, {}, ranks);
      EXPECT_TRUE(g.log.compressed);
      EXPECT_EQ(g.log.format, plain.log.format);
      EXPECT_EQ(g.vertices, plain.vertices);
      EXPECT_TRUE(g.edges == plain.edges) << name << " on " << ranks;
    }
  }
}

TEST_P(Compressed, what_comes_out_is_refused_as_soon_as_it_does_not_fit) {
  std::string text;
  for (int i = 0; i < 400000; ++i) text += "0 1\n";
  const std::string path = write(pack(text));
  const System system;
  system.memory(8);
  for (const int ranks : {1, 3}) {
    try {
      static_cast<void>(read_whole(path, {}, ranks));
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(path + ": more than "), std::string::npos) << e.what();
    }
  }
}

TEST_P(Compressed, binary_graphs_are_refused) {
  const std::string path = folder_.file(std::string("a.mgr") + GetParam().extension);
  write_bytes(path, pack("MRGNGRPH" + std::string(24, '\0')));
  EXPECT_THROW(static_cast<void>(read_whole(path)), InputError);
}

TEST(CompressedFiles, that_need_much_memory_are_refused) {
  const Folder folder;
  const std::string path = folder.file("a.xz");
  lzma_options_lzma options{};
  lzma_lzma_preset(&options, 0);
  options.dict_size = 1U << 30;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(4096, '\0');
  std::size_t length = 0;
  const std::string text = "0 1\n";
  // The encoder would take ten times as much, so the size of the dictionary is changed in the header, whose checksum follows.
  options.dict_size = 1U << 20;
  ASSERT_EQ(lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_NONE, nullptr,
                                      reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                      reinterpret_cast<std::uint8_t*>(out.data()), &length, out.size()),
            LZMA_OK);
  out.resize(length);
  const std::size_t block = 12, properties = out.find('\x21', block) + 2;
  out[properties] = 36;  // 1 GiB
  const std::size_t size = (static_cast<unsigned char>(out[block]) + 1U) * 4U;
  const std::uint32_t sum = lzma_crc32(reinterpret_cast<const std::uint8_t*>(out.data() + block), size - 4, 0);
  for (std::size_t i = 0; i < 4; ++i) out[block + size - 4 + i] = static_cast<char>(sum >> 8 * i);
  write_bytes(path, out);
  EXPECT_NE(error(path).find("to decompress it takes more than 256 MiB; allowed: less"), std::string::npos)
      << error(path);
  // A frame of Zstandard with a window of 2 GiB: magic, descriptor, window; no block is needed.
  write_bytes(folder.file("a.zst"), std::string("\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00", 9));
  EXPECT_NE(error(folder.file("a.zst")).find("to decompress it takes more than 128 MiB"), std::string::npos)
      << error(folder.file("a.zst"));
}

TEST(CompressedFiles, are_told_by_their_first_bytes_and_their_names_by_extension) {
  EXPECT_EQ(graphs::find_compression("0 1\n"), graphs::Compression::none);
  EXPECT_EQ(graphs::find_compression(""), graphs::Compression::none);
  EXPECT_EQ(graphs::without_compression("a.txt.xz"), "a.txt");
  EXPECT_EQ(graphs::without_compression("a.txt"), "a.txt");
  EXPECT_EQ(graphs::format_from_path("a.mtx.zst"), graphs::Format::matrix_market);
  const Folder folder;
  write_bytes(folder.file("plain"), "0 1\n");
  EXPECT_NE(error(folder.file("plain")).find("not compressed; allowed: files of gzip"), std::string::npos);
  // The name does not decide: a compressed file without the extension is decompressed, a plain one with it is not.
  write_bytes(folder.file("a.txt"), compressed_with(graphs::Compression::zstd, "0 1 5\n"));
  EXPECT_EQ(read_whole(folder.file("a.txt")).edges, (std::vector<graphs::Edge24>{{0, 1, 5}}));
  write_bytes(folder.file("b.txt.bz2"), "0 1 5\n");
  EXPECT_EQ(read_whole(folder.file("b.txt.bz2")).edges, (std::vector<graphs::Edge24>{{0, 1, 5}}));
}

}  // namespace
