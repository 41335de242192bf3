#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <string>

#include "graphs/files/disk.hpp"
#include "graphs/files/raw.hpp"
#include "graphs/files/replace.hpp"
#include "merganser/base/error.hpp"
#include "merganser/graphs/files.hpp"

namespace merganser::graphs {
namespace {

using namespace detail;

constexpr std::size_t kBlockBytes = std::size_t{1} << 22;

template <class T>
void append(std::string& out, T value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

/// So that it reads back as the same weight; numbers that have a whole value get a point, so that they stay numbers.
template <class Float>
void append_real(std::string& out, Float value) {
  const std::size_t had = out.size();
  append(out, value);
  if (out.find_first_of(".enai", had) == std::string::npos) out += ".0";
}

void append_weight(std::string& out, WeightKind kind, std::uint64_t bits) {
  switch (kind) {
    case WeightKind::unsigned_integer:
      append(out, bits);
      break;
    case WeightKind::signed_integer:
      append(out, static_cast<std::int64_t>(bits ^ (std::uint64_t{1} << 63)));
      break;
    default:  // float32 in the digits of the double that it is: the order of the weights stays
      append_real(out, weight_of(kind, bits));
  }
}

/// How a text format writes an edge.
struct Style {
  std::string_view before;  ///< each line
  std::uint64_t first;      ///< id of the first vertex
  bool high_first = false;  ///< the greater id stands first
  bool both = false;        ///< each direction has a line
};

/// Lines of the edges from `edge` on, until the block is full. @return the edge after the last one
std::size_t print(const EdgeList& graph, const Style& style, std::size_t edge, std::string& block) {
  std::visit(
      [&](const auto& edges) {
        const auto line = [&](std::uint64_t a, std::uint64_t b, std::uint64_t weight) {
          block += style.before;
          append(block, a + style.first);
          block += ' ';
          append(block, b + style.first);
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

/// Rank 0 writes the blocks of all ranks, rank by rank.
void write_text(const std::string& path, const std::string& head, const EdgeList& graph, const Style& style,
                comm::Transport& transport) {
  Replacement file(path, transport);
  std::uint64_t at = 0;
  const auto put = [&](const void* data, std::size_t bytes) {
    agree_first(transport, [&] {
      if (transport.rank() == 0) file.write(at, data, bytes);
    });
    at += bytes;
  };
  put(head.data(), head.size());
  for (int rank = 0; rank < transport.size(); ++rank) {
    std::size_t edge = 0;
    for (bool more = true; more;) {
      std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport.size()));
      if (rank == transport.rank()) {
        std::string block;
        edge = print(graph, style, edge, block);
        out[0].resize(block.size());
        if (!block.empty()) std::memcpy(out[0].data(), block.data(), block.size());
      }
      more = transport.all_reduce(std::int64_t{rank == transport.rank() && edge < graph.size()}, comm::Op::max) != 0;
      const auto in = transport.all_to_all(out);
      const auto& block = in[static_cast<std::size_t>(rank)];
      put(block.data(), block.size());
    }
  }
  file.keep();
}

bool is_real(WeightKind kind) { return kind == WeightKind::float32 || kind == WeightKind::float64; }

}  // namespace

void check_writable(Format format) {
  if (format == Format::binary || format == Format::edge_list || format == Format::matrix_market ||
      format == Format::dimacs)
    return;
  throw UsageError("format \"" + std::string(name_of(format)) +
                   "\" is read only; allowed: binary, edge-list, matrix-market, dimacs");
}

void write_graph(const std::string& path, const EdgeList& graph, Format format, comm::Transport& transport) {
  const auto mine = [&] {
    std::int64_t loops = 0;
    std::visit(
        [&](const auto& edges) {
          for (const auto& e : edges) loops += e.low == e.high ? 1 : 0;
        },
        graph.edges);
    return loops;
  };
  const auto edges = transport.all_reduce(static_cast<std::int64_t>(graph.size()), comm::Op::sum);
  const std::string n = std::to_string(graph.vertices), m = std::to_string(edges);
  switch (format) {
    case Format::binary:
      return write_binary(path, graph, transport);
    case Format::edge_list:
      return write_text(path,
                        "# Undirected graph\n# vertices: " + n + " edges: " + m +
                            " weights: " + std::string(name_of(graph.kind)) + "\n",
                        graph, {"", 0}, transport);
    case Format::matrix_market:
      return write_text(path,
                        "%%MatrixMarket matrix coordinate " + std::string(is_real(graph.kind) ? "real" : "integer") +
                            " symmetric\n" + n + " " + n + " " + m + "\n",
                        graph, {"", 1, true}, transport);
    case Format::dimacs: {
      const auto arcs = 2 * edges - transport.all_reduce(mine(), comm::Op::sum);
      return write_text(path, "p sp " + n + " " + std::to_string(arcs) + "\n", graph, {"a ", 1, false, true},
                        transport);
    }
    default:
      check_writable(format);
  }
}

}  // namespace merganser::graphs
