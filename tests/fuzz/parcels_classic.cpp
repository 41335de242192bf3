// requires: NetCDF
/// Reads a parcel file in one of the classic formats.
/// Input: a description of the file (support/parcels.hpp).
#include <netcdf.h>

#include <array>

#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed_parcels_classic(std::string_view input) {
  constexpr std::array kFormats{0, NC_64BIT_OFFSET, NC_64BIT_DATA};
  const std::size_t which = input.empty() ? 0 : static_cast<unsigned char>(input[0]) % kFormats.size();
  const std::string path = make_parcel_file(kFormats[which], input.substr(std::min<std::size_t>(1, input.size())));
  return feed_parcel_file(path, input, false);
}

}  // namespace

extern const Target parcels_classic_target{"parcels_classic", 512, feed_parcels_classic};

}  // namespace merganser::fuzz
