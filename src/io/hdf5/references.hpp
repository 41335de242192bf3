#pragma once
/// What in an HDF5 file leads out of it.
#include <string>

namespace merganser::io::hdf5 {

/// Walks all groups and datasets of a file, and reads nothing but their descriptions. No library is called: HDF5 follows
/// external links as soon as NetCDF opens a file.
/// @throws InputError naming the first object whose data, or which itself, is in another file (external links, external
/// storage, virtual datasets, links that a plug-in follows, files in several parts), or whose values only a plug-in could
/// unpack; and for a file that is damaged
/// Cost: a few reads for every object; memory: the greatest description, and 16 bytes for each object.
void check_references(const std::string& path);

}  // namespace merganser::io::hdf5
