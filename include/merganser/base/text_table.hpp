#pragma once
/// Tables of text: what separates the cells of a row is found once, from the first rows, and every row must fit it. All readers of
/// columns use it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// The cells of a row one by one, without the blanks around them and without quotes (").
class TableCells {
 public:
  /// @param separator  ',', ';' or a tab: exactly one stands between two cells; ' ': any number of blanks and tabs
  TableCells(std::string_view row, char separator);
  /// Goes to the next cell. @return false behind the last one
  bool next() {
    if (separator_ != ' ') return next_between();
    // Most tables are of this kind.
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    if (at_ == end_) return false;
    quoted_ = *at_ == '"';
    if (quoted_) {
      take_quoted();
      return true;
    }
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t') ++at_;
    cell_ = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
  }
  /// The cell, without blanks around it and quotes.
  [[nodiscard]] std::string_view cell() const { return cell_; }
  /// Whether the cell stands in quotes.
  [[nodiscard]] bool quoted() const { return quoted_; }
  /// A quote has no end on this line, or something else than a separator follows it.
  [[nodiscard]] bool malformed() const { return malformed_; }

 private:
  bool next_between();
  void take_quoted();
  void skip_blanks();

  const char* at_;
  const char* end_;
  char separator_;
  bool done_ = false;
  bool quoted_ = false;
  bool malformed_ = false;
  std::string_view cell_;
};

/// What a cell is by its first characters. A number-like cell may still be none ("1x").
enum class CellKind : std::uint8_t { empty, missing, number, name };
/// missing: nan, na, n/a, null, none, nil, nat, inf, infinity and the like, with a sign or in <>, any case; number: a digit, perhaps
/// after a sign or a point, comes first.
[[nodiscard]] CellKind cell_kind(std::string_view cell);

/// How a table is written.
struct TableDialect {
  char separator = ' ';
  bool heading = false;       ///< the first row has the names of the columns
  std::uint64_t columns = 0;  ///< 0: the table has no row
};

/// What the first rows of a table tell.
struct TableStart {
  TableDialect dialect;
  std::string refusal;             ///< why the first row is refused, "column 2: ..."; empty: it is not
  std::string note;                ///< what may not be meant as it is read; empty: nothing
  std::vector<std::string> names;  ///< of the columns, cut and printable; empty: no heading
};

/// The dialect of a table. Rules: docs/tables.md.
/// @param first, second  its first two rows, without comments and line ends; empty: there is none
[[nodiscard]] TableStart find_dialect(std::string_view first, std::string_view second);

/// "3 columns x, y, z; separator ','; heading", for reports.
[[nodiscard]] std::string dialect_text(const TableDialect& dialect, const std::vector<std::string>& names);

/// A cell as messages show it: in quotes, cut, and told what it is if it is empty or a missing number.
[[nodiscard]] std::string cell_text(std::string_view cell);

/// What the first bytes of a file say that it is, if they are those of a packed file, an archive, another encoding than UTF-8 or a
/// known binary format, with what to do: "packed by bzip2; allowed: ...". Empty: none of these.
[[nodiscard]] std::string known_signature(std::string_view head);
/// Returns what known_signature() does, and tells UTF-16 without a byte order mark by its zero bytes too. Empty: text, perhaps with a
/// byte order mark of UTF-8.
[[nodiscard]] std::string foreign_text(std::string_view head);

/// The byte order mark of UTF-8, which a text may begin with.
inline constexpr std::string_view kUtf8Mark{"\xef\xbb\xbf", 3};

/// Whether a line, without its end, has a carriage return in it, as where lines end with CR alone.
[[nodiscard]] inline bool has_bare_return(std::string_view line) { return line.find('\r') != std::string_view::npos; }
inline constexpr std::string_view kBareReturnText =
    "a carriage return (CR) without a line feed; allowed: lines that end with LF or CR LF (tr '\\r' '\\n' < FILE > "
    "NEW)";

}  // namespace merganser
