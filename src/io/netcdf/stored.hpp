#pragma once
/// Values of variables over dimensions that grow, read where they are stored: NetCDF looks at every variable of the file for
/// each part of one that is read, so that reading all of them takes the square of their number.
#include <cstddef>

#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Reads a part of a variable through HDF5, as get_part() would, where the file is one of HDF5, a dimension of the variable
/// grows, and values have the same type in memory for both libraries. What was never written gets the fill value. Call under
/// the lock.
/// @return false if that cannot be done here, or not without an error: NetCDF must be asked, and tells the error
[[nodiscard]] bool read_stored(const NcFile& file, int group, int variable, const VariablePart& part,
                               std::size_t value_bytes, void* to);

}  // namespace merganser::io
