// METIS files: line i lists the neighbours of vertex i, so every edge stands twice.
#include <algorithm>

#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {
namespace {

struct MetisHeader {
  std::uint64_t vertices = 0;
  std::uint64_t edges = 0;
  std::uint64_t weights_before = 0;  ///< numbers of a line before the neighbours: size and weights of the vertex
  bool weighted = false;
  std::uint64_t body = 0;          ///< offset of the line of the first vertex
  std::uint64_t lines_before = 0;  ///< lines before it that are no comments
};

MetisHeader read_metis_header(const std::string& path, std::string_view head) {
  std::uint64_t number = 0, comments = 0;
  for (LineWalk walk({head}); walk.next();) {
    ++number;
    const std::string_view line = walk.line();
    comments += line.starts_with('%') ? 1U : 0U;
    Words words(line);
    const std::string_view n = words.next();
    if (line.starts_with('%') || n.empty()) continue;
    const auto refuse = [&](const std::string& what) {
      throw PlacedError(0, path + ": line " + std::to_string(number) + ": " + what);
    };
    MetisHeader header;
    const std::string_view m = words.next(), format = words.next(), constraints = words.next();
    if (!parse_id(n, header.vertices) || !parse_id(m, header.edges) || !words.next().empty())
      refuse(shown(line) + "; allowed: vertices, edges, and perhaps a format and a number of weights");
    const auto bad = [](char c) { return c != '0' && c != '1'; };
    if (format.size() > 3 || std::any_of(format.begin(), format.end(), bad))
      refuse("format " + shown(format) + "; allowed: up to three digits 0 or 1");
    const std::string flags = std::string(3 - format.size(), '0') + std::string(format);
    std::uint64_t weights = flags[1] == '1' ? 1 : 0;
    if (!constraints.empty() && (!parse_id(constraints, weights) || weights < 1 || weights > 64 || flags[1] == '0'))
      refuse("number of weights " + shown(constraints) + "; allowed: 1 to 64 with format 1x, else none");
    header.weights_before = weights + (flags[0] == '1' ? 1 : 0);
    header.weighted = flags[2] == '1';
    header.body = walk.after();
    header.lines_before = number - comments;
    return header;
  }
  throw PlacedError(0,
                    path + ": no line with numbers of vertices and edges; allowed: one, the first that is no comment");
}

/// The neighbours on one line.
void read_metis_row(const Text& text, const Piece& piece, const LineWalk& walk, const MetisHeader& header,
                    std::uint64_t vertex, Raw& raw) {
  Words words(walk.line());
  for (std::uint64_t i = 0; i < header.weights_before; ++i) {
    std::uint64_t weight = 0;
    if (const auto word = words.next(); !parse_id(word, weight))
      text.fail(piece, walk.at(), "size or weight of a vertex " + shown(word) + "; allowed: an integer from 0 on");
  }
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    std::uint64_t to = 0;
    if (!parse_id(word, to) || to < 1 || to > header.vertices)
      text.fail(piece, walk.at(), "neighbour " + shown(word) + "; allowed: 1 to " + std::to_string(header.vertices));
    if (!header.weighted) {
      raw.add(vertex, to - 1);
    } else if (const auto weight = words.next(); !raw.add(vertex, to - 1, weight)) {
      text.fail(piece, walk.at(), "weight " + shown(weight) + " of an edge; allowed: an integer to 64 bit or a number");
    }
  }
}

}  // namespace

Raw read_metis(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  MetisHeader header;
  agree_first(source.transport, [&] {
    header = read_metis_header(source.path, text->head());
    const std::uint64_t most = text->compressed() ? most_vertices(text->file_bytes(), true) : text->file_bytes();
    if (header.vertices > most)
      throw InputError(source.path + ": " + std::to_string(header.vertices) + " vertices; allowed for a file of " +
                       std::to_string(text->file_bytes()) + " bytes: at most " + std::to_string(most) +
                       ", since each has a line");
  });
  Raw raw(source.path, source.sharing);
  raw.most = 2 * header.edges;
  raw.weighted = header.weighted;
  std::uint64_t rows = 0;
  // No line is longer than one with all the vertices in it, in 64 bytes each.
  const Text::Each how{header.body, true, 64 * (header.vertices + 1024)};
  text->each(how, [&](const Piece& piece) {
    std::uint64_t vertex = piece.line - 1 - piece.comments - header.lines_before;
    for (LineWalk walk(piece); walk.next();) {
      if (walk.line().starts_with('%')) continue;
      if (vertex < header.vertices) {
        read_metis_row(*text, piece, walk, header, vertex, raw);
        ++rows;
      } else if (!Words(walk.line()).next().empty()) {
        text->fail(piece, walk.at(),
                   "a line after that of the last vertex; allowed: " + std::to_string(header.vertices) +
                       " lines, as the header says");
      }
      ++vertex;
    }
  });
  const auto all_rows = source.transport.all_reduce(static_cast<std::int64_t>(rows), comm::Op::sum);
  const auto entries = source.transport.all_reduce(static_cast<std::int64_t>(raw.added()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (static_cast<std::uint64_t>(all_rows) < header.vertices)
      throw InputError(source.path + ": ends after the lines of " + std::to_string(all_rows) +
                       " vertices; allowed: " + std::to_string(header.vertices) + ", as the header says");
    if (static_cast<std::uint64_t>(entries) != 2 * header.edges)
      throw InputError(source.path + ": " + std::to_string(entries) + " neighbours; allowed: " +
                       std::to_string(2 * header.edges) + ", two for each of the edges that the header tells");
  });
  raw.vertices = header.vertices;
  raw.vertices_known = true;
  source.log.compressed = text->compressed();
  return raw;
}

Sizes sizes_of_metis(const std::string& path, std::string_view head) {
  const MetisHeader header = read_metis_header(path, head);
  return {header.vertices, 2 * header.edges, true, true, 0};
}

}  // namespace merganser::graphs::detail
