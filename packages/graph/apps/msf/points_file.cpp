// Parallel reader of tables of points: rank 0 determines the layout by the first rows, and each rank parses its share of the lines.
#include "apps/msf/points_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <numeric>
#include <string_view>

#include "apps/frame/npy.hpp"
#include "apps/msf/points_bytes.hpp"
#include "apps/msf/points_npy.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

constexpr std::uint64_t kMaxLine = 1 << 16;  // longest line of a table of points, in bytes
constexpr const char* kLongLine = "more than 65,536 bytes; allowed: the coordinates of one point";

/// Consecutive lines of a table of points that one rank parses.
struct RankLines {
  std::string text;          ///< the lines, with their ends
  std::uint64_t offset = 0;  ///< offset of the first line in the file
};
/// Reads the lines of a table of points that begin in this rank's share of the bytes. Local. A last line longer than kMaxLine is
/// cut, and refused by parse_text().
RankLines read_lines(const std::string& file, std::uint64_t size, const comm::Transport& t) {
  const PointsBytes in(file);
  const std::uint64_t begin = share_begin(size, t.rank(), t.size());
  const std::uint64_t end = share_begin(size, t.rank() + 1, t.size());
  const std::uint64_t before = begin > 0 ? 1 : 0;  // the byte before shows whether a line begins here
  std::string text = in.read(begin - before, end - begin + before);
  while (begin < end && !text.empty() && text.back() != '\n') {
    const std::string more = in.read(begin - before + text.size(), kMaxLine + 1);
    const auto stop = more.find('\n');
    text.append(more, 0, stop == std::string::npos ? std::string::npos : stop + 1);
    if (more.empty() || more.size() > kMaxLine) break;
  }
  if (before == 0) return {std::move(text), 0};
  const auto first = text.find('\n');
  // A line that ends beyond this rank's share, and the first line break of which lies there, began before it.
  if (first == std::string::npos || first >= end - begin) return {};
  return {text.substr(first + 1), begin + first};
}

/// Returns a line of a table of points without its comment, which # begins outside of quotes, and without blanks at its end.
std::string_view strip_comment(std::string_view line) {
  for (auto at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(at), '"') % 2 != 0) continue;
    line = line.substr(0, at);
    break;
  }
  while (line.ends_with(' ')) line.remove_suffix(1);
  return line;
}

/// Returns true for a row of a table of points without entries. Tabs alone are empty entries if tabs separate.
bool is_blank(std::string_view row, char separator) {
  return row.find_first_not_of(separator == '\t' ? " " : " \t") == std::string_view::npos;
}

/// Layout of a table of points, which rank 0 determines and broadcasts.
struct TableLayout {
  TableDialect dialect;                   ///< separator, number of columns, heading or none
  std::uint64_t heading_at = UINT64_MAX;  ///< offset of the line of the heading
};
/// Result of find_head() on rank 0: layout of a table of points, names of its columns, and a note for the log.
struct TableStartOfPoints {
  TableLayout head;                ///< layout of the table
  std::vector<std::string> names;  ///< names of the columns; empty: no heading
  std::string note;                ///< note on an ambiguity of the text; empty: none
};

/// Iterator over the lines at the beginning of a table of points, which is read in chunks as needed.
class FirstLines {
 public:
  /// Opens the file and reads its first chunk; a byte order mark is skipped. @throws InputError if it cannot be read
  explicit FirstLines(const std::string& file) : in_(file), text_(in_.read(0, kChunk)) {
    if (text_.starts_with(kUtf8Mark)) next_ = kUtf8Mark.size();
  }
  /// Returns the chunk of the file that was read last.
  [[nodiscard]] std::string_view chunk() const { return text_; }
  /// Advances to the next line of the table. @return false at the end, and at a line of more than kMaxLine bytes without a CR
  bool next() {
    auto end = text_.find('\n', next_);
    if (end == std::string::npos && text_.size() == kChunk) {
      offset_ += next_;
      next_ = 0;
      text_ = in_.read(offset_, kChunk);
      end = text_.find('\n');
    }
    if (next_ >= text_.size()) return false;
    end = std::min(end, text_.size());
    at = offset_ + next_;
    line = std::string_view(text_).substr(next_, end - next_);
    next_ = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line.size() <= kMaxLine || has_bare_return(line);
  }

  std::string_view line;     ///< current line, without its end
  std::uint64_t number = 0;  ///< number of the current line, from 1
  std::uint64_t at = 0;      ///< offset of the current line in the file

 private:
  static constexpr std::uint64_t kChunk = 2 * kMaxLine;
  PointsBytes in_;
  std::string text_;
  std::uint64_t offset_ = 0;
  std::size_t next_ = 0;
};

/// Determines the layout of a table of points by its first two rows. Local. @throws InputError if the file is no such table
TableStartOfPoints find_head(const std::string& file) {
  FirstLines lines(file);
  if (const auto what = foreign_text(lines.chunk()); !what.empty()) throw InputError(file + ": " + what);
  std::string rows[2];
  std::uint64_t first_line = 0, first_at = 0, tabs_line = 0;
  for (std::size_t found = 0; found < 2 && lines.next();) {
    if (has_bare_return(lines.line))
      throw InputError(fmt::format("{}: line {}: {}", file, lines.number, kBareReturnText));
    const auto row = strip_comment(lines.line);
    if (is_blank(row, ' ')) {
      if (found == 0 && tabs_line == 0 && !row.empty()) tabs_line = lines.number;
      continue;
    }
    if (found == 0) {
      first_line = lines.number;
      first_at = lines.at;
    }
    rows[found++] = row;
  }
  TableStart start = find_dialect(rows[0], rows[1]);
  if (!start.refusal.empty()) throw InputError(fmt::format("{}: row 1 (line {}), {}", file, first_line, start.refusal));
  return {
      {start.dialect, start.dialect.heading ? first_at : UINT64_MAX}, std::move(start.names), std::move(start.note)};
}

/// Coordinates in this rank's rows of a table of points, filled by parse_text(), with the first error and the first uses of both
/// decimal marks. Lines and rows are counted from 1 on this rank.
struct ParsedRows {
  std::vector<double> numbers;   ///< coordinates, row by row
  std::uint64_t lines = 0;       ///< number of lines of all kinds
  std::uint64_t rows = 0;        ///< number of rows of numbers
  std::uint64_t wrong_line = 0;  ///< first line with an error; 0: none
  std::uint64_t wrong_row = 0;   ///< row of that line; 0: the line is no row
  std::string why;               ///< error of that line
  std::uint64_t point_line = 0;  ///< first line with a decimal point; 0: none
  std::uint64_t comma_line = 0;  ///< first line with a decimal comma; 0: none
};

/// Parses a coordinate with a decimal comma. @return false if the cell is none
bool parse_with_comma(std::string_view cell, double& value) {
  if (cell.size() > 64 || std::count(cell.begin(), cell.end(), ',') != 1 || cell.find('.') != std::string_view::npos)
    return false;
  std::string with_point(cell);
  std::replace(with_point.begin(), with_point.end(), ',', '.');
  return parse_real(with_point, value);
}

/// Returns false for a cell with an integer, without point and exponent, that its double has rounded: a time in nanoseconds or an id,
/// say, of which neighbours would become equal. The shortest digits of a double, filled with zeros as some programs write them, are its own.
bool is_exact(std::string_view cell, double value) {
  if (std::fabs(value) < 0x1p53) return true;
  std::string_view digits = cell.substr(cell.starts_with('-') || cell.starts_with('+') ? 1 : 0);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return true;
  digits.remove_prefix(digits.find_first_not_of('0'));
  if (digits == fmt::format("{:.0f}", std::fabs(value))) return true;
  std::array<char, 32> text{};
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), std::fabs(value), std::chars_format::scientific);
  std::string shortest(text.data(), end.ptr);  // D.DDDe+NN
  const std::size_t exponent = shortest.find('e');
  const auto length = static_cast<std::size_t>(std::stoi(shortest.substr(exponent + 1))) + 1;
  shortest.resize(exponent);
  std::erase(shortest, '.');
  shortest.resize(length, '0');
  return digits == shortest;
}

/// Returns true if a comma may be the decimal mark in a table of points: not if commas separate columns, nor with one column, where
/// it could separate two.
bool allows_commas(const TableDialect& dialect) { return dialect.separator != ',' && dialect.columns > 1; }

/// Parses a row of a table of points and appends its coordinates to `text`. @return the error; empty if there is none
std::string parse_row(std::string_view row, const TableDialect& dialect, const std::vector<std::string>& names,
                      ParsedRows& text) {
  std::uint64_t column = 0;
  const bool commas = allows_commas(dialect);
  for (TableCells cells(row, dialect.separator); cells.next();) {
    const std::string_view cell = cells.cell();
    if (column == dialect.columns && cell.empty() && dialect.separator == '\t') continue;  // a tab that ends the row
    if (++column > dialect.columns) continue;
    double value = 0;  // of a cell that is no number parse_real() leaves what its beginning is
    bool is_number = !cells.is_malformed() && parse_real(cell, value);
    if (is_number && commas && text.point_line == 0 && cell.find('.') != std::string_view::npos)
      text.point_line = text.lines;
    if (!is_number && !cells.is_malformed() && commas && parse_with_comma(cell, value)) {
      is_number = true;
      if (text.comma_line == 0) text.comma_line = text.lines;
    }
    if (!is_number || !std::isfinite(value)) {
      return fmt::format("column {}{}: {}; allowed: finite numbers", column,
                         names.empty() ? std::string() : fmt::format(" ({})", names[column - 1]),
                         cells.is_malformed() ? "a quote without an end, or text behind it" : cell_text(cell));
    }
    if (!is_exact(cell, value))
      return fmt::format(
          "column {}{}: {}, which float64 does not hold; allowed: integers up to 2^53, or any that "
          "float64 holds exactly",
          column, names.empty() ? std::string() : fmt::format(" ({})", names[column - 1]), cell);
    text.numbers.push_back(value);
  }
  if (column == dialect.columns) return {};
  return fmt::format("column {}: {}, {} {} in the row; allowed: {}, as in {}", std::min(column, dialect.columns) + 1,
                     column > dialect.columns ? "one too many" : "is not there", column, column == 1 ? "cell" : "cells",
                     dialect.columns, dialect.heading ? "the heading" : "row 1");
}

/// Parses this rank's lines of a table of points up to the first error, and counts all lines: numbers of rows and lines in errors
/// need the counts of lower ranks. Local.
ParsedRows parse_text(const RankLines& lines, const TableStartOfPoints& found) {
  ParsedRows text;
  std::string_view bytes = lines.text;
  std::uint64_t offset = lines.offset;
  if (offset == 0 && bytes.starts_with(kUtf8Mark)) {
    offset = kUtf8Mark.size();
    bytes.remove_prefix(offset);
  }
  for (LineWalk walk(bytes, offset); walk.next();) {
    ++text.lines;
    if (text.wrong_line != 0) continue;
    const std::string_view line = walk.line();
    if (line.size() > kMaxLine) {
      text.why = kLongLine;
    } else if (has_bare_return(line)) {
      text.why = kBareReturnText;
    } else {
      const std::string_view row = strip_comment(line);
      if (is_blank(row, found.head.dialect.separator) || walk.at() == found.head.heading_at) continue;
      ++text.rows;
      text.why = parse_row(row, found.head.dialect, found.names, text);
      if (text.why.empty()) continue;
      text.wrong_row = text.rows;
    }
    text.wrong_line = text.lines;
  }
  return text;
}

/// Checks that a table of points has not both decimal points and decimal commas, on whichever ranks. Collective.
/// @return true if it has decimal commas @throws InputError on every rank
bool check_marks(const std::string& file, const ParsedRows& text, const std::vector<std::uint64_t>& lines,
                 comm::Transport& transport) {
  const auto points = comm::all_gather_value(transport, text.point_line);
  const auto commas = comm::all_gather_value(transport, text.comma_line);
  const auto first_line = [&](const std::vector<std::uint64_t>& marks) -> std::uint64_t {
    std::uint64_t before = 0;
    for (std::size_t rank = 0; rank < marks.size(); before += lines[rank], ++rank)
      if (marks[rank] != 0) return before + marks[rank];
    return 0;
  };
  const std::uint64_t point = first_line(points), comma = first_line(commas);
  comm::agree(transport, [&] {
    if (point != 0 && comma != 0)
      throw InputError(fmt::format(
          "{}: a decimal point in line {}, a decimal comma in line {}; allowed: one of the two", file, point, comma));
  });
  return comma != 0;
}

/// Reads this rank's points of a table of text. Collective. @throws InputError on every rank, naming row and line of the first
/// error
PointsOfFile read_text(const std::string& file, std::uint64_t size, comm::Transport& transport) {
  TableStartOfPoints found;
  comm::agree(transport, [&] {
    if (transport.rank() == 0) found = find_head(file);
  });
  found.head = comm::broadcast_from_first(transport, std::span(&found.head, 1)).at(0);
  const auto names = comm::broadcast_from_first(transport, joined(found.names, "\n"));
  found.names.clear();
  if (found.head.dialect.heading)
    for (const auto name : split_at(std::string_view(names.data(), names.size()), '\n')) found.names.emplace_back(name);
  ParsedRows text;
  comm::agree(transport, [&] { text = parse_text(read_lines(file, size, transport), found); });
  const auto lines = comm::all_gather_value(transport, text.lines), rows = comm::all_gather_value(transport, text.rows);
  const auto before = [&](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.begin() + transport.rank(), std::uint64_t{0});
  };
  comm::agree(transport, [&] {
    if (text.wrong_row != 0)
      throw InputError(fmt::format("{}: row {} (line {}), {}", file, before(rows) + text.wrong_row,
                                   before(lines) + text.wrong_line, text.why));
    if (text.wrong_line != 0)
      throw InputError(fmt::format("{}: line {}: {}", file, before(lines) + text.wrong_line, text.why));
    if (std::accumulate(rows.begin(), rows.end(), std::uint64_t{0}) == 0)
      throw InputError(file + ": no points; allowed: at least one row of numbers");
  });
  PointsOfFile out;
  out.format = dialect_text(found.head.dialect, found.names);
  if (check_marks(file, text, lines, transport)) out.format += "; decimal commas";
  if (!found.note.empty()) log(Level::warning, transport.rank(), file + ": " + found.note);
  out.points.dimension = static_cast<int>(found.head.dialect.columns);
  out.points.coordinates = std::move(text.numbers);
  return out;
}

/// Returns the length of a file of points, decompressed, in bytes. @throws InputError if it cannot be read or is no plain file
std::uint64_t count_bytes(const std::string& file) {
  std::error_code error;
  const bool regular = std::filesystem::is_regular_file(file, error);
  if (error) throw InputError("cannot read " + file + ": " + error.message() + "; allowed: a file that can be read");
  if (!regular) throw InputError(file + ": not a file; allowed: text or .npy");
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) throw InputError("cannot read " + file + ": " + error.message() + "; allowed: a file that can be read");
  const PointsBytes bytes(file);
  return bytes.compressed() ? bytes.count_decompressed() : size;
}

/// Returns true if a file of points begins with the signature of a NumPy array.
bool is_npy(const std::string& file) { return PointsBytes(file).read(0, kNpyMagic.size()) == kNpyMagic; }

/// Reads the header of a NumPy array of points. Local. @throws InputError for what is no array (n, d) of floating-point numbers
PointsArray read_array_header(const std::string& file, std::uint64_t size) {
  return parse_points_array(file, PointsBytes(file).read(0, kMaxNpyHead), size);
}

}  // namespace

// Size of a file of points for the forecast of memory: the number of lines is extrapolated from the first ones.
PointsSize estimate_points_size(const std::string& file) {
  const std::uint64_t size = count_bytes(file);
  const auto bytes = static_cast<double>(size);
  if (is_npy(file)) {
    const PointsArray array = read_array_header(file, size);
    return {size, static_cast<double>(array.rows), true, static_cast<int>(array.columns), 3 * bytes};
  }
  const auto columns = static_cast<int>(std::max<std::uint64_t>(1, find_head(file).head.dialect.columns));
  const std::string head = PointsBytes(file).read(0, kMaxLine);
  const auto lines = static_cast<double>(std::max<std::ptrdiff_t>(1, std::count(head.begin(), head.end(), '\n')));
  const double points = head.empty() ? 0 : std::ceil(bytes / static_cast<double>(head.size()) * lines);
  // The text, and its numbers in a list that grows.
  return {size, points, false, columns, bytes + 2 * 8 * columns * points};
}

// Reader of files of points: NumPy arrays by their signature, else tables of text.
PointsOfFile read_points(const std::string& file, comm::Transport& transport, std::uint64_t size) {
  bool npy = false;
  comm::agree(transport, [&] {
    if (size == 0 && transport.rank() == 0) size = count_bytes(file);
  });
  size = comm::broadcast_from_first(transport, std::span<const std::uint64_t>(&size, 1)).at(0);
  comm::agree(transport, [&] { npy = is_npy(file); });
  if (!npy) return read_text(file, size, transport);
  PointsOfFile out;
  comm::agree(transport, [&] { out.points = read_points_array(file, read_array_header(file, size), transport); });
  return out;
}

}  // namespace merganser::app
