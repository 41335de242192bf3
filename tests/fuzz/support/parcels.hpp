#pragma once
/// Parcel files made from bytes. Not the bytes of a file are changed, which would test the libraries that decode it, but
/// what it says: types, shapes, names, lengths and values.
#include <optional>
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Makes a file: an EPIC file, then one change after the other, until the bytes end. What the format cannot hold is left
/// out. @param format  of NetCDF: its flags for nc_create() @return its path
std::string make_parcel_file(int format, std::string_view bytes);

/// The same file of NetCDF-4, of the model (support/netcdf_model.hpp). @return nothing where
/// the model falls short, as for all inputs where the library is not the one it was held to
std::optional<std::string> make_parcel_model(std::string_view bytes);

/// Reads the file with all its variables; for some inputs also over three ranks, which must give the same parcels.
/// @param writes  what is read is written and read again, too @return false if it was refused
bool feed_parcel_file(const std::string& path, std::string_view input, bool writes);

/// All that is read of a file, as a file of parcels or as one of arrays, or the error without its path: equal for equal files.
std::string all_parcels(const std::string& path);
std::string all_arrays(const std::string& path);

}  // namespace merganser::fuzz
