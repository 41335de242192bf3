// requires: NetCDF
/// Reads a parcel file in NetCDF-4, also as a file of arrays.
/// Input: a description of the file (support/parcels.hpp).
#include <netcdf.h>

#include <algorithm>
#include <cstddef>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "tests/fuzz/support/parcels.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

bool feed(const std::string& path, std::string_view input) {
  if (is_selected(4, input)) {
    try {
      (void)io::read_data(path);
    } catch (const Error&) {  // what else is thrown is a finding
    }
  }
  return feed_parcel_file(path, input, true);
}

/// Ends the process if both texts differ, with the place of the first difference.
void check_equal(const std::string& model, const std::string& library, const char* what) {
  if (model == library) return;
  const auto at = std::mismatch(model.begin(), model.end(), library.begin(), library.end()).first - model.begin();
  const auto part = [from = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, at - 80))](const std::string& all) {
    std::string text = all.substr(std::min(from, all.size()), 200);
    for (char& c : text)
      if (c < ' ' || c > '~') c = '.';
    return text;
  };
  finding(std::string("the model of a file gives other ") + what + " than the library: \"" + part(model) +
          "\", not \"" + part(library) + '"');
}

/// Reads most inputs from the model of a file. Inputs that the model does not cover, and one in 128, are read from a file of the
/// library, which must give the same as the model.
bool feed_parcels_netcdf4(std::string_view input) {
  const auto model = make_parcel_model(input);
  if (model && !is_selected(128, input)) return feed(*model, input);
  const std::string parcels = model ? all_parcels(*model) : "", arrays = model ? all_arrays(*model) : "";
  const std::string path = make_parcel_file(NC_NETCDF4, input);
  if (!model) return feed(path, input);
  check_equal(parcels, all_parcels(path), "parcels");
  check_equal(arrays, all_arrays(path), "arrays");
  return feed(every_check ? path : *model, input);
}

}  // namespace

extern const Target parcels_netcdf4_target{"parcels_netcdf4", 512, feed_parcels_netcdf4};

}  // namespace merganser::fuzz
