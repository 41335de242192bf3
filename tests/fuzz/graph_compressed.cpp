// requires: graph zlib bzip2 lzma zstd
/// Reads an edge list that is compressed with gzip, bzip2, xz or Zstandard.
/// The first byte chooses the compression. If it is below 128, the rest is the file itself; else the rest is compressed here and
/// must give the same graph as uncompressed.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/compressors.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

bool feed_compressed_text(const test::Packer& packer, std::string_view text) {
  const std::string packed = make_file("graph.packed", test::compressed_with(packer.compression, std::string(text)));
  const std::string plain = make_file("plain.txt", text);
  test::WholeGraph a, b;
  const bool read = read_or_refuse([&] { a = test::read_whole(packed, {"edge-list"}); });
  // A compressed file may declare more vertices. Inputs that are compressed already would be compressed twice in one file.
  const bool twice = graphs::find_compression(text) != graphs::Compression::none;
  if (!twice && read_or_refuse([&] { b = test::read_whole(plain, {"edge-list"}); })) {
    require(read, "a file is refused only where it is compressed");
    require(a.vertices == b.vertices && a.edges == b.edges && a.names == b.names, "compressed it is another graph");
  }
  return read;
}

bool feed_graph_compressed(std::string_view input) {
  const unsigned how = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  const std::string_view rest = input.substr(std::min<std::size_t>(1, input.size()));
  if (how >= 128) return feed_compressed_text(test::kPackers[how % test::kPackers.size()], rest);
  return feed_graph(make_file("graph.packed", rest), "edge-list", input);
}

}  // namespace

extern const Target graph_compressed_target{"graph_compressed", 2048, feed_graph_compressed};

}  // namespace merganser::fuzz
