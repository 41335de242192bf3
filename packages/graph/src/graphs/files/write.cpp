// Writers of graph files in text formats of one edge a line, and the dispatch of write_graph() by format.
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/files.hpp"
#include "src/graphs/files/blocks.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/raw.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

/// Appends a real edge weight to the text of a graph file so that it reads back as the same number; whole values get a point, so
/// that readers do not take them for integers.
template <class Float>
void append_real(std::string& out, Float value) {
  const std::size_t had = out.size();
  append_number(out, value);
  if (out.find_first_of(".enai", had) == std::string::npos) out += ".0";
}

/// Appends an edge weight, given by its order-preserving bits and its kind, to the text of a graph file.
void append_weight(std::string& out, WeightKind kind, std::uint64_t bits) {
  switch (kind) {
    case WeightKind::unsigned_integer:
      append_number(out, bits);
      break;
    case WeightKind::signed_integer:
      append_number(out, static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63)));
      break;
    default:  // float32 in the digits of the double that it is: the order of the weights stays
      append_real(out, weight_from_bits(kind, bits));
  }
}

/// Form of the lines of edges in a text format of graph files (edge list, Matrix Market, DIMACS).
struct LineStyle {
  std::string_view before;  ///< beginning of each line
  std::uint64_t first;      ///< number of the first vertex: 0 or 1
  bool high_first = false;  ///< the greater id stands first, as in the lower triangle of a matrix
  bool both = false;        ///< each direction of an edge has a line of its own
};

/// Appends the lines of this rank's graph edges, from number `edge` on, to a block of a text file until the block is full. Local.
/// @return the next edge
std::size_t append_lines(const EdgeList& graph, const LineStyle& style, std::size_t edge, std::string& block) {
  std::visit(
      [&](const auto& edges) {
        const auto line = [&](std::uint64_t a, std::uint64_t b, std::uint64_t weight) {
          block += style.before;
          append_number(block, a + style.first);
          block += ' ';
          append_number(block, b + style.first);
          block += ' ';
          append_weight(block, graph.kind, weight);
          block += '\n';
        };
        for (; edge < edges.size() && block.size() < kBlockBytes; ++edge) {
          const auto& e = edges[edge];
          if (style.high_first)
            line(e.high, e.low, e.weight);
          else
            line(e.low, e.high, e.weight);
          if (style.both && e.low != e.high) line(e.high, e.low, e.weight);
        }
      },
      graph.edges);
  return edge;
}

/// Writes a graph file in a text format: the header `head`, then the lines of all ranks' edges. Collective.
void write_lines(const std::string& path, const std::string& head, const EdgeList& graph, const LineStyle& style,
                 comm::Transport& transport) {
  std::size_t edge = 0;
  write_blocks(path, head, transport, [&](std::string& block) {
    edge = append_lines(graph, style, edge, block);
    return edge < graph.size();
  });
}

/// Returns this rank's share of the graph with the original ids of its vertices. Collective: edges are sent to the owner of the
/// lower end, then to that of the higher one, since only the owner of a vertex holds its original id.
EdgeList restore_original_ids(const EdgeList& graph, comm::Transport& transport) {
  const Ranges ranges = Ranges::even(graph.vertices, transport.size());
  const std::uint64_t first = ranges.first[static_cast<std::size_t>(transport.rank())];
  const auto name = [&](std::uint64_t vertex) { return graph.names[static_cast<std::size_t>(vertex - first)]; };
  std::vector<Edge24> edges;
  edges.reserve(graph.size());
  graph.for_each([&](const auto& e) { edges.push_back({e.low, e.high, e.weight}); });
  edges =
      comm::send_to_owners_in_rounds(transport, std::move(edges), [&](const Edge24& e) { return ranges.owner(e.low); });
  for (Edge24& e : edges) e.low = name(e.low);
  edges = comm::send_to_owners_in_rounds(transport, std::move(edges),
                                         [&](const Edge24& e) { return ranges.owner(e.high); });
  for (Edge24& e : edges) e.high = name(e.high);
  EdgeList out;
  out.vertices = graph.vertices;
  out.kind = graph.kind;
  out.edges = std::move(edges);
  return out;
}

/// Appends the name of a vertex to a line of an edge list: in quotes unless it is one plain word.
void append_name(std::string& out, const std::string& name) {
  const auto is_plain = [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return letter || c == '_' || c == '-' || c == '.' || static_cast<unsigned char>(c) >= 128;
  };
  if (std::all_of(name.begin(), name.end(), is_plain)) {
    out += name;
    return;
  }
  out += '"';
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  out += '"';
}

/// Gathers the names of all vertices on rank 0. Collective. @return empty on the other ranks
std::vector<std::string> gather_names(const EdgeList& graph, comm::Transport& transport) {
  std::vector<std::uint64_t> lengths;
  std::string letters;
  for (const std::string& name : graph.text_names) {
    lengths.push_back(name.size());
    letters += name;
  }
  const auto all_lengths = comm::gather_to_first(transport, lengths).flat();
  const auto all_letters = comm::gather_to_first(transport, letters).flat();
  std::vector<std::string> names;
  std::size_t at = 0;
  for (const std::uint64_t length : all_lengths) {
    names.emplace_back(all_letters.data() + at, static_cast<std::size_t>(length));
    at += static_cast<std::size_t>(length);
  }
  return names;
}

/// Writes an edge list with the names of vertices, under a heading, by which a reader knows it from an edge. Collective: rank 0 gets
/// the names of all vertices, and the edges block by block.
void write_named_edges(const std::string& path, const EdgeList& graph, comm::Transport& transport) {
  const auto names = gather_names(graph, transport);
  const auto next = [&, edge = std::size_t{0}](std::string& block) mutable {
    std::visit(
        [&](const auto& edges) {
          for (; edge < edges.size() && block.size() < kBlockBytes; ++edge) {
            const Edge24 e{edges[edge].low, edges[edge].high, edges[edge].weight};
            block.append(reinterpret_cast<const char*>(&e), sizeof e);
          }
        },
        graph.edges);
    return edge < graph.size();
  };
  const auto format = [&](std::span<const char> block) {
    std::string text;
    for (std::size_t at = 0; at < block.size(); at += sizeof(Edge24)) {
      Edge24 e;
      std::memcpy(&e, block.data() + at, sizeof e);
      append_name(text, names[static_cast<std::size_t>(e.low)]);
      text += ' ';
      append_name(text, names[static_cast<std::size_t>(e.high)]);
      text += ' ';
      append_weight(text, graph.kind, e.weight);
      text += '\n';
    }
    return text;
  };
  write_blocks(path, "# Undirected graph\nsource target weight\n", transport, next, format);
}

/// Returns true for edge weights that are floating-point numbers.
bool is_real(WeightKind kind) { return kind == WeightKind::float32 || kind == WeightKind::float64; }

}  // namespace

bool is_writable(Format format) {
  return format != Format::bvgraph && format != Format::pajek && format != Format::gml && format != Format::graphml;
}

void check_writable(Format format) {
  if (is_writable(format)) return;
  throw UsageError("format \"" + std::string(to_string(format)) +
                   "\" is read only; allowed: edge-list, matrix-market, metis, dimacs, parhip, binary");
}

// Writer of graph files in any format that can be written; loops that the format cannot hold are left out.
void write_graph(const std::string& path, const EdgeList& graph, Format format, comm::Transport& transport) {
  const auto mine = [&] {
    std::int64_t loops = 0;
    graph.for_each([&](const auto& e) { loops += e.low == e.high ? 1 : 0; });
    return loops;
  };
  // Headers give the numbers of entries of all ranks: in DIMACS files both arcs of an edge, but one of a loop.
  const auto edges = transport.all_reduce(static_cast<std::int64_t>(graph.size()), comm::Op::sum);
  const std::string n = std::to_string(graph.vertices), m = std::to_string(edges);
  switch (format) {
    case Format::binary:
      return write_binary(path, graph, transport);
    case Format::edge_list:
      if (transport.all_reduce(static_cast<std::int64_t>(graph.text_names.size()), comm::Op::sum) > 0)
        return write_named_edges(path, graph, transport);
      if (transport.all_reduce(static_cast<std::int64_t>(graph.names.size()), comm::Op::sum) > 0)
        return write_lines(path, "# Undirected graph\n", restore_original_ids(graph, transport), {"", 0}, transport);
      return write_lines(path,
                         "# Undirected graph\n# vertices: " + n + " edges: " + m +
                             " weights: " + std::string(to_string(graph.kind)) + "\n",
                         graph, {"", 0}, transport);
    case Format::matrix_market:
      return write_lines(path,
                         "%%MatrixMarket matrix coordinate " + std::string(is_real(graph.kind) ? "real" : "integer") +
                             " symmetric\n" + n + " " + n + " " + m + "\n",
                         graph, {"", 1, true}, transport);
    case Format::dimacs: {
      const auto arcs = 2 * edges - transport.all_reduce(mine(), comm::Op::sum);
      return write_lines(path, "p sp " + n + " " + std::to_string(arcs) + "\n", graph, {"a ", 1, false, true},
                         transport);
    }
    case Format::metis:
      return write_metis(path, graph, transport);
    case Format::parhip:
      return write_parhip(path, graph, transport);
    case Format::bvgraph:
    case Format::pajek:
    case Format::gml:
    case Format::graphml:
      check_writable(format);
  }
}

}  // namespace merganser::graphs
