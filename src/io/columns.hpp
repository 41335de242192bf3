#pragma once
/// The variables of a parcel file and where their values stand in the container.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/io/file_heading.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// The variable that holds ids; readers of EPIC's files pass it over.
inline constexpr std::string_view kIdName = "merganser_id";

/// NetCDF's numbers of its types, which this part of the module knows without the library.
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
[[nodiscard]] std::string type_name(FileType type);
[[nodiscard]] bool is_number(FileType type);
[[nodiscard]] bool is_integer(FileType type);
/// Bytes of one value; 0 for strings and types of the user's.
[[nodiscard]] std::size_t type_bytes(FileType type);

struct Column {
  std::string name;
  std::string unit;
  std::string long_name;
  bool in_site = false;    ///< of Site, else of the payload row
  std::size_t offset = 0;  ///< in doubles
  bool computed = true;    ///< merging computes with it: a finite double. Else its bits are kept and mean nothing here.
  FileType type = FileType::f64;
  bool epic = true;       ///< one of EPIC's, which are doubles
  bool may_lack = false;  ///< a parcel may have no value: NaN where merging computes with it, else the bits of the file
  FileStorage storage;
  const FileVariable* in_file = nullptr;  ///< what the file it comes from says of it

  /// The container holds the 64 bits of an integer, not a double.
  [[nodiscard]] bool bits() const { return !computed && (type == FileType::i64 || type == FileType::u64); }
};

/// Position, volume, then every component of the schema; types and storage from the heading, where that knows them.
[[nodiscard]] std::vector<Column> columns(const Schema& schema, const FileHeading& heading);
/// The ids; stored as the positions are.
[[nodiscard]] Column id_column(const FileHeading& heading);
/// True for names that columns() of EPIC's schema uses, and for kIdName.
[[nodiscard]] bool is_own_name(std::string_view name);

/// Copies `values` into a column of parcels first .. first + count - 1, or out of it.
void scatter(Parcels& parcels, const Column& column, std::size_t first, const double* values, std::size_t count);
void gather(const Parcels& parcels, const Column& column, std::size_t first, double* values, std::size_t count);

/// Values of a column as they lie in memory in its type. Call check_fit() before.
void to_file_type(const Column& column, const double* values, std::size_t count, std::vector<std::byte>& out);

/// Checks that a value fits into the type of the column. Returns the error text, empty if it does.
[[nodiscard]] std::string check_fit(const Column& column, double value);

}  // namespace merganser::io
