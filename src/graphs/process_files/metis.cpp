#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::int64_t kMostWeight = std::int64_t{1} << 53;

struct MetisHeader {
  std::int64_t ranks = 0;
  std::int64_t edges = 0;
  std::size_t before = 0;  ///< numbers of a line that belong to its vertex: its size and weights
  bool weighted = false;
};

/// Goes to the next line that is no comment.
bool next_line(Lines& lines) {
  while (lines.next())
    if (lines.first() != '%') return true;
  return false;
}

MetisHeader parse_header(const std::string& path, Lines& lines, std::size_t file_bytes,
                         std::vector<std::string_view>& pieces) {
  while (next_line(lines) && lines.first() == '\0') {
  }
  split_blanks(lines.line(), pieces);
  if (pieces.size() < 2 || pieces.size() > 4)
    fail_at(path, lines.place(), shown(lines.line()) + "; allowed: \"vertices edges [format [constraints]]\"");
  const PlacedNumbers numbers(path, lines.place());
  MetisHeader header;
  const auto room = static_cast<std::int64_t>(file_bytes);  // every vertex has a line, every edge two numbers
  header.ranks = numbers.integer(pieces[0], "number of vertices", 1, std::min<std::int64_t>(room, 2147483647));
  header.edges = numbers.integer(pieces[1], "number of edges", 0, room / 2);
  const std::string_view format = pieces.size() > 2 ? pieces[2] : "0";
  if (format.size() > 3 || format.find_first_not_of("01") != std::string_view::npos)
    fail_at(path, lines.place(), "format " + shown(format) + "; allowed: up to three digits 0 or 1");
  const auto digit = [&](std::size_t from_right) {
    return format.size() >= from_right && format[format.size() - from_right] == '1';
  };
  const std::int64_t constraints = pieces.size() > 3 ? numbers.integer(pieces[3], "number of constraints", 0, room) : 1;
  header.weighted = digit(1);
  header.before = (digit(2) ? static_cast<std::size_t>(constraints) : 0) + (digit(3) ? 1 : 0);
  return header;
}

/// METIS wants every edge from both its ends, with one weight.
void check_symmetric(const std::string& path, const ProcessGraph& graph) {
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      const auto back = graph.row(arc.to);
      const auto at = std::lower_bound(back.begin(), back.end(), r, [](const auto& a, int to) { return a.to < to; });
      if (at != back.end() && at->to == r && at->bytes == arc.bytes) continue;
      throw InputError(path + ": the edge from vertex " + std::to_string(r + 1) + " to " + std::to_string(arc.to + 1) +
                       " of weight " + number_text(arc.bytes) +
                       " has no equal one back; allowed in METIS files: "
                       "edges given at both ends with the same weight");
    }
  }
}

}  // namespace

ProcessGraph parse_metis(const std::string& path, const std::string& text) {
  std::vector<std::string_view> pieces;
  Lines lines(text);
  const MetisHeader header = parse_header(path, lines, text.size(), pieces);
  ArcList list(path, "line");
  for (std::int64_t v = 1; v <= header.ranks; ++v) {
    if (!next_line(lines)) {
      fail_at(path, lines.place(),
              "the file ends after " + std::to_string(v - 1) + " vertices; allowed: " + std::to_string(header.ranks));
    }
    split_blanks(lines.line(), pieces);
    const std::size_t step = header.weighted ? 2 : 1;
    if (pieces.size() < header.before || (pieces.size() - header.before) % step != 0) {
      fail_at(path, lines.place(),
              std::to_string(pieces.size()) + " numbers; allowed: " + std::to_string(header.before) +
                  " for the vertex, then " + (header.weighted ? "pairs of a vertex and a weight" : "vertices"));
    }
    const PlacedNumbers numbers(path, lines.place());
    for (std::size_t i = 0; i < header.before; ++i) (void)numbers.integer(pieces[i], "vertex weight", 0, kMostWeight);
    for (std::size_t i = header.before; i < pieces.size(); i += step) {
      const std::int64_t to = numbers.integer(pieces[i], "vertex", 1, header.ranks);
      const std::int64_t weight = header.weighted ? numbers.integer(pieces[i + 1], "weight", 1, kMostWeight) : 1;
      list.add(static_cast<int>(v - 1), static_cast<int>(to - 1), static_cast<double>(weight), lines.place().number);
    }
  }
  while (next_line(lines)) {
    if (lines.first() == '\0') continue;
    fail_at(path, lines.place(),
            shown(lines.line()) + " after the last vertex; allowed: " + std::to_string(header.ranks) + " vertices");
  }
  if (static_cast<std::int64_t>(list.size()) != 2 * header.edges) {
    fail_at(path, {"line", 1},
            std::to_string(header.edges) + " edges, but the lines name " + std::to_string(list.size()) +
                " neighbours; allowed: two for each edge");
  }
  ProcessGraph graph = list.graph(static_cast<int>(header.ranks), 1);
  check_symmetric(path, graph);
  return graph;
}

std::string print_metis(const std::string& path, const ProcessGraph& graph) {
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      if (arc.bytes >= 1 && arc.bytes <= static_cast<double>(kMostWeight) && arc.bytes == std::floor(arc.bytes))
        continue;
      throw InputError(path + ": the weight " + number_text(arc.bytes) + " from vertex " + std::to_string(r + 1) +
                       " to " + std::to_string(arc.to + 1) + "; allowed in METIS files: whole numbers from 1 to " +
                       std::to_string(kMostWeight));
    }
  }
  check_symmetric(path, graph);
  const bool weighted = graph.weighted();
  std::string out = "% merganser process graph\n" + std::to_string(graph.ranks()) + ' ' +
                    std::to_string(graph.arcs() / 2) + (weighted ? " 001\n" : "\n");
  for (int r = 0; r < graph.ranks(); ++r) {
    bool first = true;
    for (const auto& arc : graph.row(r)) {
      out += (first ? "" : " ") + std::to_string(arc.to + 1);
      if (weighted) out += ' ' + std::to_string(static_cast<std::int64_t>(arc.bytes));
      first = false;
    }
    out += '\n';
  }
  return out;
}

}  // namespace merganser::graphs::detail
