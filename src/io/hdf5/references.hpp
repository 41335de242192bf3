#pragma once
/// Detects references of an HDF5 file to other files (external links, external storage, virtual datasets) and filters that
/// would load a plug-in, without the HDF5 library.
#include <string>
#include <vector>

namespace merganser::io::hdf5 {

/// Traverses all groups and datasets of a file and checks their object headers; values are not read. Local. The HDF5 library
/// is not called, since it follows external links as soon as NetCDF opens a file.
/// @throws InputError naming the first object that is in another file or whose data are (external links, external storage,
///         virtual datasets, user-defined links, files in several parts), or whose values only a plug-in could unpack; and
///         for a file that is damaged
/// Cost: a few reads for every object; memory for the longest header, and 16 bytes for each object.
void check_references(const std::string& path);

/// Lists the names of the members of an HDF5 file's root group, but soft links, without the HDF5 library. Local.
/// @throws InputError for a file that is damaged, or none of HDF5
[[nodiscard]] std::vector<std::string> list_root_members(const std::string& path);

}  // namespace merganser::io::hdf5
