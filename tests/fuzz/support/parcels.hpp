#pragma once
/// Parcel files made from bytes. Not the bytes of a file are changed, which would test the libraries that decode it, but
/// what it says: types, shapes, names, lengths and values.
#include <string>
#include <string_view>

namespace merganser::fuzz {

/// Makes a file: an EPIC file, then one change after the other, until the bytes end. What the format cannot hold is left
/// out. @param format  of NetCDF: its flags for nc_create() @return its path
std::string make_parcel_file(int format, std::string_view bytes);

/// Reads the file with all its variables; for some inputs also over three ranks, which must give the same parcels.
/// @param writes  what is read is written and read again, too @return false if it was refused
bool feed_parcel_file(const std::string& path, std::string_view input, bool writes);

}  // namespace merganser::fuzz
