#pragma once
/// Parsing of text tables (CSV and the like): separator and heading are detected once, from the first two rows, and every row must
/// match them. All readers of tables of numbers use it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Forward iteration over the table cells of a row, without surrounding blanks and quotes ("). Refers to the row.
class TableCells {
 public:
  /// Starts before the first table cell of a row without a line end.
  /// @param separator  ',', ';' or a tab: exactly one is between two table cells; ' ': any number of blanks and tabs is
  TableCells(std::string_view row, char separator);
  /// Advances to the next cell of the row of a text table. @return false after the last one
  bool next() {
    if (separator_ != ' ') return next_between();
    // Inline, since most tables are separated by blanks and reading them is bound by this loop.
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    if (at_ == end_) return false;
    quoted_ = *at_ == '"';
    if (quoted_) {
      read_quoted();
      return true;
    }
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t') ++at_;
    cell_ = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
  }
  /// Returns the current table cell, without surrounding blanks and quotes.
  [[nodiscard]] std::string_view cell() const { return cell_; }
  /// Returns true if the current cell of the row of a text table is in quotes.
  [[nodiscard]] bool is_quoted() const { return quoted_; }
  /// Returns true if a quote of the row, up to the current table cell, is not closed or is followed by something else than a
  /// separator.
  [[nodiscard]] bool is_malformed() const { return malformed_; }

 private:
  /// Advances to the next table cell of a row with ',', ';' or a tab between cells. @return false after the last one
  bool next_between();
  /// Reads a table cell in quotes, by RFC 4180, and notes if its quotes are malformed.
  void read_quoted();
  /// Skips blanks within a row, and tabs unless they are its separator.
  void skip_blanks();

  const char* at_;          // first character of the row that is not read yet
  const char* end_;         // end of the row, without blanks
  char separator_;          // ',', ';', a tab, or ' ' for any number of blanks and tabs
  bool done_ = false;       // the last table cell was read
  bool quoted_ = false;     // the current table cell is in quotes
  bool malformed_ = false;  // a quote is not closed or is followed by something else than a separator
  std::string_view cell_;   // current table cell
};

/// Class of a table cell by its first characters. One of class number may still fail to parse ("1x").
enum class CellKind : std::uint8_t { empty, missing, number, name };
/// Classifies a table cell. Missing: nan, na, n/a, null, none, nil, nat, inf, infinity and the like, with a sign or in <>, in any
/// case, and punctuation such as "?" or "-"; number: begins with a digit, possibly after a sign or a point; empty: blanks alone;
/// else name.
[[nodiscard]] CellKind cell_kind(std::string_view cell);

/// Format of a text table (CSV and the like): separator, heading and number of columns.
struct TableDialect {
  char separator = ' ';       ///< ',', ';', a tab, or ' ' for any number of blanks and tabs
  bool heading = false;       ///< true if the first row has the names of the columns
  std::uint64_t columns = 0;  ///< number of columns; 0: the table has no row
};

/// Result of the analysis of the first two rows of a text table; find_dialect() returns it.
struct TableStart {
  TableDialect dialect;  ///< separator, heading and number of columns
  std::string refusal;   ///< reason why the first row is ambiguous or invalid, "column 2: ..."; empty if it is neither
  std::string note;      ///< warning about a row that is read as numbers but may be a heading or an index; empty: none
  std::vector<std::string> names;  ///< names of the columns, cut to 40 bytes and printable; empty without a heading
};

/// Detects separator, heading and number of columns of a text table, by the rules of docs/tables.md.
/// @param first, second  its first two rows, without comments and line ends; empty if there are fewer
[[nodiscard]] TableStart find_dialect(std::string_view first, std::string_view second);

/// Describes the format of a text table for reports: "3 columns x, y, z; separator ','; heading".
[[nodiscard]] std::string dialect_text(const TableDialect& dialect, const std::vector<std::string>& names);

/// Formats a table cell for messages: in quotes and cut to 40 bytes, with a remark if it is empty or a missing number.
[[nodiscard]] std::string cell_text(std::string_view cell);

/// Returns true if a file begins as bzip2 writes it: BZh, the size of blocks in a digit, and the first byte of a block or of the end of
/// the stream. A text may begin with the three letters. @param head  the first bytes of the file; 5 are needed
[[nodiscard]] bool begins_as_bzip2(std::string_view head);
/// Identifies a file by its first bytes as a compressed file, an archive, text in another encoding than UTF-8, or a known binary
/// format.
/// @param head  the first bytes of the file; 262 are needed to identify all formats
/// @return the format with advice, "packed by bzip2; allowed: ..."; an empty string for other files
[[nodiscard]] std::string known_signature(std::string_view head);
/// Identifies a file that is not text in UTF-8 or ASCII by its first bytes: by known_signature(), or as UTF-16 without a byte order
/// mark by its zero bytes. @return the format with advice; an empty string for text, with or without a byte order mark of UTF-8
[[nodiscard]] std::string foreign_text(std::string_view head);

/// Byte order mark of UTF-8, which a text file may begin with.
inline constexpr std::string_view kUtf8Mark{"\xef\xbb\xbf", 3};

/// Returns true if a line of a text table, without its end, contains a carriage return, as in files whose lines end with CR alone.
[[nodiscard]] inline bool has_bare_return(std::string_view line) { return line.find('\r') != std::string_view::npos; }
/// Error text for a line of a text table that contains a carriage return without a line feed.
inline constexpr std::string_view kBareReturnText =
    "a carriage return (CR) without a line feed; allowed: lines that end with LF or CR LF (tr '\\r' '\\n' < FILE > "
    "NEW)";

}  // namespace merganser
