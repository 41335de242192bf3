// Edge lists: one edge on a line, two ids and perhaps a weight and a time. SNAP, KONECT, TSV and CSV files are such.
#include <algorithm>

#include "src/graphs/files/raw_sink.hpp"

namespace merganser::graphs::detail {
namespace {

bool is_comment(std::string_view line) {
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}

/// What the comments before the first edge say.
struct Preface {
  std::uint64_t vertices = 0;
  bool vertices_known = false;
  bool konect = false;  ///< ids from 1 on
  bool bipartite = false;
  bool undirected = false;
  bool weights = true;  ///< of a third column
  int columns = 0;      ///< of the first edge; 0: not seen
};

int count_words(std::string_view line) {
  int count = 0;
  for (Words words(line); !words.next().empty();) ++count;
  return count;
}

void read_comment(std::string_view line, bool first, Preface& preface) {
  Words words(line.substr(line.starts_with("//") ? 2 : 1));
  const std::string_view word = words.next();
  if (first && line.starts_with('%') && (word == "sym" || word == "asym" || word == "bip")) {
    preface.konect = true;
    preface.bipartite = word == "bip";
    preface.undirected = word != "asym";
    preface.weights = words.next() != "unweighted";
  } else if (word == "vertices:") {
    preface.vertices_known = parse_id(words.next(), preface.vertices);
  } else if (line.find("Undirected") != std::string_view::npos) {
    preface.undirected = true;
  }
}

Preface read_preface(const std::string& head) {
  Preface preface;
  bool first = true;
  for (LineWalk walk(head); walk.next(); first = false) {
    const std::string_view line = walk.line();
    if (is_comment(line)) {
      read_comment(line, first, preface);
    } else if (const int columns = count_words(line); columns > 0) {
      if (walk.after() < head.size() || head.size() < kHeadBytes) preface.columns = columns;
      break;
    }
  }
  return preface;
}

class EdgeListParser {
 public:
  EdgeListParser(const Text& text, const Preface& preface, Raw& raw)
      : text_(text), raw_(raw), first_(preface.konect ? 1 : 0), columns_(preface.columns), preface_(preface) {}

  void operator()(const Piece& piece) {
    for (LineWalk walk(piece.text, piece.offset); walk.next();) {
      const std::string_view line = walk.line();
      if (is_comment(line)) continue;
      Words words(line);
      const std::string_view a = words.next();
      if (a.empty()) continue;
      const std::string_view b = words.next(), weight = words.next(), time = words.next();
      const int columns = b.empty() ? 1 : weight.empty() ? 2 : time.empty() ? 3 : words.next().empty() ? 4 : 5;
      if (columns_ == 0) columns_ = columns;
      if (columns < 2 || columns > 4)
        text_.fail(piece, walk.at(), shown(line) + "; allowed: two ids, and perhaps a weight and a time");
      if (columns != columns_) {
        text_.fail(piece, walk.at(),
                   shown(line) + " has " + std::to_string(columns) + " columns; allowed: " + std::to_string(columns_) +
                       ", as in the lines before");
      }
      const std::uint64_t from = id(piece, walk, a), to = id(piece, walk, b);
      RawSink{text_, piece, raw_}.entry(walk.at(), from, to, preface_.weights ? weight : std::string_view());
      if (preface_.bipartite) raw_.left = std::max(raw_.left, from + 1);
    }
  }
  [[nodiscard]] int columns() const { return columns_; }

 private:
  std::uint64_t id(const Piece& piece, const LineWalk& walk, std::string_view word) const {
    std::uint64_t value = 0;
    if (!parse_id(word, value) || value < first_)
      text_.fail(piece, walk.at(), "vertex " + shown(word) + "; allowed: " + std::to_string(first_) + " to below 2^63");
    if (preface_.vertices_known && value >= preface_.vertices) {
      text_.fail(piece, walk.at(),
                 "vertex " + shown(word) + "; allowed: below " + std::to_string(preface_.vertices) +
                     ", the number of vertices told above");
    }
    return value - first_;
  }

  const Text& text_;
  Raw& raw_;
  std::uint64_t first_;
  int columns_;
  const Preface& preface_;
};

}  // namespace

Raw read_edge_list(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  const Preface preface = read_preface(text->head());
  agree_first(source.transport, [&] {
    if (preface.vertices_known) check_vertices(*text, preface.vertices, "vertices");
  });
  Raw raw(source.path, source.sharing);
  EdgeListParser parser(*text, preface, raw);
  text->each({}, [&](const Piece& piece) { parser(piece); });
  const auto all = [&](int columns, comm::Op op) { return source.transport.all_reduce(std::int64_t{columns}, op); };
  const auto most_columns = all(parser.columns(), comm::Op::max);
  const auto fewest_columns = all(parser.columns() == 0 ? 5 : parser.columns(), comm::Op::min);
  agree_first(source.transport, [&] {
    if (most_columns > fewest_columns)
      throw InputError(source.path + ": lines of " + std::to_string(fewest_columns) + " and of " +
                       std::to_string(most_columns) + " columns; allowed: the same number in all");
  });
  raw.vertices = preface.vertices;
  raw.vertices_known = preface.vertices_known;
  raw.weighted = most_columns >= 3 && preface.weights;
  raw.directed = !preface.undirected;
  raw.bipartite = preface.bipartite;
  if (preface.konect) raw.lines.emplace_back("KONECT file: ids are made to begin with 0");
  if (preface.bipartite) raw.lines.emplace_back("bipartite: ids of the second column follow those of the first");
  if (most_columns == 4) raw.lines.emplace_back("the fourth column is not used");
  source.log.compressed = text->compressed();
  return raw;
}

}  // namespace merganser::graphs::detail
