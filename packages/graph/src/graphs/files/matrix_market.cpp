// Distributed reader of Matrix Market files: square sparse matrices, an entry is an arc. All ranks read, each its lines. The serial
// reader of process graphs in src/graphs/process_files shares the parsing of the header and of entries.
#include "src/graphs/files/matrix_market.hpp"

#include <cctype>

#include "src/graphs/files/raw_sink.hpp"

namespace merganser::graphs::detail {
namespace {

/// Throws the error of a line of the header of a Matrix Market file. @throws PlacedError "PATH: line 3: what"
[[noreturn]] void refuse_matrix(const std::string& path, std::uint64_t line, const std::string& what) {
  throw PlacedError(0, path + ": line " + std::to_string(line) + ": " + what);
}

/// Returns a word of the banner of a Matrix Market file in lower case, since its words are case-insensitive.
std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Parses the first line of a Matrix Market file, the banner: type, field and symmetry of the matrix. @throws PlacedError for
/// matrices that are no graphs (dense, complex, hermitian)
void read_banner(const std::string& path, std::string_view line, MatrixHeader& header) {
  Words words(line);
  const auto is = [&](const char* what) { return lower(words.next()) == what; };
  if (!is("%%matrixmarket") || !is("matrix") || !is("coordinate"))
    refuse_matrix(path, 1, quote(line) + "; allowed: %%MatrixMarket matrix coordinate FIELD SYMMETRY");
  const std::string field = lower(words.next()), symmetry = lower(words.next());
  if (field != "pattern" && field != "integer" && field != "unsigned-integer" &&
      field != "real")  // SciPy writes the third
    refuse_matrix(path, 1, "field " + quote(field) + "; allowed: pattern, integer, unsigned-integer, real");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    refuse_matrix(path, 1, "symmetry " + quote(symmetry) + "; allowed: general, symmetric, skew-symmetric");
  header.weighted = field != "pattern";
  header.real = field == "real";
  header.general = symmetry == "general";
}

/// Adds the entry of a plain line of a Matrix Market file to this rank's arcs. @return the place behind the line; null, and nothing is
/// added, for a line that parse_matrix_line() must parse
const char* add_plain_entry(const char* line, const MatrixHeader& header, Raw& raw) {
  PlainRow row;
  const char* const end = row.scan(line, ' ');
  if (end == nullptr || row.from < 1 || row.to < 1 || row.from > header.size || row.to > header.size ||
      row.columns != (header.weighted ? 3U : 2U))
    return nullptr;
  if (!header.weighted)
    raw.add(row.from - 1, row.to - 1);
  else if (!add_plain(raw, row.from - 1, row.to - 1, row.weight))
    return nullptr;
  return end;
}

}  // namespace

// Parser of the header of a Matrix Market file: the banner, then comments, then the line of sizes.
MatrixHeader read_matrix_header(const std::string& path, std::string_view head, bool whole) {
  if (head.empty()) refuse_matrix(path, 1, "the file is empty; allowed: %%MatrixMarket matrix coordinate ...");
  MatrixHeader header;
  std::uint64_t number = 0;
  for (LineWalk walk(head); walk.next();) {
    const std::string_view line = walk.line();
    if (++number == 1) {
      read_banner(path, line, header);
      continue;
    }
    Words words(line);
    const std::string_view rows = words.next(), columns = words.next(), entries = words.next();
    if (rows.empty() || rows.starts_with('%')) continue;
    if (walk.after() >= head.size() && !whole) break;
    std::uint64_t width = 0;
    if (!parse_id(rows, header.size) || !parse_id(columns, width) || !parse_id(entries, header.entries) ||
        !words.next().empty())
      refuse_matrix(path, number, quote(line) + "; allowed: rows, columns and entries");
    if (width != header.size) refuse_matrix(path, number, quote(line) + "; allowed: as many rows as columns");
    header.at = walk.at();
    header.body = walk.after();
    return header;
  }
  refuse_matrix(path, number,
                whole ? "the file ends, no sizes; allowed: a line with rows, columns and entries"
                      : "no sizes in the first " + std::to_string(head.size()) +
                            " bytes; allowed: a line with rows, columns and entries");
}

std::string wrong_entries(std::uint64_t entries, const MatrixHeader& header) {
  return std::to_string(entries) + " entries; allowed: " + std::to_string(header.entries) + ", as its sizes say";
}

// Reader of Matrix Market files: all ranks parse the header, then each its share of the lines of entries.
Raw read_matrix_market(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  MatrixHeader header;
  agree_first(source.transport, [&] {
    header = read_matrix_header(source.path, text->head(), text->head().size() < kHeadBytes);
    check_vertices(*text, header.size, "rows");
  });
  Raw raw(source.path, source.sharing);
  raw.limit(header.entries);
  raw.weighted = header.weighted;
  if (header.real) raw.widen(Numbers::real);
  text->for_each_piece({header.body}, [&](const Piece& piece) {
    RawSink sink{*text, piece, raw};
    parse_lines(
        piece.text, piece.offset, source.general, [&](const char* line) { return add_plain_entry(line, header, raw); },
        [&](const LineWalk& walk) { parse_matrix_line(walk, header, sink); });
  });
  const auto entries = source.transport.all_reduce(static_cast<std::int64_t>(raw.added()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (const auto count = static_cast<std::uint64_t>(entries); count != header.entries)
      throw InputError(source.path + ": " + wrong_entries(count, header));
  });
  raw.vertices = header.size;
  raw.vertices_known = true;
  raw.directed = header.general;
  if (header.real) raw.beyond_real.clear();  // all values are doubles by the first line
  source.log.compressed = text->compressed();
  return raw;
}

// Sizes of a graph in a Matrix Market file, exact, from its line of sizes.
Sizes read_matrix_market_sizes(const std::string& path, std::string_view head) {
  const MatrixHeader header = read_matrix_header(path, head, head.size() < kHeadBytes);
  return {header.size, header.entries, true, false, header.real ? sizeof(Edge16) : 0};
}

}  // namespace merganser::graphs::detail
