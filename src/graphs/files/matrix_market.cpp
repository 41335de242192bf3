// Matrix Market files: square sparse matrices; an entry is an arc.
#include <algorithm>
#include <array>
#include <cctype>

#include "src/graphs/files/raw.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {
namespace {

struct MatrixHeader {
  std::uint64_t size = 0;
  std::uint64_t entries = 0;
  std::uint64_t body = 0;  ///< offset of the first entry
  bool weighted = false;
  bool real = false;
  bool general = false;
};

[[noreturn]] void refuse_matrix(const std::string& path, int line, const std::string& what) {
  throw PlacedError(0, path + ": line " + std::to_string(line) + ": " + what);
}

std::string lower(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

void read_banner(const std::string& path, std::string_view line, MatrixHeader& header) {
  Words words(line);
  const auto is = [&](const char* what) { return lower(words.next()) == what; };
  if (!is("%%matrixmarket") || !is("matrix") || !is("coordinate"))
    refuse_matrix(path, 1, shown(line) + "; allowed: %%MatrixMarket matrix coordinate FIELD SYMMETRY");
  const std::string field = lower(words.next()), symmetry = lower(words.next());
  if (field != "pattern" && field != "integer" && field != "real")
    refuse_matrix(path, 1, "field " + shown(field) + "; allowed: pattern, integer, real");
  if (symmetry != "general" && symmetry != "symmetric" && symmetry != "skew-symmetric")
    refuse_matrix(path, 1, "symmetry " + shown(symmetry) + "; allowed: general, symmetric, skew-symmetric");
  header.weighted = field != "pattern";
  header.real = field == "real";
  header.general = symmetry == "general";
}

MatrixHeader read_matrix_header(const std::string& path, std::string_view head) {
  MatrixHeader header;
  int number = 0;
  for (LineWalk walk({head}); walk.next();) {
    const std::string_view line = walk.line();
    if (++number == 1) {
      read_banner(path, line, header);
      continue;
    }
    Words words(line);
    const std::string_view rows = words.next(), columns = words.next(), entries = words.next();
    if (rows.empty() || rows.starts_with('%')) continue;
    if (walk.after() >= head.size() && head.size() >= kHeadBytes) break;
    std::uint64_t width = 0;
    if (!parse_id(rows, header.size) || !parse_id(columns, width) || !parse_id(entries, header.entries) ||
        !words.next().empty())
      refuse_matrix(path, number, shown(line) + "; allowed: rows, columns and entries");
    if (width != header.size) refuse_matrix(path, number, shown(line) + "; allowed: as many rows as columns");
    header.body = walk.after();
    return header;
  }
  refuse_matrix(path, number + 1,
                "no sizes in the first " + std::to_string(head.size()) + " bytes; allowed: rows, columns and entries");
}

}  // namespace

Raw read_matrix_market(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  MatrixHeader header;
  agree_first(source.transport, [&] {
    header = read_matrix_header(source.path, text->head());
    const std::uint64_t most = most_vertices(text->file_bytes(), text->compressed());
    if (header.size > most)
      throw InputError(source.path + ": " + std::to_string(header.size) + " rows; allowed for a file of " +
                       std::to_string(text->file_bytes()) + " bytes: at most " + std::to_string(most));
  });
  Raw raw(source.path, source.sharing);
  raw.most = header.entries;
  raw.weighted = header.weighted;
  if (header.real) raw.widen(Numbers::real);
  text->each({header.body}, [&](const Piece& piece) {
    for (LineWalk walk(piece); walk.next();) {
      Words words(walk.line());
      const std::string_view row = words.next();
      if (row.empty() || row.starts_with('%')) continue;
      std::uint64_t from = 0, to = 0;
      for (const auto& [word, id] : {std::pair(row, &from), std::pair(words.next(), &to)}) {
        if (!parse_id(word, *id) || *id < 1 || *id > header.size)
          text->fail(piece, walk.at(),
                     "row or column " + shown(word) + "; allowed: 1 to " + std::to_string(header.size));
      }
      const std::string_view weight = words.next();
      if (header.weighted ? weight.empty() || !words.next().empty() : !weight.empty())
        text->fail(piece, walk.at(),
                   shown(walk.line()) + "; allowed: row, column" + (header.weighted ? " and value" : ""));
      if (!header.weighted)
        raw.add(from - 1, to - 1);
      else if (!raw.add(from - 1, to - 1, weight))
        text->fail(piece, walk.at(), "value " + shown(weight) + "; allowed: an integer to 64 bit or a number");
    }
  });
  const auto entries = source.transport.all_reduce(static_cast<std::int64_t>(raw.added()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (static_cast<std::uint64_t>(entries) != header.entries)
      throw InputError(source.path + ": " + std::to_string(entries) +
                       " entries; allowed: " + std::to_string(header.entries) + ", as its sizes say");
  });
  raw.vertices = header.size;
  raw.vertices_known = true;
  raw.directed = header.general;
  source.log.compressed = text->compressed();
  return raw;
}

Sizes sizes_of_matrix_market(const std::string& path, std::string_view head) {
  const MatrixHeader header = read_matrix_header(path, head);
  return {header.size, header.entries, true, false, header.real ? sizeof(Edge16) : 0};
}

}  // namespace merganser::graphs::detail
