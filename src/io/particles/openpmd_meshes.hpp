#pragma once
/// Box, cells and periodic axes that the mesh records of an openPMD file tell.
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {

/// Sets box, cells and periodic axes of the parcels from the mesh records of an openPMD file, where they agree. Local.
void read_meshes(const hdf5::File& file, ParcelFileInfo& info);

}  // namespace merganser::io
