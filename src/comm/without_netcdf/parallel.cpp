// Collective NetCDF files in a build whose NetCDF library is not parallel: the check returns false, the calls throw.
#include "merganser/base/error.hpp"
#include "merganser/comm/netcdf_parallel.hpp"

namespace merganser::comm {
namespace {

/// Throws CommError: the NetCDF library of this build cannot create files collectively.
[[noreturn]] void refuse() { throw CommError("this build has no NetCDF library that opens files collectively"); }

}  // namespace

bool netcdf_is_parallel(Transport&) { return false; }
int netcdf_create(const std::string&, int&) { refuse(); }
int netcdf_make_collective(int, int) { refuse(); }

}  // namespace merganser::comm
