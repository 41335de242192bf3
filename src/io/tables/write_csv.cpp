// Writes parcels as CSV: a line of names, then a line for each parcel, every number with all its digits.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Appends a number in the shortest text that reads back to the same double, with ".0" behind a whole one so that it is told from
/// an integer; nothing for NaN, a missing value.
void append_double(std::string& out, double x) {
  if (std::isnan(x)) return;
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), x);
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  out += digits;
  if (digits.find_first_not_of("-0123456789") == std::string_view::npos) out += ".0";
}

/// Appends an integer of a column, whose bits or value a double holds.
void append_integer(std::string& out, const Column& column, double x) {
  std::array<char, 32> text{};
  const auto put = [&](auto value) {
    const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
    out.append(text.data(), end);
  };
  if (!column.bits()) {
    if (!std::isnan(x)) put(static_cast<std::int64_t>(x));
  } else if (column.type == FileType::u64) {
    put(std::bit_cast<std::uint64_t>(x));
  } else {
    put(std::bit_cast<std::int64_t>(x));
  }
}

/// Returns the name of a column in the first line of the file. @throws InputError for one that the line cannot hold
std::string name_in_file(const FileMetadata& metadata, const std::string& column) {
  std::string name = column;
  for (const ColumnName& c : metadata.csv_names)
    if (c.column == column) name = c.name;
  if (name.empty() || name.find_first_of(",\"\r\n") != std::string::npos || name.front() == ' ' || name.back() == ' ')
    throw InputError("cannot write the column \"" + name +
                     "\" as CSV; allowed: names without comma, quotation mark, line end and blanks at their ends");
  return name;
}

/// Returns the first line of the file: the names of the columns. @throws InputError for names that the line cannot hold
std::string heading(const std::vector<Column>& list, const FileMetadata& metadata) {
  for (const ColumnName& given : metadata.csv_names)
    if (std::none_of(list.begin(), list.end(), [&](const Column& c) { return c.name == given.column; })) {
      std::string all;
      for (const Column& c : list) all += (all.empty() ? "" : ", ") + c.name;
      throw InputError("--columns " + given.column + "=" + given.name + ": no column " + given.column +
                       " is written as CSV; allowed: " + all);
    }
  std::vector<std::string> names;
  std::string line;
  for (const Column& c : list) {
    const std::string name = name_in_file(metadata, c.name);
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw InputError("two columns would have the name " + name + " in CSV; allowed: distinct names (--columns)");
    names.push_back(name);
    line += (line.empty() ? "" : ",") + name;
  }
  return line + "\n";
}

/// Makes the lines of parcels from the values of their columns.
void make_lines(const std::vector<Column>& list, std::span<const double> rows, std::string& text) {
  text.clear();
  for (std::size_t at = 0; at < rows.size(); at += list.size()) {
    for (std::size_t c = 0; c < list.size(); ++c) {
      if (c > 0) text += ',';
      is_integer(list[c].type) ? append_integer(text, list[c], rows[at + c]) : append_double(text, rows[at + c]);
    }
    text += '\n';
  }
}

}  // namespace

// Where a rank's lines begin depends on the length of those of the ranks before, so every rank makes its lines, and writes them once
// it knows: those that it kept, and the others, made again.
void write_csv(ByteSink& sink, const ParticlesToWrite& in, comm::Transport& transport) {
  constexpr std::size_t kKept = std::size_t{64} << 20;  // bytes of lines that a rank keeps
  GatheredParcels gathered(
      in.parcels, 1, [](std::size_t) { return 0; }, transport);
  std::vector<Column> list{in.columns.back()};  // ids first
  list.insert(list.end(), in.columns.begin(), in.columns.end() - 1);
  std::optional<std::uint64_t> begin;
  gathered.on_first([&] {
    sink.put(heading(list, in.metadata));
    begin = sink.size();
  });
  begin = gathered.from_first(begin);
  const auto row = [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, list, parcels, to); };
  std::string text, kept;
  std::uint64_t length = 0;
  std::int64_t rows_kept = 0;
  if (begin)
    gathered.visit_own(0, list.size(), row, [&](std::int64_t, std::span<const double> rows) {
      make_lines(list, rows, text);
      if (length == kept.size() && kept.size() + text.size() <= kKept) {
        kept += text;
        rows_kept += static_cast<std::int64_t>(rows.size() / list.size());
      }
      length += text.size();
    });
  const std::vector<std::uint64_t> lengths = comm::all_gather_value(transport, length);
  if (begin) {
    std::uint64_t at = *begin;
    for (int r = 0; r < transport.rank(); ++r) at += lengths[static_cast<std::size_t>(r)];
    gathered.on_this_rank([&] { sink.file().write(at, kept.data(), kept.size()); });
    at += kept.size();
    const auto write_lines = [&](std::int64_t, std::span<const double> rows) {
      make_lines(list, rows, text);
      sink.file().write(at, text.data(), text.size());
      at += text.size();
    };
    gathered.visit_own(0, list.size(), row, write_lines, rows_kept);
  }
  gathered.throw_error();
}

}  // namespace merganser::io
