// Detection of separator and heading of text tables, reading of their cells, and recognition of files that are no text.
#include "merganser/base/text_table.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"

namespace merganser {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Table cell of a row of a text table, with its kind.
struct TableCell {
  std::string_view text;  // without surrounding blanks and quotes
  CellKind kind;
  bool quoted;  // the table cell is in quotes
};

/// Splits a row of a text table into its cells.
std::vector<TableCell> split_row(std::string_view row, char separator) {
  std::vector<TableCell> cells;
  for (TableCells walk(row, separator); walk.next();)
    cells.push_back({walk.cell(), cell_kind(walk.cell()), walk.is_quoted()});
  return cells;
}

/// Returns whether a row of a text table has a cell of a kind.
bool has_kind(const std::vector<TableCell>& cells, CellKind kind) {
  return std::any_of(cells.begin(), cells.end(), [&](const TableCell& c) { return c.kind == kind; });
}

/// Returns true if a row of a text table contains a character, a possible separator, outside of quotes.
bool has_unquoted(std::string_view row, char what) {
  bool quoted = false;
  return std::any_of(row.begin(), row.end(), [&](char c) {
    quoted = quoted != (c == '"');
    return c == what && !quoted;
  });
}

/// Returns true if every cell of a row between tabs is one word, so that tabs separate. If one has blanks in it, tabs may be blanks
/// like others.
bool is_separated_by_tabs(std::string_view row) {
  const auto cells = split_row(row, '\t');
  return std::all_of(cells.begin(), cells.end(), [](const TableCell& c) {
    return c.quoted ||
           (c.text.find(' ') == std::string_view::npos && !c.text.starts_with(',') && !c.text.ends_with(','));
  });
}

/// Returns the separator of a text table, from its first two rows. Semicolons come before tabs and tabs before commas,
/// since tables with decimal commas are separated by semicolons or tabs. Names in a heading may contain blanks; tabs
/// then separate if they do so in the second row.
char find_separator(std::string_view first, std::string_view second) {
  if (has_unquoted(first, ';')) return ';';
  if (has_unquoted(first, '\t')) {
    const bool second_fits = !second.empty() && has_unquoted(second, '\t') && is_separated_by_tabs(second) &&
                             split_row(second, '\t').size() == split_row(first, '\t').size();
    if (is_separated_by_tabs(first) || second_fits) return '\t';
  }
  return has_unquoted(first, ',') ? ',' : ' ';
}

/// Returns true for rows of a text table such as "1,5, 2,5", in which commas may be decimal marks or separators.
bool is_ambiguous(std::string_view row) {
  if (row.find('.') != std::string_view::npos) return false;
  bool tight = false, loose = false;
  for (std::size_t at = 1; at + 1 < row.size(); ++at) {
    if (row[at] != ',') continue;
    tight = tight || (is_digit(row[at - 1]) && is_digit(row[at + 1]));
    loose = loose || is_blank(row[at + 1]);
  }
  return tight && loose;
}

/// Returns whether a row of a text table ends with a tab, blanks after it aside.
bool ends_with_tab(std::string_view row) { return trimmed(row, " ").ends_with('\t'); }

constexpr const char* kIndex =
    "heading, column 1 has no name: it is an index, as pandas and R write one; allowed: a table without it (pandas: "
    "to_csv(FILE, "
    "index=False), where columns have no names header=False too; R: row.names = FALSE), or a name for the column if it "
    "is a "
    "coordinate";

/// Returns the reason why the heading of a text table is refused, given the number of table cells in the row below; empty if it is
/// accepted.
std::string check_heading(const std::vector<TableCell>& names, std::size_t cells_below) {
  for (std::size_t c = 0; c < names.size(); ++c) {
    if (!names[c].text.empty() && (c > 0 || !names[c].text.starts_with("Unnamed: "))) continue;
    const std::string what = "heading, column " + std::to_string(c + 1) + " has no name";
    return c > 0 ? what + "; allowed: a name for each column" : kIndex;
  }
  // Any line of words would be the heading of an empty table; a file of another kind must not be read as one.
  if (cells_below == 0)
    return "column 1: " + cell_text(names[0].text) +
           ", names and no row below them; allowed: numbers, or a heading above rows";
  if (cells_below == names.size() + 1)
    return "heading of " + std::to_string(names.size()) + " names above " + std::to_string(cells_below) +
           " cells, column 1 has none: names of rows, as R writes them; allowed: a table without them (row.names = "
           "FALSE)";
  return {};
}

/// Returns whether a table cell is a given whole number.
bool is_whole(std::string_view cell, std::size_t value) { return cell == std::to_string(value); }
/// Returns whether a table cell is a number with a decimal mark.
bool is_fraction(const TableCell& cell) {
  return cell.kind == CellKind::number && cell.text.find_first_of(".,") != std::string_view::npos;
}

/// Returns true if table cells are 0, 1, ..., as pandas names columns without names.
bool are_counted_from_zero(std::span<const TableCell> cells) {
  std::size_t counted = 0;
  while (counted < cells.size() && is_whole(cells[counted].text, counted)) ++counted;
  return counted == cells.size();
}

/// Returns a warning for a text table of numbers of any kind (edges, points) if its first row looks like the column names, or its
/// first column like the index, that pandas writes by default; else an empty text.
std::string warn_of_index(const std::vector<TableCell>& first, const std::vector<TableCell>& second) {
  const std::size_t columns = first.size();
  if (columns < 2 || second.size() != columns) return {};
  if (are_counted_from_zero(first) && std::any_of(second.begin(), second.end(), is_fraction))
    return "row 1 is 0, 1, ... and is read as numbers; names of columns are left out by to_csv(FILE, header=False)";
  const bool index = (is_whole(first[0].text, 0) && is_whole(second[0].text, 1)) ||
                     (is_whole(first[0].text, 1) && is_whole(second[0].text, 2));
  if (index && std::all_of(first.begin() + 1, first.end(), is_fraction) &&
      std::all_of(second.begin() + 1, second.end(), is_fraction))
    return "column 1 counts rows and is read as numbers; an index is left out by to_csv(FILE, index=False)";
  return {};
}

/// First bytes of a file format that is no text table, with its description.
struct Signature {
  std::string_view bytes;  // bytes at the beginning of a file of this format
  std::string_view what;   // description with advice, for an error message
};
using namespace std::string_view_literals;
constexpr std::string_view kBzip2 = "BZh";
constexpr std::array kSignatures{
    Signature{"\x1f\x8b"sv, "packed by gzip; allowed: the unpacked file (gzip -dk FILE)"},
    Signature{kBzip2, "packed by bzip2; allowed: the unpacked file (bzip2 -dk FILE)"},
    Signature{"\xfd\x37zXZ\0"sv, "packed by xz; allowed: the unpacked file (xz -dk FILE)"},
    Signature{"\x28\xb5\x2f\xfd"sv, "packed by Zstandard; allowed: the unpacked file (zstd -dk FILE)"},
    Signature{"\x04\x22\x4d\x18"sv, "packed by LZ4; allowed: the unpacked file (lz4 -dk FILE)"},
    Signature{"LZIP"sv, "packed by lzip; allowed: the unpacked file (lzip -dk FILE)"},
    Signature{"\x1f\x9d"sv, "packed by compress; allowed: the unpacked file (gzip -dk FILE)"},
    Signature{"7z\xbc\xaf\x27\x1c"sv, "a 7z archive; allowed: the unpacked file (7z x FILE)"},
    Signature{"PK\x03\x04"sv, "a ZIP archive, as .npz and .xlsx are too; allowed: an unpacked file"},
    Signature{"PK\x05\x06"sv, "an empty ZIP archive; allowed: text"},
    Signature{"\x89HDF\r\n\x1a\n"sv, "an HDF5 or NetCDF-4 file; allowed: text"},
    Signature{"CDF\x01"sv, "a NetCDF file; allowed: text"},
    Signature{"CDF\x02"sv, "a NetCDF file; allowed: text"},
    Signature{"CDF\x05"sv, "a NetCDF file; allowed: text"},
    Signature{"PAR1"sv, "a Parquet file; allowed: text"},
    Signature{"ARROW1"sv, "an Arrow file; allowed: text"},
    Signature{"\x93NUMPY"sv, "an array of NumPy (.npy); allowed: text"},
    Signature{"MATLAB 5.0"sv, "a MATLAB file; allowed: text"},
    Signature{"%PDF"sv, "a PDF file; allowed: text"},
    Signature{"\xff\xfe\0\0"sv, "UTF-32; allowed: text in UTF-8 or ASCII (iconv -f UTF-32 -t UTF-8 FILE > NEW)"},
    Signature{"\0\0\xfe\xff"sv, "UTF-32; allowed: text in UTF-8 or ASCII (iconv -f UTF-32 -t UTF-8 FILE > NEW)"},
    Signature{"\xff\xfe"sv, "UTF-16; allowed: text in UTF-8 or ASCII (iconv -f UTF-16 -t UTF-8 FILE > NEW)"},
    Signature{"\xfe\xff"sv, "UTF-16; allowed: text in UTF-8 or ASCII (iconv -f UTF-16 -t UTF-8 FILE > NEW)"}};

}  // namespace

TableCells::TableCells(std::string_view row, char separator)
    : at_(row.data()), end_(row.data() + row.size()), separator_(separator) {
  while (end_ != at_ && end_[-1] == ' ') --end_;
}

void TableCells::skip_blanks() {
  while (at_ != end_ && (*at_ == ' ' || (*at_ == '\t' && separator_ != '\t'))) ++at_;
}

// Advances to the next cell of a row between separators that are not blanks.
bool TableCells::next_between() {
  if (done_) return false;
  skip_blanks();
  quoted_ = at_ != end_ && *at_ == '"';
  if (quoted_) {
    read_quoted();
  } else {
    const char* const begin = at_;
    while (at_ != end_ && *at_ != separator_) ++at_;
    const char* last = at_;
    while (last != begin && is_blank(last[-1])) --last;
    cell_ = {begin, static_cast<std::size_t>(last - begin)};
  }
  if (at_ == end_)
    done_ = true;
  else
    ++at_;
  return true;
}

// Reads a table cell in quotes, by RFC 4180.
void TableCells::read_quoted() {
  const char* const begin = at_ + 1;
  // Two quotes in a row are a quote within the text, as in RFC 4180.
  const char* last = begin;
  while (last != end_ && (*last != '"' || (last + 1 != end_ && last[1] == '"'))) last += *last == '"' ? 2 : 1;
  malformed_ = malformed_ || last == end_;
  cell_ = {begin, static_cast<std::size_t>(last - begin)};
  at_ = last == end_ ? last : last + 1;
  if (separator_ == ' ') {
    malformed_ = malformed_ || (at_ != end_ && !is_blank(*at_));
    return;
  }
  skip_blanks();
  malformed_ = malformed_ || (at_ != end_ && *at_ != separator_);
  while (at_ != end_ && *at_ != separator_) ++at_;
}

// Classifies a table cell by its text: number, name, missing value or empty.
CellKind cell_kind(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.empty()) return CellKind::empty;
  // A sign and a decimal mark may stand before the first digit of a number.
  std::string_view digits = cell;
  if (digits.front() == '+' || digits.front() == '-') digits.remove_prefix(1);
  if (!digits.empty() && (digits.front() == '.' || digits.front() == ',')) digits.remove_prefix(1);
  if (!digits.empty() && is_digit(digits.front())) return CellKind::number;
  std::string word;
  for (const char c : cell)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr std::array kMissing{"nan", "na",  "null",     "none",   "nil",
                                       "nat", "inf", "infinity", "nanind", "missing"};
  const bool marks_alone = word.empty() && cell.find_first_not_of("-?.*_+") == std::string_view::npos;
  const bool known = std::find(kMissing.begin(), kMissing.end(), word) != kMissing.end();
  return marks_alone || known ? CellKind::missing : CellKind::name;
}

// Detects separator and heading of a text table, or the reason to refuse it, from the first two rows.
TableStart find_dialect(std::string_view first, std::string_view second) {
  TableStart start;
  if (first.empty()) return start;
  const char separator = find_separator(first, second);
  auto cells = split_row(first, separator);
  const auto below = split_row(second, separator);
  if (separator == '\t' && cells.size() > 1 && ends_with_tab(first) && (second.empty() || ends_with_tab(second)))
    cells.pop_back();  // a tab at the end of every row is no separator
  start.dialect = {separator, has_kind(cells, CellKind::name) && !has_kind(cells, CellKind::number), cells.size()};
  if (start.dialect.heading) {
    start.refusal = check_heading(cells, second.empty() ? 0 : below.size());
    for (const TableCell& c : cells) start.names.push_back(one_line(c.text, 40));
    return start;
  }
  if (cells.size() > 1 && cells[0].kind == CellKind::empty && are_counted_from_zero(std::span(cells).subspan(1))) {
    start.refusal = kIndex;
    return start;
  }
  const auto is_quoted = [](const TableCell& c) { return c.quoted; };
  if (std::all_of(cells.begin(), cells.end(), is_quoted) && !below.empty() &&
      std::none_of(below.begin(), below.end(), is_quoted))
    start.refusal =
        "column 1: numbers in quotes above others without, a heading or a row; allowed: names that are no numbers";
  else if (separator == ',' && is_ambiguous(first))
    start.refusal =
        "column 1: commas between digits and commas before blanks, decimal marks or separators; allowed: decimal "
        "points, or "
        "';' between cells with decimal commas";
  else
    start.note = warn_of_index(cells, below);
  return start;
}

// Describes the format of a text table for reports: columns with up to 16 names, separator, heading.
std::string dialect_text(const TableDialect& dialect, const std::vector<std::string>& names) {
  std::string text = std::to_string(dialect.columns) + (dialect.columns == 1 ? " column" : " columns");
  constexpr std::size_t kMaxShown = 16;
  if (!names.empty())
    text += " " + joined(std::span(names).first(std::min(kMaxShown, names.size()))) +
            (names.size() > kMaxShown ? ", ..." : "");
  if (dialect.columns > 1)
    text += dialect.separator == ' '    ? "; separated by blanks"
            : dialect.separator == '\t' ? "; separated by tabs"
                                        : std::string("; separator '") + dialect.separator + "'";
  return text + (dialect.heading ? "; heading" : "; no heading");
}

std::string cell_text(std::string_view cell) {
  if (cell.empty()) return "an empty cell, a missing value";
  std::string text = "\"" + std::string(cell.substr(0, 40)) + "\"";
  if (cell_kind(cell) == CellKind::missing) text += ", a missing or infinite value";
  return text;
}

bool begins_as_bzip2(std::string_view head) {
  return head.size() > 4 && head.starts_with(kBzip2) && head[3] >= '1' && head[3] <= '9' &&
         (head[4] == '\x31' || head[4] == '\x17');
}

// Identifies a file that is no text table by its first bytes: the table of signatures, then tar, whose mark lies further on.
std::string known_signature(std::string_view head) {
  for (const auto& known : kSignatures)
    if (head.starts_with(known.bytes) && (known.bytes != kBzip2 || begins_as_bzip2(head)))
      return std::string(known.what);
  constexpr std::size_t kTarAt = 257;
  if (head.size() > kTarAt && head.substr(kTarAt).starts_with("ustar"))
    return "a tar archive; allowed: an unpacked file (tar -xf FILE)";
  return {};
}

// Recognises binary files that a user gives for a text table.
std::string foreign_text(std::string_view head) {
  if (const auto known = known_signature(head); !known.empty()) return known;
  // UTF-16 without a byte order mark: of the first two characters, if both are ASCII, the high or the low bytes are 0.
  const auto is_zero = [&](std::size_t at) { return head[at] == '\0'; };
  const bool pairs =
      head.size() > 3 && is_zero(0) == is_zero(2) && is_zero(1) == is_zero(3) && is_zero(0) != is_zero(1);
  if (pairs)
    return "text in UTF-16, by its zero bytes; allowed: text in UTF-8 or ASCII (iconv -f UTF-16 -t UTF-8 FILE > NEW)";
  return {};
}

}  // namespace merganser
