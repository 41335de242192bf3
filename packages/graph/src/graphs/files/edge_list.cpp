// Reader of edge lists: one edge a line, two ids or names and optionally a weight and a time, as in SNAP, KONECT, TSV and CSV files,
// or columns that a heading names. All ranks read, each its lines.
#include <algorithm>
#include <array>

#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "src/graphs/files/edge_list_heading.hpp"
#include "src/graphs/files/one_rank.hpp"
#include "src/graphs/files/raw_sink.hpp"
#include "src/graphs/files/vertex_names.hpp"

namespace merganser::graphs::detail {
namespace {

// Whether a line is a comment or a row depends on the line alone, so that any rank can decide it in any piece of the file.

/// Returns true for a line of an edge list file that is a comment: it begins with #, % or //.
bool is_comment(std::string_view line) {
  line = BlankWords(line).rest();
  return line.starts_with('#') || line.starts_with('%') || line.starts_with("//");
}
/// Returns true for a line of an edge list file that holds an edge or the heading of the table.
bool is_row(std::string_view line) {
  if (!line.empty() && line.front() >= '0' && line.front() <= '9') return true;  // as nearly all are
  return !BlankWords(line).rest().empty() && !is_comment(line);
}

/// Information of the lines of an edge list file before the first edge, filled by read_preface(): comments of SNAP and KONECT, and
/// the heading of a table.
struct Preface {
  std::uint64_t vertices = 0;      ///< number of vertices by a comment "# vertices: N"
  bool vertices_known = false;     ///< there is such a comment
  bool konect = false;             ///< a KONECT file, whose ids count from 1
  bool bipartite = false;          ///< ids of the second column count apart from those of the first
  bool undirected = false;         ///< an entry stands for both directions
  bool weights = true;             ///< a third column holds weights
  TableDialect dialect;            ///< separator, heading and columns of the table; 0 columns: no row seen
  std::vector<std::string> names;  ///< names of the columns by the heading
  /// For each column what it holds: 0 and 1 the ends, 2 the weight, 3 nothing that is used. Empty: the columns are in this order.
  std::vector<std::uint8_t> roles;
  std::uint64_t heading_at = UINT64_MAX;  ///< offset of the line of the heading
  std::uint64_t first_row_at = 0;         ///< offset of the first row
};

/// Reads a comment of an edge list file before the first edge into `preface`; the first line of a KONECT file gives the kind of
/// graph and of weights. @param first  the comment is the first line of the file
void read_comment(std::string_view line, bool first, Preface& preface) {
  line = BlankWords(line).rest();
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

/// Reads the lines of an edge list up to the second edge, from which the separator and a heading are determined.
/// @param named  vertices are named by text
/// @throws PlacedError
Preface read_preface(const std::string& path, std::string_view head, bool named) {
  Preface preface;
  std::array<std::string_view, 2> rows;
  std::uint64_t number = 0, first_line = 0, first_at = 0;
  std::size_t found = 0;
  for (LineWalk walk(head); walk.next() && found < rows.size();) {
    ++number;
    const std::string_view line = walk.line();
    if (found == 0 && is_comment(line)) read_comment(line, number == 1, preface);
    if (!is_row(line)) continue;
    if (walk.after() >= head.size() && head.size() >= kHeadBytes) break;  // it may go on
    if (found == 0) {
      first_line = number;
      first_at = walk.at();
    }
    rows[found++] = line;
  }
  TableStart start = find_start(rows[0], rows[1], named);
  if (!start.refusal.empty())
    throw PlacedError(0, path + ": line " + std::to_string(first_line) + ": " + start.refusal);
  preface.roles = choose_columns(path, first_line, start.names, rows[1], start.dialect.separator);
  if (preface.roles.empty()) check_order(path, first_line, start.names);
  preface.dialect = start.dialect;
  preface.names = std::move(start.names);
  preface.first_row_at = first_at;
  if (start.dialect.heading) preface.heading_at = first_at;
  if (named && preface.bipartite)
    throw PlacedError(0,
                      path + ": line 1: two kinds of vertices (% bip) with names; allowed: names in other edge lists");
  return preface;
}

/// Parser of one rank's lines of an edge list; checks that all have the same number of columns.
class EdgeListParser {
 public:
  /// Takes the open file, the information before its first edge, and the destination of the arcs; all must outlive the parser.
  /// @param general  no line is taken as a plain one
  /// @param table  names of vertices are added to it; null: vertices have ids
  EdgeListParser(const Text& text, const Preface& preface, Raw& raw, bool general, NameTable* table)
      : text_(text),
        raw_(raw),
        table_(table),
        first_(preface.konect ? 1 : 0),
        vertices_(preface.vertices_known ? preface.vertices : std::uint64_t{1} << 63),
        columns_(preface.dialect.columns),
        preface_(preface),
        general_(general || table != nullptr || !preface.roles.empty()) {}

  /// Parses the lines of a piece of an edge list file and adds their arcs to this rank's. @throws PlacedError naming the line
  void operator()(const Piece& piece) {
    // A heading may look like a row. Without one in the piece, the difference is beyond the piece.
    const std::uint64_t heading = preface_.heading_at - piece.offset;
    const char* const heading_line = heading < piece.text.size() ? piece.text.data() + heading : nullptr;
    parse_lines(
        piece.text, piece.offset, general_,
        [&](const char* line) { return line == heading_line ? nullptr : add_plain_row(line); },
        [&](const LineWalk& walk) {
          if (!is_row(walk.line()))
            late_comments_ += walk.at() > preface_.first_row_at && is_comment(walk.line()) ? 1U : 0U;
          else if (walk.at() != preface_.heading_at)
            add(piece, walk.line(), walk.at());
        });
  }
  /// Returns the number of columns of this rank's lines; 0 if neither the file's beginning nor this rank has rows.
  [[nodiscard]] std::uint64_t columns() const { return columns_; }
  /// Returns the number of this rank's comments behind the first row, of those that the general parser has seen.
  [[nodiscard]] std::uint64_t late_comments() const { return late_comments_; }

 private:
  /// Adds the edge of a plain line of an edge list to this rank's arcs. @return the place behind the line; null, and nothing is added,
  /// for a line that add() must parse
  const char* add_plain_row(const char* line) {
    PlainRow row;
    const char* const end = row.scan(line, preface_.dialect.separator);
    if (end == nullptr || row.columns != columns_ || row.from < first_ || row.to < first_ || row.from >= vertices_ ||
        row.to >= vertices_)
      return nullptr;
    const std::uint64_t from = row.from - first_, to = row.to - first_;
    if (row.columns == 2 || !preface_.weights)
      raw_.add(from, to);
    else if (!add_plain(raw_, from, to, row.weight))
      return nullptr;
    if (preface_.bipartite) raw_.left = std::max(raw_.left, from + 1);
    return end;
  }

  /// Parses a line of an edge list at offset `at` and adds its edge to this rank's arcs. @throws PlacedError naming line and column
  void add(const Piece& piece, std::string_view line, std::uint64_t at) {
    std::array<std::string_view, kMaxColumns> cell;  // fields of the line
    std::uint64_t columns = 0;
    const char separator = preface_.dialect.separator;
    if (table_ != nullptr && has_bare_return(line)) text_.fail(piece, at, std::string(kBareReturnText));
    for (TableCells cells(line, separator); cells.next();) {
      const bool ends_row = separator == '\t' && columns == columns_ && cells.cell().empty();
      if (ends_row) continue;  // a tab behind the last cell
      const std::size_t role = role_of(columns);
      if (role < kMaxColumns) cell[role] = cells.cell();
      ++columns;
      if (table_ != nullptr && role < 2 && !cells.is_quoted() && cells.cell().find('"') != std::string_view::npos)
        text_.fail(piece, at,
                   "column " + std::to_string(columns) + ": a quote within " + cell_text(cells.cell()) +
                       "; allowed: names with a quote in quotes, the quote doubled");
      if (cells.is_malformed() || (cells.cell().empty() && (preface_.roles.empty() || role < 3)))
        text_.fail(piece, at,
                   "column " + std::to_string(columns) + ": " +
                       (cells.is_malformed() ? "a quote without an end, or text behind it" : cell_text({})) +
                       (table_ == nullptr ? "; allowed: ids from 0 on, and a number for a weight"
                                          : "; allowed: names, and a number for a weight"));
    }
    if (columns_ == 0) columns_ = columns;
    if (columns < 2 || (columns > kMaxColumns && preface_.roles.empty()))
      text_.fail(piece, at, quote(line) + "; allowed: two ids, and perhaps a weight and a time");
    if (columns != columns_) {
      text_.fail(piece, at,
                 quote(line) + " has " + std::to_string(columns) + " columns; allowed: " + std::to_string(columns_) +
                     ", as in the lines before");
    }
    const std::uint64_t from = id(piece, at, cell[0], 0), to = id(piece, at, cell[1], 1);
    const std::string_view weight = preface_.weights ? cell[2] : std::string_view();
    if (weight.empty())
      raw_.add(from, to);
    else if (!raw_.add(from, to, weight))
      text_.fail(piece, at,
                 "column " + std::to_string(column_of(2)) + ": weight " + quote(weight) +
                     "; allowed: an integer to 64 bit or a number");
    if (preface_.bipartite) raw_.left = std::max(raw_.left, from + 1);
  }

  /// Returns what a column of an edge list, counted from 0, holds: 0 and 1 the ends, 2 the weight, more: nothing that is used.
  [[nodiscard]] std::size_t role_of(std::uint64_t column) const {
    if (preface_.roles.empty()) return static_cast<std::size_t>(column);
    return column < preface_.roles.size() ? preface_.roles[column] : kMaxColumns;
  }
  /// Returns the column of an edge list, counted from 1, that holds an end (0, 1) or the weight (2).
  [[nodiscard]] std::size_t column_of(std::uint8_t role) const {
    if (preface_.roles.empty()) return role + std::size_t{1};
    const auto found = std::find(preface_.roles.begin(), preface_.roles.end(), role);
    return static_cast<std::size_t>(found - preface_.roles.begin()) + 1;
  }

  /// Parses the vertex in a cell of an edge list. @param end  0 or 1 @return the id, counted from 0; with names the number of the name
  /// in the table. @throws PlacedError for a word that is no id, and for an id beyond the number of vertices that a comment gives
  std::uint64_t id(const Piece& piece, std::uint64_t at, std::string_view word, std::uint8_t end) const {
    if (table_ != nullptr) {
      if (word.find('"') == std::string_view::npos) return table_->number(word, 2 * at + end);
      return table_->number(unquoted(word), 2 * at + end);
    }
    const std::size_t column = column_of(end);
    std::uint64_t value = 0;
    const bool is_number = parse_id(word, value);
    if (!is_number || value < first_)
      text_.fail(piece, at,
                 "column " + std::to_string(column) + ": vertex " + quote(word) +
                     "; allowed: " + std::to_string(first_) + " to below 2^63" +
                     (is_number || first_ != 0
                          ? ""
                          : ", or names (--names of msf, linkage and graph convert, names=True in Python)"));
    if (preface_.vertices_known && value >= preface_.vertices) {
      text_.fail(piece, at,
                 "column " + std::to_string(column) + ": vertex " + quote(word) + "; allowed: below " +
                     std::to_string(preface_.vertices) + ", the number of vertices told above");
    }
    return value - first_;
  }

  /// Returns the text of a cell in quotes: of two quotes in a row one stays.
  static std::string unquoted(std::string_view cell) {
    std::string text;
    for (std::size_t at = 0; at < cell.size(); ++at) {
      text += cell[at];
      if (cell[at] == '"' && at + 1 < cell.size() && cell[at + 1] == '"') ++at;
    }
    return text;
  }

  const Text& text_;
  Raw& raw_;
  NameTable* table_;        ///< names of vertices; null: vertices have ids
  std::uint64_t first_;     ///< least id of the file: 1 in KONECT files, else 0
  std::uint64_t vertices_;  ///< ids of the file must be below it
  std::uint64_t columns_;   ///< number of columns of a line; 0: not known yet
  const Preface& preface_;
  bool general_;                     ///< no line is taken as a plain one
  std::uint64_t late_comments_ = 0;  ///< comments behind the first row
};

/// Returns the note that names the columns of an edge list which are not used.
std::string unused_text(const Preface& preface) {
  std::vector<std::string> unused;
  for (std::size_t c = 0; c < preface.roles.size(); ++c)
    if (preface.roles[c] == 3) unused.push_back(preface.names[c]);
  constexpr std::size_t kMaxShown = 16;
  const bool more = unused.size() > kMaxShown;
  if (more) unused.resize(kMaxShown);
  return "columns by the heading; not used: " + (unused.empty() ? "none" : joined(unused, ", ")) +
         (more ? ", ..." : "");
}

/// Checks that an edge list names as many vertices as a comment of it tells. Collective. @throws InputError on every rank
void check_named_vertices(const Source& source, const Preface& preface, const Raw& raw) {
  if (!source.names || !preface.vertices_known) return;
  const auto named = source.transport.all_reduce(static_cast<std::int64_t>(raw.names.size()), comm::Op::sum);
  agree_first(source.transport, [&] {
    if (static_cast<std::uint64_t>(named) != preface.vertices)
      throw InputError(source.path + ": " + std::to_string(named) +
                       " names of vertices; allowed: " + std::to_string(preface.vertices) +
                       ", the number of vertices told above, all of which have edges");
  });
}

}  // namespace

// Reader of edge lists: all ranks parse the first lines alike, then each its share of the lines.
Raw read_edge_list(const Source& source) {
  const auto text = Text::open(source.path, source.transport);
  Preface preface;
  agree_first(source.transport, [&] {
    preface = read_preface(source.path, text->head(), source.names);
    if (preface.heading_at == 0) preface.heading_at = text->start();
    if (preface.vertices_known) check_vertices(*text, preface.vertices, "vertices");
  });
  Raw raw(source.path, source.sharing);
  NameTable table(source.path, source.sharing);
  EdgeListParser parser(*text, preface, raw, source.general, source.names ? &table : nullptr);
  text->for_each_piece({}, [&](const Piece& piece) { parser(piece); });
  const auto all = [&](std::uint64_t columns, comm::Op op) {
    return source.transport.all_reduce(static_cast<std::int64_t>(columns), op);
  };
  const auto most_columns = all(parser.columns(), comm::Op::max);
  const auto fewest_columns = all(parser.columns() == 0 ? kMaxNamedColumns + 1 : parser.columns(), comm::Op::min);
  agree_first(source.transport, [&] {
    if (most_columns > fewest_columns)
      throw InputError(source.path + ": lines of " + std::to_string(fewest_columns) + " and of " +
                       std::to_string(most_columns) + " columns; allowed: the same number in all");
  });
  if (source.names) merge_names(table, raw, source.transport);
  check_named_vertices(source, preface, raw);
  raw.vertices = preface.vertices;
  raw.vertices_known = preface.vertices_known && !source.names;
  raw.weighted = preface.weights && (preface.roles.empty() ? most_columns >= 3
                                                           : std::find(preface.roles.begin(), preface.roles.end(), 2) !=
                                                                 preface.roles.end());
  raw.directed = !preface.undirected;
  raw.bipartite = preface.bipartite;
  if (preface.dialect.columns > 0) raw.lines.push_back("edge list: " + dialect_text(preface.dialect, preface.names));
  if (preface.konect) raw.lines.emplace_back("KONECT file: ids are made to begin with 0");
  if (preface.bipartite) raw.lines.emplace_back("bipartite: ids of the second column follow those of the first");
  if (!preface.roles.empty())
    raw.lines.push_back(unused_text(preface));
  else if (most_columns == 4)
    raw.lines.emplace_back("the fourth column is not used");
  if (source.names)
    raw.lines.emplace_back("vertices are named: they are numbered in the order of the first places of their names");
  const auto comments = source.names ? all(parser.late_comments(), comm::Op::sum) : 0;
  if (comments > 0)
    raw.lines.push_back("taken for comments, not for names: " + std::to_string(comments) +
                        " lines behind the first row that begin with #, % or //");
  source.log.compressed = text->compressed();
  return raw;
}

// An edge list has no header, so sizes are extrapolated from the lines in its first bytes.
Sizes read_edge_list_sizes(const std::string& path, std::string_view head, bool names) {
  const Preface preface = read_preface(path, head, names);
  std::uint64_t lines = 0, bytes = 0, greatest = 0;
  bool real = false;
  for (LineWalk walk(head); walk.next();) {
    if (!is_row(walk.line())) continue;
    TableCells cells(walk.line(), preface.dialect.separator);
    const auto next = [&] { return cells.next() ? cells.cell() : std::string_view(); };
    const std::string_view a = next(), b = next(), weight = next();
    std::uint64_t from = 0, to = 0;
    const bool numbers = parse_id(a, from) && parse_id(b, to);
    if (!numbers && !names && preface.roles.empty()) continue;
    ++lines;
    bytes += walk.after() - walk.at();
    if (numbers && !names) greatest = std::max({greatest, from + 1, to + 1});
    // Which column has weights is not looked for: in doubt edges are forecast larger.
    real = real || !preface.roles.empty() || weight.find_first_of(".eE-") != std::string_view::npos;
  }
  Sizes sizes;
  if (lines == 0) return sizes;
  if (head.size() < kHeadBytes) {
    sizes.arcs = lines;
  } else {
    sizes.arcs = File(path).size() * expansion(path) / (bytes / lines) + 1;
  }
  sizes.vertices = std::min(std::max(greatest, sizes.arcs / 8), 2 * sizes.arcs);
  sizes.exact = false;
  sizes.edge_bytes = real ? sizeof(Edge16) : 0;
  return sizes;
}

}  // namespace merganser::graphs::detail
