// Reader of DIMACS graph files: "p sp N M" with arcs "a FROM TO WEIGHT", or "p edge N M" (also col) with edges "e A B" or
// "e A B WEIGHT". Vertices count from 1. All ranks read, each its lines.
#include <algorithm>

#include "src/graphs/files/raw_sink.hpp"

namespace merganser::graphs::detail {
namespace {

/// Contents of the problem line of a DIMACS file, "p ...".
struct DimacsHeader {
  std::uint64_t vertices = 0;  ///< number of vertices
  std::uint64_t entries = 0;   ///< number of arcs or edges
  std::uint64_t body = 0;      ///< offset of the line after the problem line
  bool arcs = false;           ///< "sp": entries are arcs with weights; else edges
};

/// Finds and parses the problem line in `head`, the beginning of a DIMACS file. Local. @throws PlacedError for another line before
/// it that is no comment, and if there is none
DimacsHeader read_dimacs_header(const std::string& path, std::string_view head) {
  int number = 0;
  for (LineWalk walk(head); walk.next();) {
    ++number;
    Words words(walk.line());
    const std::string_view kind = words.next();
    if (kind.empty() || kind.starts_with('c')) continue;
    DimacsHeader header;
    const std::string_view problem = words.next();
    if (kind != "p" || (problem != "sp" && problem != "edge" && problem != "col") ||
        !parse_id(words.next(), header.vertices) || !parse_id(words.next(), header.entries) || !words.next().empty()) {
      throw PlacedError(0, path + ": line " + std::to_string(number) + ": " + quote(walk.line()) +
                               "; allowed: \"p sp VERTICES ARCS\" or \"p edge VERTICES EDGES\"");
    }
    header.arcs = problem == "sp";
    header.body = walk.after();
    return header;
  }
  throw PlacedError(0, path + ": no line \"p sp VERTICES ARCS\" in the first " + std::to_string(head.size()) +
                           " bytes; allowed: one after the comments");
}

/// Parser of the lines of arcs or edges of a DIMACS file; counts lines with and lines without a weight, which must not
/// be mixed in a file.
class DimacsParser {
 public:
  /// Takes the open file, its problem line, and the destination of the arcs; all must outlive the parser.
  /// @param general  no line is taken as a plain one
  DimacsParser(const Text& text, const DimacsHeader& header, Raw& raw, bool general)
      : text_(text), header_(header), raw_(raw), general_(general) {}

  /// Parses the lines of a piece of a DIMACS file and adds their arcs or edges to this rank's. @throws PlacedError naming the line
  void operator()(const Piece& piece) {
    parse_lines(
        piece.text, piece.offset, general_, [&](const char* line) { return add_plain_row(line); },
        [&](const LineWalk& walk) { add(piece, walk); });
  }
  /// Returns the number of this rank's arcs or edges with a weight.
  [[nodiscard]] std::int64_t with() const { return with_; }
  /// Returns the number of this rank's arcs or edges without a weight.
  [[nodiscard]] std::int64_t without() const { return without_; }

 private:
  /// Adds the arc or edge of a plain line of a DIMACS file to this rank's. @return the place behind the line; null, and nothing is
  /// added, for a line that add() must parse
  const char* add_plain_row(const char* line) {
    if (line[0] != (header_.arcs ? 'a' : 'e') || line[1] != ' ') return nullptr;
    PlainRow row;
    const char* const end = row.scan(line + 2, ' ');
    if (end == nullptr || row.from < 1 || row.to < 1 || row.from > header_.vertices || row.to > header_.vertices)
      return nullptr;
    if (row.columns == 3) {
      if (!add_plain(raw_, row.from - 1, row.to - 1, row.weight)) return nullptr;
      ++with_;
      return end;
    }
    if (row.columns != 2 || header_.arcs) return nullptr;
    raw_.add(row.from - 1, row.to - 1);
    ++without_;
    return end;
  }

  /// Parses a line of a DIMACS file and adds its arc or edge to this rank's, unless it is a comment. @throws PlacedError naming the
  /// line
  void add(const Piece& piece, const LineWalk& walk) {
    Words words(walk.line());
    const std::string_view kind = words.next();
    if (kind.empty() || kind.starts_with('c')) return;
    if (kind != (header_.arcs ? "a" : "e"))
      text_.fail(piece, walk.at(),
                 quote(walk.line()) + "; allowed: lines that begin with " + (header_.arcs ? "a" : "e") + " or c");
    const std::string_view a = words.next(), b = words.next(), weight = words.next();
    const std::uint64_t from = id(piece, walk, a), to = id(piece, walk, b);
    const bool weighted = !weight.empty();
    if (weighted ? !words.next().empty() : header_.arcs)
      text_.fail(piece, walk.at(), quote(walk.line()) + "; allowed: two vertices and a weight");
    (weighted ? with_ : without_) += 1;
    RawSink{text_, piece, raw_}.entry(walk.at(), from, to, weight);
  }

  /// Parses a vertex of a DIMACS file, which counts from 1. @return the vertex, counted from 0. @throws PlacedError for a vertex
  /// outside 1 .. number of vertices
  std::uint64_t id(const Piece& piece, const LineWalk& walk, std::string_view word) const {
    std::uint64_t value = 0;
    if (!parse_id(word, value) || value < 1 || value > header_.vertices)
      text_.fail(piece, walk.at(), "vertex " + quote(word) + "; allowed: 1 to " + std::to_string(header_.vertices));
    return value - 1;
  }

  const Text& text_;
  const DimacsHeader& header_;
  Raw& raw_;
  bool general_;  ///< no line is taken as a plain one
  std::int64_t with_ = 0;
  std::int64_t without_ = 0;
};

}  // namespace

// Reader of DIMACS files: all ranks parse the problem line, then each its share of the other lines.
Raw read_dimacs(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  DimacsHeader header;
  agree_first(source.transport, [&] {
    header = read_dimacs_header(source.path, text->head());
    check_vertices(*text, header.vertices, "vertices");
  });
  Raw raw(source.path, source.sharing);
  raw.limit(header.entries);
  DimacsParser parser(*text, header, raw, source.general);
  text->for_each_piece({header.body}, [&](const Piece& piece) { parser(piece); });
  // Ranks read different lines, so that mixed weights and wrong numbers show only in the sums over all of them.
  const auto with = source.transport.all_reduce(parser.with(), comm::Op::sum);
  const auto without = source.transport.all_reduce(parser.without(), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (with > 0 && without > 0)
      throw InputError(source.path + ": " + std::to_string(with) + " lines with a weight and " +
                       std::to_string(without) + " without; allowed: all or none");
    if (static_cast<std::uint64_t>(with + without) != header.entries)
      throw InputError(source.path + ": " + std::to_string(with + without) +
                       " arcs or edges; allowed: " + std::to_string(header.entries) + ", as the line p says");
  });
  raw.weighted = with > 0;
  raw.vertices = header.vertices;
  raw.vertices_known = true;
  raw.directed = header.arcs;
  source.log.compressed = text->compressed();
  return raw;
}

// Sizes of a graph in a DIMACS file, exact, from its problem line.
Sizes read_dimacs_sizes(const std::string& path, std::string_view head) {
  const DimacsHeader header = read_dimacs_header(path, head);
  return {header.vertices, header.entries, true, header.arcs, 0};
}

}  // namespace merganser::graphs::detail
