#pragma once
/// Locates the variable of a column in a parcel file.
#include <cstddef>
#include <cstdint>

#include "src/io/columns.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Variable of a parcel file over the parcels, of shape (n_parcels) or (t, n_parcels).
struct Variable {
  int id;             ///< NetCDF's number of the variable
  bool has_time;      ///< its first dimension is t
  std::size_t level;  ///< last time level, from 0
};

/// Finds the variable of a column and checks its type and shape. Local; takes the lock.
/// @throws InputError if it is missing, of another type, or not over so many parcels
[[nodiscard]] Variable find_column_variable(const NcFile& file, const Column& column, std::int64_t parcels);

}  // namespace merganser::io
