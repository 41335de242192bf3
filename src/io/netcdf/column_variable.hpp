#pragma once
/// Locates the NetCDF variable of a column in a parcel file that is read, and checks that it has the column's type and shape.
#include <cstddef>
#include <cstdint>

#include "src/io/columns.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// NetCDF variable over the parcels of a file, of shape (n_parcels) or (t, n_parcels); find_column_variable() fills it.
struct ColumnVariable {
  int id;             ///< NetCDF's number of the variable
  bool has_time;      ///< true if its first dimension is t
  std::size_t level;  ///< last time level of the file, from 0
};

/// Finds the NetCDF variable of a column in a parcel file and checks its type and shape. Local; takes the NetCDF lock.
/// @throws InputError if the variable is missing, of another type, or not over so many parcels
[[nodiscard]] ColumnVariable find_column_variable(const NcFile& file, const Column& column, std::int64_t parcels);

}  // namespace merganser::io
