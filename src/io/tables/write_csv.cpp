// Writes parcels as CSV: a line of names, then a line for each parcel, every number with all its digits.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Longest text of a number: a double of 17 digits with sign, point and exponent, or with ".0" behind it.
constexpr std::size_t kLongest = 26;

/// Puts a number in the shortest text that reads back to the same double, with ".0" behind a whole one so that it is told from
/// an integer; nothing for NaN, a missing value. @return end of the text
char* put_double(char* to, double x) {
  if (std::isnan(x)) return to;
  char* end = std::to_chars(to, to + kLongest, x).ptr;
  if (x != std::trunc(x)) return end;
  if (std::string_view(to, static_cast<std::size_t>(end - to)).find_first_not_of("-0123456789") !=
      std::string_view::npos)
    return end;
  *end++ = '.';
  *end++ = '0';
  return end;
}

/// Puts an integer of a column, whose bits or value a double holds. @return end of the text
char* put_integer(char* to, const Column& column, double x) {
  if (!column.bits()) return std::isnan(x) ? to : std::to_chars(to, to + kLongest, static_cast<std::int64_t>(x)).ptr;
  return column.type == FileType::u64 ? std::to_chars(to, to + kLongest, std::bit_cast<std::uint64_t>(x)).ptr
                                      : std::to_chars(to, to + kLongest, std::bit_cast<std::int64_t>(x)).ptr;
}

/// Returns the name of a column in the first line of the file. @throws InputError for one that the line cannot hold
std::string name_in_file(const FileMetadata& metadata, const std::string& column) {
  std::string name = column;
  for (const ColumnName& c : metadata.csv_names)
    if (c.column == column) name = c.name;
  if (name.empty() || name.find_first_of(",\"\r\n") != std::string::npos || name.front() == ' ' || name.back() == ' ')
    throw InputError(
        "cannot write the column \"" + name +
        "\" as CSV; allowed: names without comma, quotation mark, line end and blanks at their ends, or drop");
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

/// Maker of the lines of parcels from the values of their columns.
class LineMaker {
 public:
  explicit LineMaker(const std::vector<Column>& list) : list_(list) {
    for (const Column& c : list) integer_.push_back(is_integer(c.type) ? 1 : 0);
  }
  /// Returns the lines of some parcels, valid until the next call.
  std::string_view make(std::span<const double> rows) {
    const std::size_t most = rows.size() * (kLongest + 1);
    if (most > room_) {
      text_ = std::make_unique_for_overwrite<char[]>(most);
      room_ = most;
    }
    char* to = text_.get();
    for (std::size_t at = 0; at < rows.size(); at += list_.size()) {
      for (std::size_t c = 0; c < list_.size(); ++c) {
        to = integer_[c] != 0 ? put_integer(to, list_[c], rows[at + c]) : put_double(to, rows[at + c]);
        *to++ = c + 1 < list_.size() ? ',' : '\n';
      }
    }
    return {text_.get(), static_cast<std::size_t>(to - text_.get())};
  }

 private:
  const std::vector<Column>& list_;
  std::vector<char> integer_;  // 1 for a column of integers
  std::unique_ptr<char[]> text_;
  std::size_t room_ = 0;
};

/// Returns the bytes of lines that a rank may keep until it knows where they begin: its part of a quarter of the memory that is left, as
/// if all ranks were on this host.
std::size_t may_keep(const comm::Transport& transport) {
  constexpr std::int64_t kMinKept = std::int64_t{16} << 20;
  return static_cast<std::size_t>(std::max(kMinKept, available_bytes() / 4 / transport.size()));
}

/// Lines that a rank keeps until it knows where they begin: the first ones, as many as memory holds.
class KeptLines {
 public:
  /// Reserves memory; where there is none, no lines are kept. Pages that are not written to cost nothing.
  explicit KeptLines(std::size_t bytes) {
    if (bytes == 0) return;
    try {
      memory_.emplace(bytes);
    } catch (const std::bad_alloc&) {
      full_ = true;
    }
  }
  /// Appends the lines of `rows` parcels, unless they or some before do not fit.
  void add(std::string_view lines, std::int64_t rows) {
    full_ = full_ || !memory_ || text_bytes_ + lines.size() > memory_->bytes();
    if (full_) return;
    std::memcpy(memory_->data() + text_bytes_, lines.data(), lines.size());
    text_bytes_ += lines.size();
    rows_ += rows;
  }
  /// Returns the lines that are kept.
  [[nodiscard]] std::string_view text() const {
    return memory_ ? std::string_view(reinterpret_cast<const char*>(memory_->data()), text_bytes_) : std::string_view();
  }
  /// Returns the number of parcels whose lines are kept.
  [[nodiscard]] std::int64_t rows() const noexcept { return rows_; }

 private:
  std::optional<RawBuffer> memory_;
  std::size_t text_bytes_ = 0;
  std::int64_t rows_ = 0;
  bool full_ = false;  // later lines are not kept
};

/// Writes lines from `at` on: the kept ones, then those of the other parcels of this rank, made again. Local. Its error is kept in
/// `gathered`. @param length  bytes of the lines of all parcels of this rank, as made at first
void write_lines(comm::SharedOutput& file, std::uint64_t at, std::uint64_t length, const KeptLines& kept,
                 std::size_t width, const GatheredParcels::Values& values, LineMaker& lines,
                 GatheredParcels& gathered) {
  const std::string_view text = kept.text();
  gathered.on_this_rank([&] {
    if (!text.empty()) file.write(at, text.data(), text.size());
  });
  std::uint64_t written = text.size();
  const auto write = [&](std::int64_t, std::span<const double> rows) {
    const std::string_view again = lines.make(rows);
    file.write(at + written, again.data(), again.size());
    written += again.size();
  };
  gathered.visit_own(0, width, values, write, kept.rows());
  gathered.on_this_rank([&] {
    if (written != length)
      throw InputError("the lines of parcels took " + std::to_string(length) + " bytes at first and " +
                       std::to_string(written) +
                       " when they were made again; allowed: parcels that do not change while they are written");
  });
}

}  // namespace

// Where a rank's lines begin depends on the length of those of the ranks before, which takes as long to know as to make them. So rank 0
// writes its own at once, and others keep theirs, and write them once they know; what is too much to keep is made again.
void write_csv(ByteSink& sink, const ParticlesToWrite& in, comm::Transport& transport,
               std::optional<std::size_t> most_kept) {
  GatheredParcels gathered(in.parcels, transport);
  std::vector<Column> list{in.columns.back()};  // ids first
  list.insert(list.end(), in.columns.begin(), in.columns.end() - 1);
  std::optional<std::uint64_t> begin;
  gathered.on_first([&] {
    sink.put(heading(list, in.metadata));
    begin = sink.size();
  });
  begin = gathered.from_first(begin);
  const auto row = [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, list, parcels, to); };
  const bool first = transport.rank() == 0;
  const std::size_t longest = static_cast<std::size_t>(gathered.own_count(0)) * list.size() * (kLongest + 1);
  LineMaker lines(list);
  KeptLines kept(first || !begin ? 0 : std::min(most_kept ? *most_kept : may_keep(transport), longest));
  std::uint64_t length = 0;
  const auto make = [&](std::int64_t, std::span<const double> rows) {
    const std::string_view text = lines.make(rows);
    if (first)
      sink.file().write(*begin + length, text.data(), text.size());
    else
      kept.add(text, static_cast<std::int64_t>(rows.size() / list.size()));
    length += text.size();
  };
  if (begin) gathered.visit_own(0, list.size(), row, make);
  // Where one rank has failed, as rank 0 on a full disk, there will be no file: the others do not write.
  constexpr auto kFailed = std::numeric_limits<std::uint64_t>::max();
  const std::vector<std::uint64_t> lengths =
      comm::all_gather_value(transport, begin && !gathered.failed() ? length : kFailed);
  if (begin && !first && std::find(lengths.begin(), lengths.end(), kFailed) == lengths.end()) {
    const std::uint64_t at = std::accumulate(lengths.begin(), lengths.begin() + transport.rank(), *begin);
    write_lines(sink.file(), at, length, kept, list.size(), row, lines, gathered);
  }
  gathered.throw_error();
}

}  // namespace merganser::io
