#pragma once
/// Parsing of the text of Matrix Market files, shared by the reader of distributed graphs and that of process graphs. Rules:
/// packages/graph/docs/graph-files.md.
#include <cstdint>
#include <string>
#include <string_view>

#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {

/// Header of a Matrix Market file: contents of the banner and of the line of sizes.
struct MatrixHeader {
  std::uint64_t size = 0;     ///< number of rows, and of columns
  std::uint64_t entries = 0;  ///< number of entries that the line of sizes gives
  std::uint64_t at = 0;       ///< offset of the line of sizes in the text
  std::uint64_t body = 0;     ///< offset of the line after the line of sizes
  bool weighted = false;      ///< entries of the matrix have values (field integer or real)
  bool real = false;          ///< values are real numbers, not integers
  bool general = false;       ///< an entry stands for itself alone; else for both directions
};

/// Parses the header of a Matrix Market file: the banner and the line of sizes. Local.
/// @param head  the beginning of the text
/// @param whole  `head` is the whole text
/// @throws PlacedError naming the line
[[nodiscard]] MatrixHeader read_matrix_header(const std::string& path, std::string_view head, bool whole);

/// Parses a line of a Matrix Market file behind its header: an entry, a comment or nothing. An entry of a symmetric matrix, which
/// stands for two entries, is passed on once.
/// @param walk  at the line
/// @param sink  has entry(at, row, column, value), with the offset of the line, indices from 0 and the text of the
///   value (empty without), and fail(at, what), which throws an error that names the line
template <class Sink>
void parse_matrix_line(const LineWalk& walk, const MatrixHeader& header, Sink& sink) {
  Words words(walk.line());
  const std::string_view row = words.next();
  if (row.empty() || row.starts_with('%')) return;
  const std::string_view column = words.next(), value = words.next();
  std::uint64_t from = 0, to = 0;
  if (!parse_id(row, from) || from < 1 || from > header.size)
    sink.fail(walk.at(), "row " + quote(row) + "; allowed: 1 to " + std::to_string(header.size));
  if (!parse_id(column, to) || to < 1 || to > header.size)
    sink.fail(walk.at(), "column " + quote(column) + "; allowed: 1 to " + std::to_string(header.size));
  if (header.weighted ? value.empty() || !words.next().empty() : !value.empty())
    sink.fail(walk.at(), quote(walk.line()) + "; allowed: row, column" + (header.weighted ? " and value" : ""));
  sink.entry(walk.at(), from - 1, to - 1, value);
}

/// Parses consecutive lines of entries of a Matrix Market file.
/// @param offset  of `text` in the file
/// @param sink  a sink of parse_matrix_line()
template <class Sink>
void parse_matrix_entries(std::string_view text, std::uint64_t offset, const MatrixHeader& header, Sink& sink) {
  for (LineWalk walk(text, offset); walk.next();) parse_matrix_line(walk, header, sink);
}

/// Returns the error message for a Matrix Market file with another number of entries than its line of sizes gives.
[[nodiscard]] std::string wrong_entries(std::uint64_t entries, const MatrixHeader& header);

}  // namespace merganser::graphs::detail
