// requires: graph zlib
/// Reads a compressed edge list.
/// If the first byte is even, the rest is the file itself; if odd, the rest is compressed here, in one to four members, and must
/// give the same graph as uncompressed.
#include <zlib.h>

#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace merganser::fuzz {
namespace {

std::string member(std::string_view text) {
  z_stream stream{};
  constexpr int kGzip = 16;
  require(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib does not start");
  std::string out(deflateBound(&stream, text.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<unsigned>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "zlib does not end");
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

bool feed_compressed(std::string_view text, std::size_t members) {
  std::string bytes;
  for (std::size_t i = 0; i < members; ++i) {
    const std::size_t from = text.size() * i / members;
    bytes += member(text.substr(from, text.size() * (i + 1) / members - from));
  }
  const std::string packed = make_file("graph.txt.gz", bytes), plain = make_file("plain.txt", text);
  test::WholeGraph a, b;
  const bool read = read_or_refuse([&] { a = test::read_whole(packed, {"edge-list"}); });
  // A compressed file may declare more vertices. Inputs that are compressed already are skipped: they would be
  // compressed once in one file and twice in the other.
  if (!text.starts_with("\x1f\x8b") && read_or_refuse([&] { b = test::read_whole(plain, {"edge-list"}); })) {
    require(read, "a file is refused only where it is compressed");
    require(a.vertices == b.vertices && a.edges == b.edges && a.names == b.names, "compressed it is another graph");
  }
  return read;
}

bool feed_graph_gzip(std::string_view input) {
  const unsigned how = input.empty() ? 0 : static_cast<unsigned char>(input[0]);
  const std::string_view rest = input.substr(std::min<std::size_t>(1, input.size()));
  if (how % 2 == 1) return feed_compressed(rest, 1 + how / 2 % 4);
  // Decompression bombs are refused by the system's free memory, which is hidden here; inputs are too short to be bombs.
  return feed_graph(make_file("graph.gz", rest), "edge-list", input);
}

}  // namespace

extern const Target graph_gzip_target{"graph_gzip", 2048, feed_graph_gzip};

}  // namespace merganser::fuzz
