// Reads a CSV file of numbers: a line of names, then a line for each parcel. An empty field is a missing value. A comma separates fields
// and a line end lines, in quotation marks too, so that a file can be read from any line on.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/archive.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Returns a field without blanks around it, and without quotation marks around all of it.
std::string_view plain_field(std::string_view field) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
  return field;
}

/// Returns the name of a column as its field in the first line tells it: in quotation marks "" stands for one.
std::string column_name(std::string_view field) {
  std::string name(plain_field(field));
  if (!trimmed(field).starts_with('"')) return name;
  for (std::size_t at = 0; (at = name.find("\"\"", at)) != std::string::npos; ++at) name.erase(at, 1);
  return name;
}

/// Returns a text of the file for a message: its begin, and NUL as \0, which would end the message.
std::string shown(std::string_view text) {
  constexpr std::size_t kMax = 60;
  std::string out;
  for (const char c : text.substr(0, kMax)) out += c == '\0' ? std::string("\\0") : std::string(1, c);
  return '"' + out + (text.size() > kMax ? "...\"" : "\"");
}

/// Kinds of numbers seen in one column so far.
struct Seen {
  bool no_integer = false;  ///< a field that is empty or no whole number
  bool negative = false;
  bool large = false;             ///< a whole number above 2^63 - 1
  bool inexact = false;           ///< a whole number that a double does not hold
  std::int64_t line = 0;          ///< of the first field that is no number; 0: all are numbers
  std::string text;               ///< that field, as messages show it
  std::int64_t inexact_line = 0;  ///< of the first whole number that a double does not hold; 0: there is none
  std::string inexact_text;       ///< that number, as messages show it
};

/// Value of a field: a double, or the bits of a whole number.
struct Field {
  double number = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t bits = 0;
  bool integer = false;
};

/// Parses a field, and notes its kind. @return false if it is no number
bool parse_field(std::string_view text, Field& field, Seen& seen) {
  if (text.empty()) {
    seen.no_integer = true;
    return true;
  }
  const bool plus = text.size() > 1 && text.front() == '+' && text[1] != '-';
  const std::string_view digits = text.substr(plus ? 1 : 0);
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  if (const auto r = std::from_chars(begin, end, whole); r.ec == std::errc() && r.ptr == end) {
    field = {static_cast<double>(whole), static_cast<std::uint64_t>(whole), true};
    seen.negative = seen.negative || whole < 0;
    seen.inexact = seen.inexact || std::fabs(field.number) >= 0x1p53;  // 2^53 + 1 becomes 2^53
    return true;
  }
  if (const auto r = std::from_chars(begin, end, large); r.ec == std::errc() && r.ptr == end) {
    field = {static_cast<double>(large), large, true};
    seen.large = seen.inexact = true;
    return true;
  }
  seen.no_integer = true;
  // A whole number beyond 64 bits would be rounded to a double without a word.
  seen.inexact =
      seen.inexact || digits.find_first_not_of("0123456789", digits.front() == '-' ? 1 : 0) == std::string_view::npos;
  const auto r = std::from_chars(begin, end, field.number);
  return r.ec == std::errc() && r.ptr == end;
}

/// Checks the first line of a CSV file before it is divided into names. @throws InputError for UTF-16, and for line ends of CR alone
void check_first_line(const std::string& path, std::string_view line) {
  if (line.starts_with("\xff\xfe") || line.starts_with("\xfe\xff"))
    throw InputError(path + ": the text is in UTF-16; allowed: UTF-8");
  if (line.find('\r') != std::string_view::npos)
    throw InputError(path + ": its lines end with CR alone; allowed: LF, or CR and LF");
}

/// Checks that the names in the first line of a CSV file are not numbers. @throws InputError if all of them are
void check_names_are_none(const std::string& path, const std::string& line, const std::vector<std::string>& names) {
  const bool numbers = std::all_of(names.begin(), names.end(), [](const std::string& name) {
    Field field;
    Seen seen;
    return !name.empty() && parse_field(name, field, seen);
  });
  if (numbers) throw InputError(path + ": the first line holds numbers, " + shown(line) + "; allowed: a line of names");
}

/// Checks that commas separate the names in the first line of a CSV file. @throws InputError for one name that semicolons, tabs or
/// bars divide
void check_separator(const std::string& path, const std::vector<std::string>& names) {
  if (names.size() != 1) return;
  constexpr std::array<std::pair<char, const char*>, 3> kOthers{{{';', "semicolons"}, {'\t', "tabs"}, {'|', "bars"}}};
  for (const auto& [separator, what] : kOthers)
    if (names.front().find(separator) != std::string::npos)
      throw InputError(
          path + ": " + what +
          " seem to separate the fields of its first line; allowed: commas, and points in decimal numbers");
}

constexpr std::int64_t kPlaceEvery = 16384;  // rows, of which one has its place in the description

/// Lines of a CSV file, one by one, with their numbers and places. Local.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    if (!file_) throw InputError("cannot read " + path + ": " + std::strerror(errno));
    file_.seekg(0, std::ios::end);
    bytes_ = static_cast<std::int64_t>(file_.tellg());
    file_.seekg(0);
    if (bytes_ < 0 || !file_) throw InputError("cannot read " + path);
  }
  /// Returns true if the last byte of the file is a line end, or the file is empty.
  bool is_ended() {
    if (bytes_ == 0) return true;
    file_.clear();
    file_.seekg(-1, std::ios::end);
    const int last = file_.get();
    go_to(end_, number + 1);
    return last == '\n' || last == '\r';
  }

  /// Reads the next line, without its end. @return false at the end of the file @throws InputError if reading fails
  bool next() {
    begin_ = end_;
    if (!std::getline(file_, line)) {
      if (file_.bad()) throw InputError("cannot read " + path_);
      return false;
    }
    end_ += static_cast<std::int64_t>(line.size()) + (file_.eof() ? 0 : 1);
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    return true;
  }
  /// Goes to the byte `offset`, where a line begins, whose number is that of the next one read.
  void go_to(std::int64_t offset, std::int64_t next_number) {
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    begin_ = end_ = offset;
    number = next_number - 1;
  }
  /// Reads the first line: the names of the columns. @throws InputError for none, or too many
  std::vector<std::string> read_names() {
    if (!next()) throw InputError(path_ + ": the file is empty; allowed: CSV with a line of names");
    if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
    check_first_line(path_, line);
    const std::size_t width = static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
    constexpr std::size_t kMaxColumns = 65536;
    if (width > kMaxColumns)
      throw InputError(path_ + ": the first line has " + std::to_string(width) + " names; allowed: up to " +
                       std::to_string(kMaxColumns));
    std::vector<std::string> names;
    for (const std::string_view name : split_at(line, ',')) names.push_back(column_name(name));
    check_separator(path_, names);
    check_names_are_none(path_, line, names);
    return names;
  }
  /// Returns true for a line that is none of the table: blank, where a row has several fields.
  [[nodiscard]] bool is_blank(std::size_t width) const { return width > 1 && trimmed(line).empty(); }
  /// Returns the bytes of the file before the line that was read last, and before the next one.
  [[nodiscard]] std::int64_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::int64_t end() const noexcept { return end_; }
  /// Returns the size of the file in bytes.
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }

  std::string line;
  std::int64_t number = 0;  ///< of the line that was read last, from 1

 private:
  const std::string& path_;
  std::ifstream file_;
  std::int64_t bytes_ = 0, begin_ = 0, end_ = 0;
};

/// Contents of a share of a CSV file but its values: lines are counted in it, from 1.
struct Share {
  std::int64_t bytes = 0;          ///< size of the file
  std::vector<std::string> names;  ///< of the columns
  std::int64_t lines = 0, rows = 0;
  std::vector<Seen> seen;
  std::int64_t wrong_line = 0,
               wrong_fields = 0;  ///< of the first line with another number of fields than names; 0: none
  std::string wrong_text;         ///< that line, as messages show it
  bool ended = true;              ///< the last byte of the file is a line end
  std::vector<CsvPlace> places;
};

template <class A>
void visit_fields(A& a, Seen& v) {
  a(v.no_integer, v.negative, v.large, v.inexact, v.line, v.text, v.inexact_line, v.inexact_text);
}
template <class A>
void visit_fields(A& a, Share& v) {
  a(v.bytes, v.names, v.lines, v.rows, v.seen, v.wrong_line, v.wrong_fields, v.wrong_text, v.ended, v.places);
}

/// Reads the lines below the first that begin in share `part` of `parts` of a file's bytes. Local.
Share read_share(const std::string& path, std::int64_t part, std::int64_t parts) {
  Lines lines(path);
  Share out;
  out.bytes = lines.bytes();
  out.names = lines.read_names();
  out.ended = lines.is_ended();
  const std::size_t width = out.names.size();
  out.seen.resize(width);
  const auto share_begin = [&](std::int64_t p) {
    return p == 0 ? 0 : out.bytes / parts * p + out.bytes % parts * p / parts;
  };
  const std::int64_t stop = part + 1 == parts ? out.bytes : share_begin(part + 1);
  if (const std::int64_t begin = share_begin(part); begin > lines.end()) {
    lines.go_to(begin - 1, 0);  // the rest of the line before; if it ends just there, of its end alone
    lines.next();
  }
  lines.go_to(lines.end(), 1);
  while (lines.end() < stop && lines.next()) {
    const std::vector<std::string_view> fields = split_at(lines.line, ',');
    out.lines = lines.number;
    if (fields.size() == 1 && lines.is_blank(width)) continue;
    if (fields.size() != width) {
      out.wrong_line = lines.number;
      out.wrong_fields = static_cast<std::int64_t>(fields.size());
      out.wrong_text = shown(lines.line);
      return out;
    }
    if (out.rows % kPlaceEvery == 0) out.places.push_back({out.rows, lines.number, lines.begin()});
    for (std::size_t c = 0; c < width; ++c) {
      Field field;
      Seen& seen = out.seen[c];
      const bool was_exact = !seen.inexact;
      const bool number = parse_field(plain_field(fields[c]), field, seen);
      if (was_exact && seen.inexact) {
        seen.inexact_line = lines.number;
        seen.inexact_text = shown(fields[c]);
      }
      if (number || seen.line > 0) continue;
      seen.line = lines.number;
      seen.text = shown(fields[c]);
    }
    ++out.rows;
  }
  return out;
}

/// Adds what the next share of a file holds to that of those before it. @throws InputError for a line of another number of fields
void add_share(const std::string& path, const Share& next, Share& all) {
  if (next.bytes != all.bytes || next.names != all.names)
    throw InputError(path + ": not the same file on all ranks, or changed while it was read");
  if (next.wrong_line > 0)
    throw InputError(path + ": line " + std::to_string(all.lines + next.wrong_line) + " has " +
                     std::to_string(next.wrong_fields) + (next.wrong_fields == 1 ? " field" : " fields") +
                     "; the first line has " + std::to_string(all.names.size()) + ": " + next.wrong_text +
                     "; allowed: as many in every line, no comments, no comma within a field" +
                     comment_hint(all.names));
  for (std::size_t c = 0; c < all.seen.size(); ++c) {
    Seen& to = all.seen[c];
    const Seen& from = next.seen[c];
    to.no_integer = to.no_integer || from.no_integer;
    to.negative = to.negative || from.negative;
    to.large = to.large || from.large;
    if (!to.inexact && from.inexact) {
      to.inexact_line = all.lines + from.inexact_line;
      to.inexact_text = from.inexact_text;
    }
    to.inexact = to.inexact || from.inexact;
    if (to.line > 0 || from.line == 0) continue;
    to.line = all.lines + from.line;
    to.text = from.text;
  }
  for (const CsvPlace& p : next.places) all.places.push_back({all.rows + p.row, all.lines + p.line, p.offset});
  all.lines += next.lines;
  all.rows += next.rows;
}

/// Describes a file by its shares, all of its lines. @throws InputError if no type holds the values of a column
CsvSource describe(const std::string& path, std::span<const Share> shares) {
  Share all;
  all.bytes = shares[0].bytes;
  all.names = shares[0].names;
  all.seen.resize(all.names.size());
  all.lines = 1;  // the names
  for (const Share& share : shares) add_share(path, share, all);
  CsvSource out{all.bytes, all.rows, all.names, {}, {}, std::move(all.places)};
  if (!shares[0].ended)
    log(Level::warning, 0,
        path + ": no line end follows line " + std::to_string(all.lines) +
            ", the last; it is read as it is, but where the file was cut its last number was too");
  for (std::size_t c = 0; c < all.seen.size(); ++c) {
    const Seen& seen = all.seen[c];
    const bool integers = !seen.no_integer && all.rows > 0;
    out.texts.push_back(seen.line == 0 ? std::string()
                                       : "line " + std::to_string(seen.line) + ", " + all.names[c] + ": " + seen.text +
                                             "; allowed: a number that a double holds, or nothing for a missing value");
    if (seen.line == 0 && (integers ? seen.negative && seen.large : seen.inexact))
      throw InputError(path + ": " + all.names[c] +
                       " has whole numbers that no type holds together with its other values, the first on line " +
                       std::to_string(seen.inexact_line) + ", " + seen.inexact_text +
                       "; allowed: all from -2^63 "
                       "to 2^63 - 1, or all from 0 to 2^64 - 1, or below 2^53 beside others");
    out.types.push_back(static_cast<int>(!integers ? FileType::f64 : seen.large ? FileType::u64 : FileType::i64));
  }
  return out;
}

/// Throws InputError: the file is not as it was described.
[[noreturn]] void throw_changed(const std::string& path) {
  throw InputError(path + ": changed while it was read; allowed: a file that nobody writes");
}

}  // namespace

std::string comment_hint(const std::vector<std::string>& names) {
  return !names.empty() && names.front().starts_with('#')
             ? "; its first line begins with #, which is part of a name here (numpy.savetxt: comments='')"
             : "";
}

CsvSource scan_csv(const std::string& path) { return describe(path, std::array{read_share(path, 0, 1)}); }

std::optional<CsvSource> scan_csv(const std::string& path, comm::Transport& transport) {
  Packer packer;
  comm::agree(transport, [&] {
    Share share = read_share(path, transport.rank(), transport.size());
    packer(share);
  });
  const auto gathered = comm::gather_to_first(transport, packer.bytes());
  std::optional<CsvSource> out;
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    std::vector<Share> shares(static_cast<std::size_t>(transport.size()));
    for (std::size_t r = 0; r < shares.size(); ++r) Unpacker{gathered[r]}(shares[r]);
    out = describe(path, shares);
  });
  return out;
}

std::vector<std::vector<double>> read_csv(const std::string& path, const CsvSource& source, TableRows rows) {
  Lines lines(path);
  const std::size_t width = source.names.size();
  if (lines.bytes() != source.bytes || lines.read_names() != source.names) throw_changed(path);
  std::vector<std::vector<double>> columns(width);
  if (rows.count == 0) return columns;
  // The last place at or before the first row; rows without one are not in the file.
  const auto after = std::upper_bound(source.places.begin(), source.places.end(), rows.first,
                                      [](std::int64_t row, const CsvPlace& p) { return row < p.row; });
  if (after == source.places.begin()) throw_changed(path);
  const CsvPlace& from = *std::prev(after);
  lines.go_to(from.offset, from.line);
  for (std::int64_t row = from.row; row < rows.first + rows.count;) {
    if (!lines.next()) throw_changed(path);
    const std::vector<std::string_view> fields = split_at(lines.line, ',');
    if (fields.size() == 1 && lines.is_blank(width)) continue;
    if (fields.size() != width) throw_changed(path);
    for (std::size_t c = 0; c < width && row >= rows.first; ++c) {
      Field field;
      Seen seen;
      const bool number = parse_field(plain_field(fields[c]), field, seen);
      const FileType type{source.types[c]};
      if ((!number && source.texts[c].empty()) || (is_integer(type) && !field.integer)) throw_changed(path);
      // Beside other values a whole number is within 2^53, which a double holds.
      columns[c].push_back(is_integer(type) ? std::bit_cast<double>(field.bits) : field.number);
    }
    ++row;
  }
  return columns;
}

}  // namespace merganser::io
