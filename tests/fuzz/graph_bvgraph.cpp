// requires: graph
/// Reads a BVGraph.
/// Input: the properties, a byte 0, the length of the offsets in one byte, the offsets, the stream of bits.
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/graphs.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_graph_bvgraph(std::string_view input) {
  const std::size_t cut = std::min(input.find('\0'), input.size());
  std::string_view rest = input.substr(std::min(cut + 1, input.size()));
  const std::size_t offsets =
      rest.empty() ? 0 : std::min<std::size_t>(static_cast<unsigned char>(rest[0]), rest.size() - 1);
  make_file("web.properties", input.substr(0, cut));
  make_file("web.offsets", rest.substr(rest.empty() ? 0 : 1, offsets));
  const std::string stream = make_file("web.graph", rest.substr(std::min(offsets + 1, rest.size())));
  return feed_graph(stream.substr(0, stream.rfind('.')), "bvgraph", input);
}

}  // namespace

// References make n^2 arcs from n bits: longer inputs would spend their time on that alone.
extern const Target graph_bvgraph_target{"graph_bvgraph", 768, feed_graph_bvgraph};

}  // namespace merganser::fuzz
