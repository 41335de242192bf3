#pragma once
/// The text of METIS files, read and written, for distributed graphs and for process graphs. Rules:
/// packages/graph/docs/graph-files.md.
#include <cstdint>
#include <string>
#include <string_view>

#include "src/graphs/files/blocks.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {

/// Header of a METIS file, filled by read_metis_header(): contents of the header line, and its place in the text.
struct MetisHeader {
  std::uint64_t vertices = 0;        ///< number of vertices
  std::uint64_t edges = 0;           ///< number of undirected edges, each of which stands twice in the file
  std::uint64_t weights_before = 0;  ///< numbers of a line before the neighbours: size and weights of the vertex
  bool weighted = false;             ///< a weight follows each neighbour
  std::uint64_t at = 0;              ///< offset of the header line in the text
  std::uint64_t body = 0;            ///< offset of the line after the header line
  std::uint64_t lines_before = 0;    ///< lines up to the header line, that line included, that are no comments
};

/// Parses the header of a METIS file: the first line that is no comment. Local.
/// @param head  the beginning of the text
/// @param whole  `head` is the whole text
/// @throws PlacedError naming the line
[[nodiscard]] MetisHeader read_metis_header(const std::string& path, std::string_view head, bool whole);

/// Parses neighbours, each with its weight if there are weights, of a vertex in a METIS file, to the end of the line, and passes them on
/// to `sink`, a sink of parse_metis_rows().
/// @param word, words  the word of the first of them and the words behind it
/// @param at  offset of the line
template <class Sink>
void parse_metis_neighbours(std::string_view word, Words words, std::uint64_t at, const MetisHeader& header,
                            std::uint64_t vertex, Sink& sink) {
  for (; !word.empty(); word = words.next()) {
    std::uint64_t to = 0;
    if (!parse_id(word, to) || to < 1 || to > header.vertices)
      sink.fail(at, "neighbour " + quote(word) + "; allowed: 1 to " + std::to_string(header.vertices));
    const std::string_view weight = header.weighted ? words.next() : std::string_view();
    if (header.weighted && weight.empty())
      sink.fail(at, "weight \"\" of an edge; allowed: a number behind every neighbour");
    sink.entry(at, vertex, to - 1, weight);
  }
}

/// Parses the line of one vertex in a METIS file and passes the vertex's neighbours on to `sink`, a sink of parse_metis_rows().
/// @param word, words  the first word of its line and those behind it
/// @param at  offset of the line
template <class Sink>
void parse_metis_row(std::string_view word, Words words, std::uint64_t at, const MetisHeader& header,
                     std::uint64_t vertex, Sink& sink) {
  for (std::uint64_t i = 0; i < header.weights_before; ++i, word = words.next()) {
    std::uint64_t weight = 0;
    if (!parse_id(word, weight))
      sink.fail(at, "size or weight of a vertex " + quote(word) + "; allowed: an integer from 0 on");
  }
  parse_metis_neighbours(word, words, at, header, vertex, sink);
}

/// Parses a line of a METIS file behind its header: the neighbours of a vertex, or a comment. Every edge stands in the lines of both of
/// its ends and is passed on twice.
/// @param walk  at the line
/// @param vertex  vertex of the line unless it is a comment, from 0
/// @param sink  a sink of parse_metis_rows()
/// @return the vertex of the next line; from the number of vertices on lines must be empty
template <class Sink>
std::uint64_t parse_metis_line(const LineWalk& walk, const MetisHeader& header, std::uint64_t vertex, Sink& sink) {
  Words words(walk.line());
  const std::string_view first = words.next();
  if (first.starts_with('%')) return vertex;
  if (vertex < header.vertices)
    parse_metis_row(first, words, walk.at(), header, vertex, sink);
  else if (!first.empty())
    sink.fail(walk.at(), quote(walk.line()) + " after the last vertex; allowed: " + std::to_string(header.vertices) +
                             " lines of vertices, as the header says");
  return vertex + 1;
}

/// Parses consecutive lines of neighbours in a METIS file. Every edge stands in the lines of both of its ends and is
/// passed on twice.
/// @param offset  of `text` in the file
/// @param vertex  vertex of the first line that is no comment, from 0
/// @param sink  has entry(at, vertex, neighbour, weight), with the offset of the line, vertices from 0 and the text of
///   the weight (empty without), and fail(at, what), which throws an error that names the line
/// @return the vertex of the next line; from the number of vertices on lines must be empty
template <class Sink>
std::uint64_t parse_metis_rows(std::string_view text, std::uint64_t offset, const MetisHeader& header,
                               std::uint64_t vertex, Sink& sink) {
  for (LineWalk walk(text, offset); walk.next();) vertex = parse_metis_line(walk, header, vertex, sink);
  return vertex;
}

/// Returns the header line of a METIS file with its end of line: numbers of vertices and edges, format 001 if edges have weights.
[[nodiscard]] std::string metis_head(std::uint64_t vertices, std::uint64_t edges, bool weighted);

/// Appends the line of one vertex in a METIS file to `out`: its neighbours from 1 on, with edge weights if `weighted`.
/// @param arcs  arcs that leave the vertex; have `to`, from 0 @param weight  returns the integer weight of an arc
template <class Arcs, class Weight>
void append_metis_row(std::string& out, const Arcs& arcs, bool weighted, const Weight& weight) {
  bool rest = false;
  for (const auto& arc : arcs) {
    if (rest) out += ' ';
    rest = true;
    append_number(out, arc.to + 1);
    if (!weighted) continue;
    out += ' ';
    append_number(out, weight(arc));
  }
  out += '\n';
}

/// Returns the error message for a METIS file with fewer lines of vertices than its header gives.
[[nodiscard]] std::string missing_rows(std::uint64_t rows, const MetisHeader& header);
/// Returns the error message for a METIS file with another number of neighbours than two per edge of its header.
[[nodiscard]] std::string wrong_neighbours(std::uint64_t neighbours, const MetisHeader& header);

}  // namespace merganser::graphs::detail
