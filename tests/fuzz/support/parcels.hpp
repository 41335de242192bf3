#pragma once
/// Parcel files generated from fuzz inputs. An input changes types, shapes, names, lengths and values of a file, not its bytes,
/// which would test the libraries that decode it.
#include <optional>
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Makes an EPIC file with one change after the other, until the bytes end. Changes that the format cannot hold are left out.
/// @param format  flags of the NetCDF format for nc_create() @return path of the file
std::string make_parcel_file(int format, std::string_view bytes);

/// Makes the NetCDF-4 file of make_parcel_file() in the in-memory model (support/netcdf_model.hpp). @return its path; nothing if
/// the model does not cover the input, or the library's version is not the one that it models
std::optional<std::string> make_parcel_model(std::string_view bytes);

/// Reads a parcel file with all its variables on one rank; for some inputs also on three ranks, which must give the same parcels.
/// @param writes  for some inputs also write the parcels and read them again @return false if the file was refused
bool feed_parcel_file(const std::string& path, std::string_view input, bool writes);

/// Returns all that is read of a parcel file, or the error without its path, as bytes that are equal for equal files.
std::string all_parcels(const std::string& path);
/// Returns all that is read of a file as a file of arrays, or the error without its path, as bytes that are equal for equal files.
std::string all_arrays(const std::string& path);

}  // namespace merganser::fuzz
