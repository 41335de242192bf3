#pragma once
/// Shared parts of the readers of text formats: a sink for the entries of a piece of text, and a limit of vertices.
#include <string>
#include <string_view>

#include "src/graphs/files/plain_lines.hpp"
#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {

/// Adds an arc of a plain line of a graph file, with a weight, to this rank's. @return false if the weight is malformed; then nothing
/// is added
inline bool add_plain(Raw& raw, std::uint64_t from, std::uint64_t to, const PlainWeight& weight) {
  if (weight.kind == PlainWeight::Kind::integer) return raw.add(from, to, weight.integer);
  if (weight.kind == PlainWeight::Kind::real)
    raw.add_real(from, to, weight.real);
  else
    raw.add_natural(from, to, weight.natural);
  return true;
}

/// Sink of the parsers of text formats (METIS, Matrix Market, DIMACS) that adds the entries of one piece of a graph file to this
/// rank's arcs.
struct RawSink {
  const Text& text;    ///< graph file, for errors
  const Piece& piece;  ///< lines that are parsed
  Raw& raw;            ///< destination of the arcs

  /// Adds an arc of a graph file; `at` is the offset of its line, `weight` the text of its weight, empty without. @throws
  /// PlacedError for a bad weight
  void entry(std::uint64_t at, std::uint64_t from, std::uint64_t to, std::string_view weight) {
    if (weight.empty())
      raw.add(from, to);
    else if (!raw.add(from, to, weight))
      fail(at, "weight " + quote(weight) + "; allowed: an integer to 64 bit or a number");
  }
  /// Throws the error of a line of a graph file. @throws PlacedError that names the line at offset `at`
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const { text.fail(piece, at, what); }
};

/// Checks that the header of a text graph file does not announce more vertices than max_vertices() accepts for its length. Local.
/// @param what  the format's word for vertices
/// @throws InputError if it may not
inline void check_vertices(const Text& text, std::uint64_t vertices, const char* what) {
  const std::uint64_t most = max_vertices(text.file_bytes(), text.compressed());
  if (vertices > most)
    throw InputError(text.path() + ": " + std::to_string(vertices) + ' ' + what + "; allowed for a file of " +
                     std::to_string(text.file_bytes()) + " bytes: at most " + std::to_string(most));
}

}  // namespace merganser::graphs::detail
