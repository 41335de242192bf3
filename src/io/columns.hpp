#pragma once
/// Columns of a parcel file: its variables over the parcels, and the members of the container (site or row) that hold
/// their values.
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/io/file_metadata.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// Name of the variable that holds ids in a parcel file; readers of EPIC's files ignore it.
inline constexpr std::string_view kIdName = "merganser_id";

/// NetCDF's numbers of its atomic types (nc_type), repeated here for code that must compile without the NetCDF library.
enum class FileType : int {
  i8 = 1,
  text = 2,
  i16 = 3,
  i32 = 4,
  f32 = 5,
  f64 = 6,
  u8 = 7,
  u16 = 8,
  u32 = 9,
  i64 = 10,
  u64 = 11,
  string = 12
};
/// Returns NetCDF's name of an atomic type, as "double"; "number N" for user-defined types of a file.
[[nodiscard]] std::string type_name(FileType type);
/// Returns true if a NetCDF type is an integer or floating-point one, false for text and user-defined types of a file.
[[nodiscard]] bool is_number(FileType type);
/// Returns true if a NetCDF type is an integer of any width and sign.
[[nodiscard]] bool is_integer(FileType type);
/// Returns the size in bytes of one value of a NetCDF type; 0 for strings and user-defined types of a file.
[[nodiscard]] std::size_t type_bytes(FileType type);

/// Calls f with a zero of the C++ type that holds values of a numeric NetCDF type: f deduces the type of a column from it.
template <class F>
void dispatch_type(FileType type, F&& f) {
  switch (type) {
    case FileType::i8:
      return f(std::int8_t{});
    case FileType::u8:
      return f(std::uint8_t{});
    case FileType::i16:
      return f(std::int16_t{});
    case FileType::u16:
      return f(std::uint16_t{});
    case FileType::i32:
      return f(std::int32_t{});
    case FileType::u32:
      return f(std::uint32_t{});
    case FileType::i64:
      return f(std::int64_t{});
    case FileType::u64:
      return f(std::uint64_t{});
    case FileType::f32:
      return f(float{});
    default:
      return f(double{});
  }
}

/// Column of a parcel file: a NetCDF variable over the parcels (name, unit, type, storage in the file) and the member of the
/// container of parcels, at `offset` of each site or row, that holds its values. columns() fills it.
struct Column {
  std::string name;
  std::string unit;
  std::string long_name;
  bool in_site = false;    ///< true if values are members of Site (position, volume), else of the payload row
  std::size_t offset = 0;  ///< place of the value within Site or row, in doubles
  bool computed = true;    ///< true if merging computes with the values, finite doubles; else their bits are kept
  FileType type = FileType::f64;
  bool epic = true;       ///< true for EPIC's own variables, which are doubles
  bool may_lack = false;  ///< true if a parcel may lack a value: NaN where merging computes, else the file's bits
  /// True if NetCDF's fill value of the type means missing, as in EPIC's files; false in the others, where it is a number.
  bool has_fill = true;
  FileStorage storage;
  const FileVariable* in_file = nullptr;  ///< description in the file it comes from; null for one that no file has

  /// Returns true if the parcels hold the 64 bits of an integer of this column in place of a double, because merging does not
  /// compute with it.
  [[nodiscard]] bool bits() const { return !computed && (type == FileType::i64 || type == FileType::u64); }
};

/// Lists the columns of a parcel file: position, volume, then every component of the schema. Types and storage are those
/// of the metadata, which must outlive the result, for the variables that it describes.
[[nodiscard]] std::vector<Column> columns(const Schema& schema, const FileMetadata& metadata);
/// Returns the column of the ids, stored (chunks, compression) as the volumes are unless the metadata describes it.
[[nodiscard]] Column id_column(const FileMetadata& metadata);
/// Returns true for names of variables whose meaning in a parcel file is fixed: columns of EPIC's schema, and ids (kIdName).
[[nodiscard]] bool is_own_name(std::string_view name);

/// Copies `count` values read from a parcel file into a column of parcels first .. first + count - 1 of this rank's container.
void scatter(Parcels& parcels, const Column& column, std::size_t first, const double* values, std::size_t count);
/// Copies a column of parcels first .. first + count - 1 of this rank's container to `values`, to be written to a parcel file.
void gather(const Parcels& parcels, const Column& column, std::size_t first, double* values, std::size_t count);
/// Copies a column of some of this rank's parcels to every `stride`-th double from `to` on.
void gather(const Parcels& parcels, const Column& column, std::span<const std::size_t> which, double* to,
            std::size_t stride);

/// Returns true if a variable of a parcel file is stored without filters (compression, shuffle, checksums), so that parts of its
/// chunks can be read and written alone.
[[nodiscard]] inline bool has_no_filter(const FileStorage& s) { return s.deflate == 0 && !s.shuffle && !s.checksum; }
/// Returns true if to_file_type() only copies the values of a column, which may then be written from where they are.
[[nodiscard]] bool is_stored_as_it_is(const Column& column);
/// Converts doubles of a column to its NetCDF type in a parcel file; where a parcel may lack a value, NaN becomes the fill
/// value.
/// @pre check_fit() accepts every value: a cast out of range is undefined
void to_file_type(const Column& column, const double* values, std::size_t count, std::vector<std::byte>& out);

/// Checks that a parcel's value fits into the NetCDF type of its column. Returns the error text, empty if it fits.
[[nodiscard]] std::string check_fit(const Column& column, double value);

}  // namespace merganser::io
