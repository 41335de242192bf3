// Distributed reader of METIS files: line i lists the neighbours of vertex i, so every edge stands twice. All ranks read, each its
// lines.
#include "src/graphs/files/metis.hpp"

#include <algorithm>

#include "src/graphs/files/raw_sink.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::uint64_t kMaxConstraints = 2147483647;

/// Parses the header line of a METIS file: numbers of vertices and edges, format digits, number of vertex weights.
/// @param refuse  called with a message; throws an error that names the line
template <class Refuse>
MetisHeader parse_metis_header(std::string_view line, const Refuse& refuse) {
  MetisHeader header;
  Words words(line);
  const std::string_view n = words.next(), m = words.next(), format = words.next(), constraints = words.next();
  if (!parse_id(n, header.vertices) || !parse_id(m, header.edges) || !words.next().empty())
    refuse(quote(line) + "; allowed: vertices, edges, and perhaps a format and a number of weights");
  const auto bad = [](char c) { return c != '0' && c != '1'; };
  if (format.size() > 3 || std::any_of(format.begin(), format.end(), bad))
    refuse("format " + quote(format) + "; allowed: up to three digits 0 or 1");
  const std::string flags = std::string(3 - format.size(), '0') + std::string(format);
  const bool vertex_weights = flags[1] == '1';
  std::uint64_t weights = vertex_weights ? 1 : 0;
  if (!constraints.empty() &&
      (!parse_id(constraints, weights) || vertex_weights != (weights > 0) || weights > kMaxConstraints))
    refuse("number of weights " + quote(constraints) + "; allowed: from 1 on with format 1x, else 0 or none");
  header.weights_before = weights + (flags[0] == '1' ? 1 : 0);
  header.weighted = flags[2] == '1';
  return header;
}

/// Parser of consecutive lines of a METIS file that adds the arcs of its vertices to this rank's.
struct RowParser {
  RawSink sink;
  const MetisHeader& header;
  std::uint64_t vertex;  ///< of the next line unless it is a comment, from 0

  /// Parses a line of a METIS file of any kind. @throws PlacedError naming the line
  void add_row(const LineWalk& walk) { vertex = parse_metis_line(walk, header, vertex, sink); }

  /// Parses the line of a vertex of a METIS file if it begins as a plain one. @return the place behind the line; null, and nothing was
  /// done, for a line that add_row() must parse. @throws PlacedError naming the line
  const char* add_plain_row(const char* line) {
    if (vertex >= header.vertices) return nullptr;
    const char* at = skip_blanks(line);
    if (*at == '%') return nullptr;
    for (std::uint64_t i = 0; i < header.weights_before; ++i) {
      std::uint64_t unused = 0;
      const char* const end = scan_number(at, unused);
      if (end == nullptr || !is_word_end(end)) return nullptr;
      at = skip_blanks(end);
    }
    for (;;) {
      if (const char* const end = skip_line_end(at)) {
        ++vertex;
        return end;
      }
      const char* const end = add_plain_neighbour(at);
      if (end == nullptr) return add_rest(line, at);
      at = skip_blanks(end);
    }
  }

 private:
  /// Returns true if a character behind a number in a line of a METIS file ends its word.
  static bool is_word_end(const char* at) { return BlankWords::is_separator(*at) || skip_line_end(at) != nullptr; }

  /// Adds the arc to a neighbour in a line of a METIS file, with its weight if there are weights. @return the place behind them; null,
  /// and nothing is added, if they are not plain
  const char* add_plain_neighbour(const char* at) {
    std::uint64_t to = 0;
    at = scan_number(at, to);
    if (at == nullptr || !is_word_end(at) || to < 1 || to > header.vertices) return nullptr;
    if (!header.weighted) {
      sink.raw.add(vertex, to - 1);
      return at;
    }
    PlainWeight weight;
    at = weight.scan(skip_blanks(at));
    if (at == nullptr || !is_word_end(at) || !add_plain(sink.raw, vertex, to - 1, weight)) return nullptr;
    return at;
  }

  /// Parses a line of a METIS file from a neighbour on that is not plain. @return the place behind the line. @throws PlacedError
  /// naming the line
  const char* add_rest(const char* line, const char* neighbour) {
    const Piece& piece = sink.piece;
    LineWalk walk(piece.text.substr(static_cast<std::size_t>(neighbour - piece.text.data())));
    static_cast<void>(walk.next());
    Words words(walk.line());
    const std::string_view word = words.next();
    const std::uint64_t at = piece.offset + static_cast<std::uint64_t>(line - piece.text.data());
    parse_metis_neighbours(word, words, at, header, vertex++, sink);
    return neighbour + walk.after();
  }
};

}  // namespace

// Parser of the header of a METIS file, the first line that is no comment.
MetisHeader read_metis_header(const std::string& path, std::string_view head, bool whole) {
  std::uint64_t number = 0, comments = 0;
  for (LineWalk walk(head); walk.next();) {
    ++number;
    const std::string_view first = Words(walk.line()).next();
    comments += first.starts_with('%') ? 1U : 0U;
    if (first.starts_with('%') || first.empty()) continue;
    if (walk.after() >= head.size() && !whole) break;
    MetisHeader header = parse_metis_header(walk.line(), [&](const std::string& what) {
      throw PlacedError(0, path + ": line " + std::to_string(number) + ": " + what);
    });
    header.at = walk.at();
    header.body = walk.after();
    header.lines_before = number - comments;
    return header;
  }
  throw PlacedError(0, path + ": no line with numbers of vertices and edges" +
                           (whole ? std::string() : " in the first " + std::to_string(head.size()) + " bytes") +
                           "; allowed: one, the first that is no comment");
}

std::string metis_head(std::uint64_t vertices, std::uint64_t edges, bool weighted) {
  return std::to_string(vertices) + ' ' + std::to_string(edges) + (weighted ? " 001\n" : "\n");
}

std::string missing_rows(std::uint64_t rows, const MetisHeader& header) {
  return "the file ends after the lines of " + std::to_string(rows) +
         " vertices; allowed: " + std::to_string(header.vertices) + ", as the header says";
}

std::string wrong_neighbours(std::uint64_t neighbours, const MetisHeader& header) {
  return std::to_string(neighbours) + " neighbours; allowed: " + std::to_string(2 * header.edges) +
         ", two for each of the edges that the header tells";
}

// Reader of METIS files: all ranks parse the header, then each its share of the lines. The vertex of a line follows
// from the number of lines before it.
Raw read_metis(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  MetisHeader header;
  agree_first(source.transport, [&] {
    header = read_metis_header(source.path, text->head(), text->head().size() < kHeadBytes);
    const std::uint64_t most = text->compressed() ? max_vertices(text->file_bytes(), true) : text->file_bytes();
    if (header.vertices > most)
      throw InputError(source.path + ": " + std::to_string(header.vertices) + " vertices; allowed for a file of " +
                       std::to_string(text->file_bytes()) + " bytes: at most " + std::to_string(most) +
                       ", since each has a line");
  });
  Raw raw(source.path, source.sharing);
  raw.limit(2 * header.edges);
  raw.weighted = header.weighted;
  std::uint64_t rows = 0;
  // No line is longer than one with all the vertices in it, in 64 bytes each.
  const Text::Each how{header.body, true, 64 * (header.vertices + header.weights_before + 1024)};
  text->for_each_piece(how, [&](const Piece& piece) {
    // The vertex of a line follows from its number, less comments and lines up to the header: pieces must be numbered.
    const std::uint64_t first = piece.line - 1 - piece.comments - header.lines_before;
    RowParser parser{{*text, piece, raw}, header, first};
    parse_lines(
        piece.text, piece.offset, source.general, [&](const char* line) { return parser.add_plain_row(line); },
        [&](const LineWalk& walk) { parser.add_row(walk); });
    rows += std::min(parser.vertex, header.vertices) - std::min(first, header.vertices);
  });
  const auto all_rows = source.transport.all_reduce(static_cast<std::int64_t>(rows), comm::Op::sum);
  const auto entries = source.transport.all_reduce(static_cast<std::int64_t>(raw.added()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (const auto count = static_cast<std::uint64_t>(all_rows); count < header.vertices)
      throw InputError(source.path + ": " + missing_rows(count, header));
    if (const auto count = static_cast<std::uint64_t>(entries); count != 2 * header.edges)
      throw InputError(source.path + ": " + wrong_neighbours(count, header));
  });
  raw.vertices = header.vertices;
  raw.vertices_known = true;
  source.log.compressed = text->compressed();
  return raw;
}

// Sizes of a graph in a METIS file, exact, from its header.
Sizes read_metis_sizes(const std::string& path, std::string_view head) {
  const MetisHeader header = read_metis_header(path, head, head.size() < kHeadBytes);
  return {header.vertices, 2 * header.edges, true, true, 0};
}

}  // namespace merganser::graphs::detail
