// Reads a CSV file of numbers: a line of names, then a line for each parcel. An empty field is a missing value.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Returns a field without blanks around it, and without quotation marks around all of it.
std::string_view plain_field(std::string_view field) {
  field = trimmed(field);
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') field = field.substr(1, field.size() - 2);
  return field;
}

/// Kinds of numbers seen in one column so far.
struct Seen {
  bool no_integer = false;  ///< a field that is empty or no whole number
  bool negative = false;
  bool large = false;    ///< a whole number above 2^63 - 1
  bool inexact = false;  ///< a whole number that a double does not hold
  std::string text;      ///< where the first field is that is no number
};

/// Values of one column that are kept: doubles, or the bits of whole numbers.
struct Kept {
  std::vector<double> values;
  std::vector<bool> integer;
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

/// Reader of one CSV file, line by line.
class CsvReader {
 public:
  explicit CsvReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  CsvTable read(TableRows rows) {
    CsvTable out;
    if (!next_line()) throw InputError(path_ + ": the file is empty; allowed: CSV with a line of names");
    if (line_.starts_with("\xef\xbb\xbf")) line_.erase(0, 3);
    const std::size_t width = static_cast<std::size_t>(std::count(line_.begin(), line_.end(), ',')) + 1;
    constexpr std::size_t kMaxColumns = 65536;
    if (width > kMaxColumns)
      throw InputError(path_ + ": the first line has " + std::to_string(width) + " names; allowed: up to " +
                       std::to_string(kMaxColumns));
    for (const std::string_view name : split_at(line_, ',')) out.names.emplace_back(plain_field(name));
    std::vector<Seen> seen(width);
    std::vector<Kept> kept(width);
    while (next_line()) {
      const std::vector<std::string_view> fields = split_at(line_, ',');
      if (fields.size() == 1 && width > 1 && trimmed(line_).empty()) continue;
      if (fields.size() != width)
        throw InputError(path_ + ": line " + std::to_string(number_) + " has " + std::to_string(fields.size()) +
                         " fields; the first line has " + std::to_string(width));
      const bool keep = out.rows >= rows.first && out.rows < rows.first + rows.count;
      for (std::size_t c = 0; c < width; ++c) {
        Field field;
        if (!parse_field(plain_field(fields[c]), field, seen[c]) && seen[c].text.empty())
          seen[c].text = "line " + std::to_string(number_) + ", " + out.names[c] + ": \"" + std::string(fields[c]) +
                         "\"; allowed: a number, or nothing for a missing value";
        if (!keep) continue;
        kept[c].values.push_back(field.integer ? std::bit_cast<double>(field.bits) : field.number);
        kept[c].integer.push_back(field.integer);
      }
      ++out.rows;
    }
    for (std::size_t c = 0; c < width; ++c) settle(c, seen[c], kept[c], out);
    return out;
  }

 private:
  /// Reads the next line, without its end. @return false at the end of the file @throws InputError if reading fails
  bool next_line() {
    if (!std::getline(file_, line_)) {
      if (file_.bad()) throw InputError("cannot read " + path_);
      return false;
    }
    ++number_;
    if (line_.ends_with('\r')) line_.pop_back();
    return true;
  }

  /// Sets type and values of a column, of which all rows are known. @throws InputError if no type holds them
  void settle(std::size_t c, const Seen& seen, Kept& kept, CsvTable& out) const {
    out.texts.push_back(seen.text);
    const bool integers = !seen.no_integer && out.rows > 0;
    if (seen.text.empty() && (integers ? seen.negative && seen.large : seen.inexact))
      throw InputError(path_ + ": " + out.names[c] +
                       " has whole numbers that no type holds together with its other values; allowed: all from -2^63 "
                       "to 2^63 - 1, or all from 0 to 2^64 - 1, or below 2^53 beside others");
    out.types.push_back(!integers ? FileType::f64 : seen.large ? FileType::u64 : FileType::i64);
    // Beside other values a whole number is within 2^53, so its bits are those of a signed one.
    for (std::size_t i = 0; i < kept.values.size() && !integers; ++i)
      if (kept.integer[i]) kept.values[i] = static_cast<double>(std::bit_cast<std::int64_t>(kept.values[i]));
    out.columns.push_back(std::move(kept.values));
  }

  const std::string& path_;
  std::ifstream file_;
  std::string line_;
  std::int64_t number_ = 0;
};

}  // namespace

CsvTable read_csv(const std::string& path, TableRows rows) { return CsvReader(path).read(rows); }

}  // namespace merganser::io
