#include <cctype>

#include "merganser/base/options.hpp"
#include "src/graphs/process_files/formats.hpp"
#include "src/graphs/process_files/parsing.hpp"

namespace merganser::graphs::detail {
namespace {

struct Header {
  bool pattern = false;
  bool symmetric = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

Header parse_banner(const std::string& path, Lines& lines, std::vector<std::string_view>& pieces) {
  const char* allowed =
      "; allowed: \"%%MatrixMarket matrix coordinate\", then pattern, integer or real, then general or symmetric";
  if (!lines.next()) fail_at(path, {"line", 1}, std::string("the file is empty") + allowed);
  split_blanks(lines.line(), pieces);
  const auto word = [&](std::size_t i) { return i < pieces.size() ? lower(pieces[i]) : std::string(); };
  const bool fits = pieces.size() == 5 && word(0) == "%%matrixmarket" && word(1) == "matrix" &&
                    word(2) == "coordinate" && (word(3) == "pattern" || word(3) == "integer" || word(3) == "real") &&
                    (word(4) == "general" || word(4) == "symmetric");
  if (!fits) fail_at(path, lines.place(), shown(lines.line()) + allowed);
  return {word(3) == "pattern", word(4) == "symmetric"};
}

/// Goes to the next line that is neither blank nor a comment.
bool next_content(Lines& lines) {
  while (lines.next())
    if (lines.first() != '\0' && lines.first() != '%') return true;
  return false;
}

}  // namespace

ProcessGraph parse_matrix_market(const std::string& path, const std::string& text) {
  std::vector<std::string_view> pieces;
  Lines lines(text);
  const Header header = parse_banner(path, lines, pieces);
  if (!next_content(lines)) fail_at(path, lines.place(), "the file ends; allowed: a line \"rows columns entries\"");
  split_blanks(lines.line(), pieces);
  if (pieces.size() != 3) fail_at(path, lines.place(), shown(lines.line()) + "; allowed: \"rows columns entries\"");
  const std::int64_t most = most_ranks(text.size());
  const PlacedNumbers sizes(path, lines.place());
  const std::int64_t ranks = sizes.integer(pieces[0], "number of rows", 1, most);
  (void)sizes.integer(pieces[1], "number of columns", ranks, ranks);
  const auto room = static_cast<std::int64_t>(text.size() / 4 + 1);  // an entry takes four bytes
  const std::int64_t entries = sizes.integer(pieces[2], "number of entries", 0, room);

  ArcList list(path, "line");
  const std::size_t fields = header.pattern ? 2 : 3;
  for (std::int64_t e = 0; e < entries; ++e) {
    if (!next_content(lines)) {
      fail_at(path, lines.place(),
              "the file ends after " + std::to_string(e) + " entries; allowed: " + std::to_string(entries));
    }
    split_blanks(lines.line(), pieces);
    if (pieces.size() != fields) {
      fail_at(path, lines.place(),
              shown(lines.line()) + "; allowed: " + (header.pattern ? "\"row column\"" : "\"row column value\""));
    }
    const PlacedNumbers numbers(path, lines.place());
    const std::int64_t row = numbers.integer(pieces[0], "row", 1, ranks);
    const std::int64_t column = numbers.integer(pieces[1], "column", 1, header.symmetric ? row : ranks);
    if (row == column) continue;  // a rank sends nothing to itself
    const double weight = header.pattern ? 1 : numbers.weight(pieces[2]);
    list.add(static_cast<int>(row - 1), static_cast<int>(column - 1), weight, lines.place().number);
    if (header.symmetric)
      list.add(static_cast<int>(column - 1), static_cast<int>(row - 1), weight, lines.place().number);
  }
  if (next_content(lines)) {
    fail_at(path, lines.place(),
            shown(lines.line()) + " after the last entry; allowed: " + std::to_string(entries) + " entries");
  }
  return list.graph(static_cast<int>(ranks), 1);
}

std::string print_matrix_market(const ProcessGraph& graph) {
  const bool weighted = graph.weighted();
  std::string out = std::string("%%MatrixMarket matrix coordinate ") + (weighted ? "real" : "pattern") + " general\n";
  const std::string ranks = std::to_string(graph.ranks());
  out += "% merganser process graph\n" + ranks + ' ' + ranks + ' ' + std::to_string(graph.arcs()) + '\n';
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const auto& arc : graph.row(r)) {
      out += std::to_string(r + 1) + ' ' + std::to_string(arc.to + 1);
      if (weighted) out += ' ' + number_text(arc.bytes);
      out += '\n';
    }
  }
  return out;
}

}  // namespace merganser::graphs::detail
