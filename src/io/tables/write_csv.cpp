// Writes parcels as CSV: a line of names, then a line for each parcel, every number with all its digits.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "merganser/base/error.hpp"
#include "src/io/particles/gathered.hpp"
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

}  // namespace

void write_csv(ByteSink* sink, const ParticlesToWrite& in, comm::Transport& transport) {
  GatheredParcels gathered(
      in.parcels, 1, [](std::size_t) { return 0; }, transport);
  std::vector<Column> list{in.columns.back()};  // ids first
  list.insert(list.end(), in.columns.begin(), in.columns.end() - 1);
  gathered.on_first([&] {
    for (const ColumnName& given : in.metadata.csv_names)
      if (std::none_of(list.begin(), list.end(), [&](const Column& c) { return c.name == given.column; })) {
        std::string all;
        for (const Column& c : list) all += (all.empty() ? "" : ", ") + c.name;
        throw InputError("--columns " + given.column + "=" + given.name + ": no column " + given.column +
                         " is written as CSV; allowed: " + all);
      }
    std::vector<std::string> names;
    std::string line;
    for (const Column& c : list) {
      const std::string name = name_in_file(in.metadata, c.name);
      if (std::find(names.begin(), names.end(), name) != names.end())
        throw InputError("two columns would have the name " + name + " in CSV; allowed: distinct names (--columns)");
      names.push_back(name);
      line += (line.empty() ? "" : ",") + name;
    }
    sink->put(line + "\n");
  });
  const auto row = [&](std::size_t i, double* to) {
    for (const Column& c : list) gather(in.parcels, c, i, to++, 1);
  };
  std::string text;
  gathered.write_in_order(0, list.size(), row, [&](std::int64_t, std::span<const double> rows) {
    text.clear();
    for (std::size_t at = 0; at < rows.size(); at += list.size()) {
      for (std::size_t c = 0; c < list.size(); ++c) {
        if (c > 0) text += ',';
        is_integer(list[c].type) ? append_integer(text, list[c], rows[at + c]) : append_double(text, rows[at + c]);
      }
      text += '\n';
    }
    sink->put(text);
  });
  gathered.throw_error();
}

}  // namespace merganser::io
