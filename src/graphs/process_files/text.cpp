#include <charconv>

#include "merganser/base/options.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::int64_t kMostInt = 2147483647;

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// N of a comment "# ranks N"; empty for other comments.
std::string_view rank_comment(std::string_view line, std::vector<std::string_view>& pieces) {
  split_blanks(line, pieces);
  return pieces.size() == 3 && pieces[0] == "#" && pieces[1] == "ranks" ? pieces[2] : std::string_view();
}

}  // namespace

ProcessGraph parse_adjacency(const std::string& path, const std::string& text) {
  struct Head {
    std::int64_t rank;
    std::uint64_t line;
  };
  std::vector<Head> heads;
  ArcList list(path, "line");
  std::vector<std::string_view> pieces;
  for (Lines lines(text); lines.next();) {
    if (lines.first() == '\0' || lines.first() == '#') continue;
    const std::string_view line = lines.line();
    const auto colon = line.find(':');
    if (colon == std::string_view::npos)
      fail_at(path, lines.place(), shown(line) + " has no colon; allowed: \"rank: rank weight rank weight ...\"");
    const PlacedNumbers numbers(path, lines.place());
    const std::int64_t from = numbers.integer(trimmed(line.substr(0, colon)), "rank", 0, kMostInt - 1);
    heads.push_back({from, lines.place().number});
    split_blanks(line.substr(colon + 1), pieces);
    if (pieces.size() % 2 == 1) {
      fail_at(path, lines.place(),
              std::to_string(pieces.size()) + " numbers after the colon; allowed: pairs of a rank and a weight");
    }
    for (std::size_t i = 0; i < pieces.size(); i += 2) {
      const std::int64_t to = numbers.integer(pieces[i], "rank", 0, kMostInt - 1);
      list.add(static_cast<int>(from), static_cast<int>(to), numbers.weight(pieces[i + 1]), lines.place().number);
    }
  }
  const auto ranks = static_cast<std::int64_t>(heads.size());
  std::vector<std::uint64_t> line_of(heads.size(), 0);
  for (const Head& head : heads) {
    if (head.rank >= ranks) {
      fail_at(path, {"line", head.line},
              "rank " + std::to_string(head.rank) + " in a file of " + std::to_string(ranks) +
                  " ranks; allowed: every rank from 0 on has one line");
    }
    std::uint64_t& line = line_of[static_cast<std::size_t>(head.rank)];
    if (line != 0) {
      fail_at(path, {"line", head.line},
              "rank " + std::to_string(head.rank) + " has line " + std::to_string(line) +
                  " already; allowed: one line a rank");
    }
    line = head.line;
  }
  if (ranks == 0) fail_at(path, {"line", 1}, "no ranks; allowed: at least one line \"rank: ...\"");
  list.check(static_cast<int>(ranks));
  return list.graph(static_cast<int>(ranks), 0);
}

std::string print_adjacency(const ProcessGraph& graph) {
  std::string out =
      "# merganser process graph, \"rank: neighbour weight neighbour weight ...\": " + std::to_string(graph.ranks()) +
      " ranks, " + std::to_string(graph.arcs()) + " arcs\n";
  for (int r = 0; r < graph.ranks(); ++r) {
    out += std::to_string(r) + ':';
    for (const auto& arc : graph.row(r)) out += ' ' + std::to_string(arc.to) + ' ' + number_text(arc.bytes);
    out += '\n';
  }
  return out;
}

ProcessGraph parse_pairs(const std::string& path, const std::string& text) {
  const std::int64_t most = most_ranks(text.size());
  std::int64_t ranks = 0;
  std::uint64_t ranks_line = 0;
  ArcList list(path, "line");
  std::vector<std::string_view> pieces;
  for (Lines lines(text); lines.next();) {
    const PlacedNumbers numbers(path, lines.place());
    const std::string_view line = lines.line();
    if (lines.first() == '#') {
      if (const auto number = rank_comment(line, pieces); !number.empty()) {
        ranks = numbers.integer(number, "number of ranks", 1, most);
        ranks_line = lines.place().number;
      }
      continue;
    }
    if (lines.first() == '\0') continue;
    const auto comma = line.find(',');
    if (comma == std::string_view::npos)
      fail_at(path, lines.place(), shown(line) + " has no comma; allowed: \"from,to\" and \"from,to,weight\"");
    const auto second = std::min(line.find(',', comma + 1), line.size());
    const std::int64_t from = numbers.integer(trimmed(line.substr(0, comma)), "rank", 0, most - 1);
    const std::int64_t to = numbers.integer(trimmed(line.substr(comma + 1, second - comma - 1)), "rank", 0, most - 1);
    const double weight = second < line.size() ? numbers.weight(trimmed(line.substr(second + 1))) : 1;
    list.add(static_cast<int>(from), static_cast<int>(to), weight, lines.place().number);
  }
  if (ranks == 0) ranks = list.largest() + 1;
  if (ranks == 0) fail_at(path, {"line", 1}, "no arcs; allowed: lines \"from,to\", or a line \"# ranks N\"");
  if (ranks_line != 0) list.check(static_cast<int>(ranks));
  return list.graph(static_cast<int>(ranks), 0);
}

std::string print_pairs(const ProcessGraph& graph) {
  std::string out =
      "# merganser process graph, \"from,to\" or \"from,to,weight\"\n# ranks " + std::to_string(graph.ranks()) + '\n';
  const bool weighted = graph.weighted();
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      out += std::to_string(r) + ',' + std::to_string(arc.to);
      if (weighted) out += ',' + number_text(arc.bytes);
      out += '\n';
    }
  }
  return out;
}

}  // namespace merganser::graphs::detail
