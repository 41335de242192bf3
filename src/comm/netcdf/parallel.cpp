// Collective NetCDF files, where the NetCDF library of this build is parallel.
#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include "merganser/base/library_call.hpp"
#include "merganser/comm/netcdf_parallel.hpp"

namespace merganser::comm {

// Checks that NetCDF files can be created collectively: they use MPI_COMM_WORLD, so every rank of the transport must be the same
// rank there.
bool netcdf_is_parallel(Transport& transport) {
  int started = 0;
  int ended = 0;
  bool same = transport.capabilities().processes && MPI_Initialized(&started) == MPI_SUCCESS && started != 0 &&
              MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
  if (same) {
    int rank = -1;
    int size = 0;
    same = MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS &&
           rank == transport.rank() && size == transport.size();
  }
  return transport.all_reduce(std::int64_t{same}, Op::min) != 0;
}

int netcdf_create(const std::string& path, int& id) {
  const LibraryCall call(path.c_str());
  return nc_create_par(path.c_str(), NC_NETCDF4 | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &id);
}

int netcdf_make_collective(int id, int variable) { return nc_var_par_access(id, variable, NC_COLLECTIVE); }

}  // namespace merganser::comm
