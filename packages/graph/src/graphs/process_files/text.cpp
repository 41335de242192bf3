// Process graphs as text: adjacency lists "rank: rank weight ...", and pairs "from,to,weight".
#include "merganser/base/text.hpp"
#include "merganser/base/lines.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::int64_t kMaxInt32 = 2147483647;

/// Parses the pairs of a receiving rank and a weight behind "FROM:" on a line of adjacency lists, and adds these arcs of a process
/// graph to `list`. @param at  offset of the line @throws InputError
void parse_arcs(const FileBytes& file, std::uint64_t at, std::int64_t from, std::string_view pairs, ProcessArcs& list) {
  BlankWords words(pairs);
  std::size_t count = 0;
  for (auto head = words.next(); !head.empty(); head = words.next(), count += 2) {
    const auto weight = words.next();
    if (weight.empty())
      file.fail(at, std::to_string(count + 1) + " numbers after the colon; allowed: pairs of a rank and a weight");
    const std::int64_t to = file.integer(at, head, "rank", 0, kMaxInt32 - 1);
    list.add(static_cast<int>(from), static_cast<int>(to), file.weight(at, weight), at);
  }
}

}  // namespace

// Comment of files of pairs with the number of ranks, which arcs alone do not give.
std::string_view rank_comment(std::string_view line) {
  BlankWords words(line);
  if (words.next() != "#" || words.next() != "ranks") return {};
  const std::string_view number = words.next();
  return words.next().empty() ? number : std::string_view();
}

// Parser of adjacency lists of a process graph; lines of ranks may come in any order.
ProcessGraph parse_adjacency(const std::string& path, const std::string& text) {
  struct Head {  // the beginning "RANK:" of a line
    std::int64_t rank;
    std::uint64_t at;
  };
  const FileBytes file(path, text);
  std::vector<Head> heads;
  ProcessArcs list(file);
  for (LineWalk walk(text); walk.next();) {
    const std::string_view line = walk.line(), first = BlankWords(line).next();
    if (first.empty() || first.starts_with('#')) continue;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos)
      file.fail(walk.at(), quote(line) + " has no colon; allowed: \"rank: rank weight rank weight ...\"");
    const std::int64_t from = file.integer(walk.at(), trimmed(line.substr(0, colon)), "rank", 0, kMaxInt32 - 1);
    heads.push_back({from, walk.at()});
    parse_arcs(file, walk.at(), from, line.substr(colon + 1), list);
  }
  // Every rank has one line, so the number of lines is that of ranks; lines may come in any order.
  const auto ranks = static_cast<std::int64_t>(heads.size());
  std::vector<const Head*> head_of_rank(heads.size(), nullptr);
  for (const Head& head : heads) {
    if (head.rank >= ranks) {
      file.fail(head.at, "rank " + std::to_string(head.rank) + " in a file of " + std::to_string(ranks) +
                             " ranks; allowed: every rank from 0 on has one line");
    }
    const Head*& before = head_of_rank[static_cast<std::size_t>(head.rank)];
    if (before != nullptr) {
      file.fail(head.at, "rank " + std::to_string(head.rank) + " has " + file.place(before->at) +
                             " already; allowed: one line a rank");
    }
    before = &head;
  }
  if (ranks == 0) file.fail(0, "no ranks; allowed: at least one line \"rank: ...\"");
  list.check(static_cast<int>(ranks));
  return list.graph(static_cast<int>(ranks), 0);
}

// Process graph as adjacency lists: a line per rank, with receiving ranks and weights.
std::string serialize_adjacency(const ProcessGraph& graph) {
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

// Parser of a process graph with one arc a line; without a comment "# ranks N" the largest rank gives their number.
ProcessGraph parse_pairs(const std::string& path, const std::string& text) {
  const std::int64_t most = max_ranks(text.size());
  std::int64_t ranks = 0;
  const FileBytes file(path, text);
  ProcessArcs list(file);
  for (LineWalk walk(text); walk.next();) {
    const std::string_view line = walk.line(), first = BlankWords(line).next();
    if (first.starts_with('#')) {
      if (const auto number = rank_comment(line); !number.empty())
        ranks = file.integer(walk.at(), number, "number of ranks", 1, most);
      continue;
    }
    if (first.empty()) continue;
    const auto comma = line.find(',');
    if (comma == std::string_view::npos)
      file.fail(walk.at(), quote(line) + " has no comma; allowed: \"from,to\" and \"from,to,weight\"");
    const auto second = std::min(line.find(',', comma + 1), line.size());
    const auto rank = [&](std::string_view word) {
      return static_cast<int>(file.integer(walk.at(), trimmed(word), "rank", 0, most - 1));
    };
    const int from = rank(line.substr(0, comma)), to = rank(line.substr(comma + 1, second - comma - 1));
    list.add(from, to, second < line.size() ? file.weight(walk.at(), trimmed(line.substr(second + 1))) : 1, walk.at());
  }
  // Without a comment "# ranks N", ranks behind the last one with arcs are unknown.
  if (ranks == 0) ranks = list.largest() + 1;
  if (ranks == 0) file.fail(0, "no arcs; allowed: lines \"from,to\", or a line \"# ranks N\"");
  list.check(static_cast<int>(ranks));
  return list.graph(static_cast<int>(ranks), 0);
}

// Process graph as pairs: a line per arc, weights only if some are not 1.
std::string serialize_pairs(const ProcessGraph& graph) {
  std::string out =
      "# merganser process graph, \"from,to\" or \"from,to,weight\"\n# ranks " + std::to_string(graph.ranks()) + '\n';
  const bool weighted = graph.is_weighted();
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
