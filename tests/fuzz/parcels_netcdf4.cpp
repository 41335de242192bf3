// requires: NetCDF
/// Reads a parcel file in NetCDF-4, also as a file of arrays.
/// Input: what the file says (support/parcels.hpp).
#include <netcdf.h>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_parcels_netcdf4(std::string_view input) {
  const std::string path = make_parcel_file(NC_NETCDF4, input);
  if (one_of(4, input)) {
    try {
      (void)io::read_data(path);
    } catch (const Error&) {  // what else is thrown is a finding
    }
  }
  return feed_parcel_file(path, input, true);
}

}  // namespace

extern const Target parcels_netcdf4_target{"parcels_netcdf4", 512, feed_parcels_netcdf4};

}  // namespace merganser::fuzz
