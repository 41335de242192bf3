#pragma once
/// Parts that the writers of particle files share: the parcels with their columns, and our attributes of the box.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {

struct EarlierSteps;

/// Parcels of all ranks that are to be written to a particle file, the same on every rank but for the parcels.
struct ParticlesToWrite {
  const Parcels& parcels;
  const Grid& grid;
  const FileMetadata& metadata;
  std::vector<Column> columns;       ///< position, volume, attributes, ids
  std::vector<std::string> species;  ///< names, at least one
};

/// Writes box, cells, periodic axes and volume ratio as attributes of an object of the file.
void put_box_attributes(const hdf5::File& file, const std::string& at, const ParticlesToWrite& in);
/// Converts values of a column to its type in a particle file; a missing value (NaN) of a float stays NaN.
void to_particle_type(const Column& column, std::span<const double> values, std::vector<std::byte>& out);

/// Writes an openPMD file. Collective. @param file  new, on rank 0; null on others
void write_openpmd(const hdf5::File* file, const ParticlesToWrite& in, double time, comm::Transport& transport);
/// Writes a VTKHDF file. Collective. @param file  new, on rank 0; null on others
/// @param earlier  on rank 0, of a series: the steps before this one; null: the file has no series
/// @throws InputError if an earlier step has other arrays
void write_vtkhdf(const hdf5::File* file, const ParticlesToWrite& in, double time, comm::Transport& transport,
                  const EarlierSteps* earlier);

}  // namespace merganser::io
