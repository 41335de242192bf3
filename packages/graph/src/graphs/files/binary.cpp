// merganser's own binary graph format: a header, edges of one size, original ids. Offsets follow from the header, so every rank
// reads and writes its own part.
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/shared_output.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::array<char, 8> kMagic{'M', 'R', 'G', 'N', 'G', 'R', 'P', 'H'};
constexpr std::uint32_t kVersion = 1;

/// Refuses binary graph files (.mgr) on big-endian machines, since the format is that of the memory of little-endian ones. Local.
/// @throws InputError there
void check_byte_order(const std::string& path) {
  if constexpr (std::endian::native != std::endian::little)
    throw InputError(path +
                     ": a binary graph of merganser on a big-endian machine; allowed: little-endian machines, or "
                     "another format, as edge lists");
}

/// Header of a binary graph file: its first 32 bytes, little-endian.
struct BinaryHeader {
  std::array<char, 8> magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint8_t kind = 0;        ///< kind of the edge weights, a WeightKind
  std::uint8_t edge_bytes = 0;  ///< bytes per edge: 12, 16 or 24
  std::uint16_t names = 0;      ///< 1: original ids of the vertices follow the edges, 64 bits each
  std::uint64_t vertices = 0;   ///< number of vertices
  std::uint64_t edges = 0;      ///< number of edges
};
static_assert(sizeof(BinaryHeader) == 32);

/// Reads the header of a binary graph file (.mgr) and checks that it fits the length of the file. Local. @throws PlacedError naming
/// the byte of the first wrong field
BinaryHeader read_binary_header(const File& file) {
  check_byte_order(file.path());
  BinaryHeader h;
  file.read_all(0, &h, sizeof h, "the header");
  const auto refuse = [&](std::uint64_t at, const std::string& what) { fail_at_byte(file.path(), at, what); };
  if (h.magic != kMagic) refuse(0, "no binary graph of merganser; allowed: a file that begins with MRGNGRPH");
  if (h.version != kVersion) refuse(8, "version " + std::to_string(h.version) + "; allowed: 1");
  if (h.kind > 3) refuse(12, "kind of weights " + std::to_string(h.kind) + "; allowed: 0 to 3");
  if (h.edge_bytes != 12 && h.edge_bytes != 16 && h.edge_bytes != 24)
    refuse(13, "edges of " + std::to_string(h.edge_bytes) + " bytes; allowed: 12, 16, 24");
  const auto kind = static_cast<WeightKind>(h.kind);
  if (h.edge_bytes == 12 && kind != WeightKind::unsigned_integer && kind != WeightKind::float32)
    refuse(13, "edges of 12 bytes with weights " + std::string(to_string(kind)) + "; allowed: unsigned, float32");
  if (h.names > 1) refuse(14, "flag " + std::to_string(h.names) + "; allowed: 0, 1");
  if (h.edge_bytes != 24 && h.vertices > (std::uint64_t{1} << 32))
    refuse(16, std::to_string(h.vertices) + " vertices; allowed: at most 2^32 with such edges");
  // Isolated vertices take no byte, so a short file could claim any number of them and make readers run out of memory.
  if (h.names == 0 && h.vertices > max_vertices(file.size(), true))
    refuse(16, std::to_string(h.vertices) + " vertices; allowed for " + std::to_string(file.size()) +
                   " bytes: at most " + std::to_string(max_vertices(file.size(), true)));
  // The first two comparisons bound the products of the third, which could overflow otherwise.
  if (h.edges > file.size() / h.edge_bytes || (h.names == 1 && h.vertices > file.size() / 8) ||
      sizeof h + h.edges * h.edge_bytes + h.names * h.vertices * 8 != file.size()) {
    refuse(16, std::to_string(h.vertices) + " vertices and " + std::to_string(h.edges) +
                   " edges; allowed: those that " + std::to_string(file.size()) + " bytes hold");
  }
  return h;
}

/// Reads the edges `first` .. `last` - 1 of a binary graph file, and checks their vertex ids and weights. Local. @throws
/// PlacedError at the byte of the first bad edge
template <class Edge>
std::vector<Edge> read_edges(const File& file, const BinaryHeader& h, std::uint64_t first, std::uint64_t last) {
  std::vector<Edge> edges(static_cast<std::size_t>(last - first));
  const std::uint64_t begin = sizeof(BinaryHeader) + first * sizeof(Edge);
  file.read_all(begin, edges.data(), edges.size() * sizeof(Edge), "the edges");
  const auto kind = static_cast<WeightKind>(h.kind);
  const bool real = kind == WeightKind::float32 || kind == WeightKind::float64;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    const std::uint64_t at = begin + i * sizeof(Edge);
    if (e.low > e.high || e.high >= h.vertices)
      fail_at_byte(file.path(), at,
                   "edge " + std::to_string(e.low) + ", " + std::to_string(e.high) + "; allowed: ids in order, below " +
                       std::to_string(h.vertices));
    if (kind == WeightKind::float32 && std::uint64_t{e.weight} > UINT32_MAX)
      fail_at_byte(file.path(), at, "a weight of more than 32 bits; allowed: float32");
    if (real && std::isnan(weight_from_bits(kind, e.weight))) fail_at_byte(file.path(), at, "a weight is NaN");
  }
  return edges;
}

}  // namespace

// Reader of binary graph files: each rank reads its share of the edges, and the names of its own vertices.
EdgeList read_binary(const Source& source, const ReadOptions& options) {
  EdgeList graph;
  agree_first(source.transport, [&] {
    const File file(source.path);
    const BinaryHeader h = read_binary_header(file);
    const auto rank = static_cast<std::size_t>(source.transport.rank());
    const Ranges edges = Ranges::even(h.edges, source.transport.size());
    const Ranges vertices = Ranges::even(h.vertices, source.transport.size());
    graph.vertices = h.vertices;
    graph.kind = static_cast<WeightKind>(h.kind);
    const auto read = [&]<class Edge>(Edge) {
      graph.edges = read_edges<Edge>(file, h, edges.first[rank], edges.first[rank + 1]);
    };
    if (h.edge_bytes == 12)
      read(Edge12{});
    else if (h.edge_bytes == 16)
      read(Edge16{});
    else
      read(Edge24{});
    if (h.names == 1) {
      graph.names.resize(static_cast<std::size_t>(vertices.first[rank + 1] - vertices.first[rank]));
      file.read_all(sizeof h + h.edges * h.edge_bytes + vertices.first[rank] * 8, graph.names.data(),
                    graph.names.size() * 8, "the names");
    }
    source.log.arcs = h.edges;
    source.log.weighted = options.weights.empty();
    source.log.relabelled = h.names == 1;
  });
  return graph;
}

// Writer of binary graph files: each rank writes its edges behind those of lower ranks.
void write_binary(const std::string& path, const EdgeList& graph, comm::Transport& transport) {
  check_byte_order(path);  // the same on all ranks
  const std::int64_t named = transport.all_reduce(static_cast<std::int64_t>(graph.names.size()), comm::Op::sum);
  const comm::Share edges = comm::compute_share(transport, graph.size());
  BinaryHeader h;
  h.kind = static_cast<std::uint8_t>(graph.kind);
  h.vertices = graph.vertices;
  h.edges = edges.all;
  h.names = named > 0 ? 1 : 0;
  comm::SharedOutput file(path, transport);
  agree_first(transport, [&] {
    std::visit(
        [&](const auto& mine) {
          using Edge = typename std::decay_t<decltype(mine)>::value_type;
          h.edge_bytes = sizeof(Edge);
          file.write(sizeof h + edges.before * sizeof(Edge), mine.data(), mine.size() * sizeof(Edge));
        },
        graph.edges);
    const Ranges vertices = Ranges::even(graph.vertices, transport.size());
    if (h.names == 1)
      file.write(sizeof h + edges.all * h.edge_bytes + vertices.first[static_cast<std::size_t>(transport.rank())] * 8,
                 graph.names.data(), graph.names.size() * 8);
    if (transport.rank() == 0) file.write(0, &h, sizeof h);
  });
  file.commit();
}

// Sizes of a graph in a binary file, exact, from the header.
Sizes read_binary_sizes(const std::string& path) {
  const BinaryHeader h = read_binary_header(File(path));
  return {h.vertices, h.edges, true, false, h.edge_bytes};
}

}  // namespace merganser::graphs::detail
