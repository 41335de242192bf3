#pragma once
/// Opening one NetCDF file by all processes at once. It stands here because NetCDF's parallel header includes MPI's.
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// True if the ranks of `transport` are the processes of the MPI world, in the same order, and the NetCDF library of this
/// build opens files collectively. The same answer on every rank. Collective.
[[nodiscard]] bool netcdf_is_parallel(Transport& transport);

/// nc_open_par for reading, over the MPI world: the library's status, its file number in `id`. Collective. Only where
/// netcdf_is_parallel().
[[nodiscard]] int netcdf_open(const std::string& path, int& id);
/// nc_create_par of a NetCDF-4 file that replaces what is there, likewise.
[[nodiscard]] int netcdf_create(const std::string& path, int& id);
/// Makes reads and writes of a variable collective: every process then takes part in each, perhaps with no element.
[[nodiscard]] int netcdf_make_collective(int id, int variable);

}  // namespace merganser::comm
