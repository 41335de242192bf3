#pragma once
/// Collective creation of one NetCDF file by all processes. In comm, the only module that includes mpi.h, since NetCDF's
/// parallel header includes it.
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Returns true if the ranks of `transport` are the processes of MPI_COMM_WORLD, in the same order, and the NetCDF library
/// of this build creates files collectively. The same on every rank. Collective.
[[nodiscard]] bool netcdf_is_parallel(Transport& transport);

/// Creates a NetCDF-4 file over MPI_COMM_WORLD by nc_create_par, in place of one of that name; returns the status of the
/// library, and the file number in `id`. Collective. Only if netcdf_is_parallel() returns true.
[[nodiscard]] int netcdf_create(const std::string& path, int& id);
/// Makes writes of a variable collective, so that every process takes part in each, perhaps with no element; returns the
/// status of the library. Collective. Only if netcdf_is_parallel() returns true.
[[nodiscard]] int netcdf_make_collective(int id, int variable);

}  // namespace merganser::comm
