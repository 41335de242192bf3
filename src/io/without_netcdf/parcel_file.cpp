/// Definitions of the functions that read and write NetCDF files for a build without NetCDF: each throws InputError.
#include "merganser/io/parcel_file.hpp"

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::io {
namespace {

/// Throws the InputError by which every function of parcel and data files fails in a build without NetCDF.
[[noreturn]] void throw_no_netcdf(const std::string& path) {
  // Where the library is installed, it was switched off: installing it again would change nothing.
  throw InputError(path + ": this build has no NetCDF, so its files cannot be read or written; " +
                   (kSimulated ? "simulated ranks have none; allowed: commands that make their input (gen, msf --gen)"
                               : "install libnetcdf-mpi-dev or libnetcdf-dev where it is missing, and configure again "
                                 "with -DMERGANSER_NETCDF=ON"));
}

}  // namespace

bool netcdf_available() noexcept { return false; }

ParcelFileInfo read_info(const std::string& path, const std::string&, const std::vector<ColumnName>&) {
  throw_no_netcdf(path);
}

ParcelFileInfo read_info(const std::string& path, comm::Transport&, const std::string&,
                         const std::vector<ColumnName>&) {
  throw_no_netcdf(path);
}

Parcels read_parcels(const std::string& path, const ParcelFileInfo&, comm::Transport&, std::vector<FilePlace>*,
                     std::vector<MissingFound>*) {
  throw_no_netcdf(path);
}

void fit_to_file(const std::string& path, Parcels&, const Box&, const FileMetadata&, comm::Transport&) {
  throw_no_netcdf(path);
}

void write_parcels(const std::string& path, const Parcels&, const Decomposition&, double, comm::Transport&,
                   const FileMetadata&) {
  throw_no_netcdf(path);
}

void write_data(const std::string& path, const FileGroup&, comm::Transport&) { throw_no_netcdf(path); }

FileGroup read_data(const std::string& path) { throw_no_netcdf(path); }

}  // namespace merganser::io
