#include "merganser/io/parcel_file.hpp"

#include "merganser/base/error.hpp"

namespace merganser::io {
namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw InputError(path +
                   ": this build has no NetCDF, so parcel files cannot be read or written; install "
                   "libnetcdf-mpi-dev or libnetcdf-dev and configure again");
}

}  // namespace

bool netcdf_available() noexcept { return false; }

ParcelFileInfo read_info(const std::string& path) { refuse(path); }

Parcels read_parcels(const std::string& path, const ParcelFileInfo&, comm::Transport&) { refuse(path); }

void write_parcels(const std::string& path, const Parcels&, const Decomposition&, double, comm::Transport&) {
  refuse(path);
}

}  // namespace merganser::io
