#pragma once
/// Where the values of a column stand in a file.
#include <cstddef>
#include <cstdint>

#include "src/io/columns.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// A variable over the parcels, perhaps with a time dimension before.
struct Variable {
  int id;
  bool has_time;
  std::size_t level;  ///< the last one
};

/// Finds the variable of a column and checks type and shape. @throws InputError
[[nodiscard]] Variable find(const NcFile& file, const Column& column, std::int64_t parcels);

}  // namespace merganser::io
