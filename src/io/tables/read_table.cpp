// Reads parcels of a table: VTU, NPZ, CSV.
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <set>

#include <sys/stat.h>

#include "merganser/base/error.hpp"
#include "merganser/io/output_name.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/tables/tables.hpp"
#include "src/io/tables/vtu_types.hpp"

namespace merganser::io {
namespace {

/// Checks that a file is a plain one that can be opened. @throws InputError
void check_plain(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(s.st_mode)) throw InputError("cannot read " + path + ": not a plain file");
  if (!std::ifstream(path, std::ios::binary)) throw InputError("cannot read " + path + ": " + std::strerror(errno));
}

/// Returns the name here of a column of a CSV file.
std::string own_name(const std::vector<ColumnName>& names, const std::string& name) {
  for (const ColumnName& c : names)
    if (c.name == name) return c.column;
  return name;
}

/// Checks that every name of a column that was given is one in the file. @throws InputError
void check_names(const std::string& path, const std::vector<ColumnName>& given, const std::vector<std::string>& names) {
  for (const ColumnName& c : given)
    if (std::find(names.begin(), names.end(), c.name) == names.end()) {
      std::string all;
      for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
      throw InputError(path + ": no column " + c.name + "; its first line has " + all);
    }
}

/// Returns a description of which nothing is known yet, box and periodic axes neither.
ParticleFile unknown_file() {
  ParticleFile out;
  out.info.says_grid = false;
  out.info.grid.box.periodic = {false, false, false};
  return out;
}

/// Checks that a file with a column for each coordinate has all three, and the volumes. @param csv  names in a CSV file, which
/// --columns can change; null for other files
void require_positions(const std::string& path, const ParticleFile& file, const std::vector<std::string>* csv) {
  for (const std::string need : {"x_position", "y_position", "z_position", "volume"}) {
    if (file.species.front().columns.contains(need)) continue;
    const std::string help = csv == nullptr ? "" : ", or --columns " + need + "=NAME" + comment_hint(*csv);
    throw InputError(path + ": no column " + need + "; allowed: with that name" + help);
  }
}

/// Describes a CSV file by its columns.
ParticleFile describe_csv(const std::string& path, const CsvSource& table, const std::vector<ColumnName>& names) {
  ParticleFile out = unknown_file();
  check_names(path, names, table.names);
  ArrayColumns arrays(path, table.rows, out);
  std::set<std::string> seen;
  for (std::size_t c = 0; c < table.names.size(); ++c) {
    const std::string name = own_name(names, table.names[c]);
    if (name.empty())
      throw InputError(path + ": a column without a name (column " + std::to_string(c + 1) +
                       "); allowed: a name for each, no comma at the end of a line (pandas: to_csv(index=False))");
    if (!seen.insert(name).second) throw InputError(path + ": two arrays become the column " + name);
    if (!table.texts[c].empty()) {
      if (is_own_name(name)) throw InputError(path + ": " + table.texts[c]);
      out.info.metadata.lost.push_back({name, "column " + name + ", which holds text (" + table.texts[c] + ")"});
      continue;
    }
    arrays.add({.name = name,
                .at = table.names[c],
                .type = name == kIdName && table.rows == 0 ? FileType::i64 : FileType{table.types[c]},
                .rows = table.rows,
                .storage = {},
                .rule = {},
                .place = {}});
  }
  require_positions(path, out, &table.names);
  arrays.finish("the first line");
  out.info.metadata.csv_names = names;
  out.info.metadata.csv = table;
  return out;
}

/// Describes a table of binary arrays.
ParticleFile describe_arrays(const std::string& path, const TableFile& table) {
  ParticleFile out = unknown_file();
  const bool together = table.entry == 0;  // x, y and z in one array
  if (together && table.positions.name.empty()) {
    const auto wrong =
        std::find_if(table.lost.begin(), table.lost.end(), [](const FileLoss& l) { return l.name == kPositionArray; });
    throw InputError(path + ": no positions" + (wrong == table.lost.end() ? "" : " (" + wrong->what + ")") +
                     "; allowed: an array " + kPositionArray + " (n, 3), by rows, in this machine's byte order");
  }
  const std::int64_t entries = table.arrays.empty() ? 0 : table.arrays.front().rows;
  ArrayColumns arrays(path, together ? table.positions.rows : entries, out);
  if (together) arrays.add_positions(table.positions);
  for (const ArrayAbout& a : table.arrays) arrays.add(a);
  if (!together) require_positions(path, out, nullptr);
  ParcelFileInfo& info = out.info;
  info.metadata.lost.insert(info.metadata.lost.end(), table.lost.begin(), table.lost.end());
  arrays.finish("the file");
  const auto numbers = [&](const char* name) {
    const auto found = table.numbers.find(name);
    return found == table.numbers.end() ? std::vector<double>() : found->second;
  };
  read_own_numbers(path, numbers, info);
  std::vector<double> time = numbers(kTimeAttribute);
  if (time.empty()) time = numbers(kVtkTime);
  if (time.size() > 1)
    throw InputError(path + ": the time has " + std::to_string(time.size()) + " numbers; allowed: one");
  if (time.size() == 1) info.time = time[0];
  if (!std::isfinite(info.time)) throw InputError(path + ": the time is not finite");
  return out;
}

/// Sets what all tables have in common before their own description counts.
ParticleFile describe_any(const std::string& path, FileFormat format, const std::vector<ColumnName>& names,
                          const CsvSource* csv, TableFile& table, NpzChecksums checksums) {
  if (format == FileFormat::vtu) table = describe_vtu(path);
  if (format == FileFormat::npz) table = describe_npz(path, checksums);
  if (format == FileFormat::npy) table = describe_npy(path);
  ParticleFile out = csv != nullptr ? describe_csv(path, *csv, names) : describe_arrays(path, table);
  out.info.metadata.format = format;
  return out;
}

/// Numbers of binary arrays in a file, read by rows.
class ArrayFile {
 public:
  ArrayFile(std::string path, TableFile table) : path_(std::move(path)), table_(std::move(table)) {
    file_.open(path_, std::ios::binary);
    types_[table_.positions.at] = table_.positions.type;
    for (const ArrayAbout& a : table_.arrays) types_[a.at] = a.type;
  }

  void read(const std::string& at, FileType type, const hdf5::File::Rows& rows, void* to) {
    const FileType stored = types_.at(at);
    const std::size_t width = static_cast<std::size_t>(std::max<std::int64_t>(rows.width, 1)) * type_bytes(stored);
    const std::uint64_t offset = table_.offsets.at(at);
    const std::size_t row = table_.entry == 0 ? width : table_.entry;
    // Of entries all columns are asked for in turn: the bytes of the rows are kept.
    const std::uint64_t base = table_.entry == 0 ? offset : table_.begin;
    read_rows(at, base + static_cast<std::uint64_t>(rows.first) * row, static_cast<std::size_t>(rows.count) * row);
    const std::byte* const from =
        bytes_.data() + (offset - base) + static_cast<std::size_t>(rows.column) * type_bytes(stored);
    const auto convert = [&](auto as) {
      using To = decltype(as);
      dispatch_type(stored, [&](auto zero) {
        using From = decltype(zero);
        for (std::size_t i = 0; i < static_cast<std::size_t>(rows.count); ++i) {
          From value;
          std::memcpy(&value, from + i * row, sizeof value);
          // A byte is a number here. NOLINTNEXTLINE(bugprone-signed-char-misuse)
          static_cast<To*>(to)[i] = static_cast<To>(value);
        }
      });
    };
    if (type == FileType::i64) return convert(std::int64_t{});
    if (type == FileType::u64) return convert(std::uint64_t{});
    convert(double{});
  }

 private:
  /// Reads bytes of the file, unless they are those read last. @param what  array, for the message
  void read_rows(const std::string& what, std::uint64_t begin, std::size_t count) {
    if (begin == begin_ && count == bytes_.size()) return;
    bytes_.resize(count);
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(begin));
    file_.read(reinterpret_cast<char*>(bytes_.data()), static_cast<std::streamsize>(count));
    begin_ = static_cast<std::size_t>(file_.gcount()) == count ? begin : kNothing;
    if (begin_ == kNothing) throw InputError(path_ + ": " + what + " ends early; truncated or damaged");
  }

  static constexpr std::uint64_t kNothing = ~std::uint64_t{0};
  std::string path_;
  TableFile table_;
  std::map<std::string, FileType> types_;
  std::ifstream file_;
  std::vector<std::byte> bytes_;    // read last
  std::uint64_t begin_ = kNothing;  // their offset in the file
};

/// Rows of a CSV file in memory.
struct CsvRows {
  std::vector<std::string> names;            ///< names of the columns
  std::int64_t first;                        ///< number of the first row
  std::vector<std::vector<double>> columns;  ///< values in the types that the columns have
};

/// Copies numbers of a column of CSV in the type that the column has.
void copy_column(const CsvRows& table, const std::string& at, const hdf5::File::Rows& rows, void* to) {
  const auto column =
      static_cast<std::size_t>(std::find(table.names.begin(), table.names.end(), at) - table.names.begin());
  std::memcpy(to, table.columns[column].data() + (rows.first - table.first),
              static_cast<std::size_t>(rows.count) * sizeof(double));
}

}  // namespace

std::optional<FileFormat> table_format(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  std::array<char, 256> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(file.gcount()));
  if (begin.starts_with("PK\x03\x04") || begin.starts_with("PK\x05\x06")) return FileFormat::npz;
  if (begin.starts_with("\x93NUMPY")) return FileFormat::npy;
  if (begin.find("<VTKFile") != std::string_view::npos) return FileFormat::vtu;
  if (has_suffix(path, ".csv")) return FileFormat::csv;
  return std::nullopt;
}

ParcelFileInfo read_table_info(const std::string& path, FileFormat format, const std::vector<ColumnName>& columns,
                               const CsvSource* csv) {
  check_plain(path);
  TableFile table;
  if (format != FileFormat::csv) return describe_any(path, format, columns, nullptr, table, NpzChecksums::verify).info;
  if (csv != nullptr) return describe_any(path, format, columns, csv, table, NpzChecksums::verify).info;
  const CsvSource scanned = scan_csv(path);
  return describe_any(path, format, columns, &scanned, table, NpzChecksums::verify).info;
}

OpenTable open_table(const std::string& path, const FileMetadata& metadata, TableRows rows) {
  TableFile table;
  if (metadata.format == FileFormat::csv) {
    const CsvSource& source = metadata.csv;
    const auto read = std::make_shared<const CsvRows>(CsvRows{source.names, rows.first, read_csv(path, source, rows)});
    return {describe_any(path, metadata.format, metadata.csv_names, &source, table, NpzChecksums::pass_over),
            [read](const std::string& at, FileType, const hdf5::File::Rows& part, void* to) {
              copy_column(*read, at, part, to);
            }};
  }
  ParticleFile about = describe_any(path, metadata.format, {}, nullptr, table, NpzChecksums::pass_over);
  const auto file = std::make_shared<ArrayFile>(path, std::move(table));
  return {std::move(about), [file](const std::string& at, FileType type, const hdf5::File::Rows& part, void* to) {
            file->read(at, type, part, to);
          }};
}

}  // namespace merganser::io
