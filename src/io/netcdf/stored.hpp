#pragma once
/// Reads NetCDF variables over unlimited dimensions directly through HDF5. NetCDF inspects every variable of the file for each
/// hyperslab that is read, so that reading all of them takes time quadratic in their number.
#include <cstddef>

#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Reads a hyperslab of a NetCDF variable directly through HDF5, if the file is in HDF5, a dimension of the variable is
/// unlimited, and values have the same representation in memory in both libraries. Entries that were never written get the
/// fill value. Local; call under the NetCDF lock.
/// @param part  start and length by dimension, none of length 0
/// @return false if that is impossible or fails: the caller must read through NetCDF, which also gives the error
[[nodiscard]] bool read_stored(const NcFile& file, int group, int variable, const VariablePart& part,
                               std::size_t value_bytes, void* to);

}  // namespace merganser::io
