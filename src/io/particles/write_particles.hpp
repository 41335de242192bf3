#pragma once
/// Parts that the writers of particle files share: the parcels with their columns, and our attributes of the box.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/shared_output.hpp"
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

/// Copies the bytes of doubles.
void to_bytes(std::span<const double> values, std::vector<std::byte>& out);

/// New HDF5 file of particles: HDF5 has it open on rank 0, and every rank can write to any place of it.
struct ParticleOutput {
  const hdf5::File* hdf5;  ///< null on ranks above 0
  comm::SharedOutput& file;
};

/// Writes an openPMD file. Collective.
void write_openpmd(const ParticleOutput& output, const ParticlesToWrite& in, double time, comm::Transport& transport);
/// Writes a VTKHDF file. Collective.
/// @param earlier  on rank 0, of a series: the steps before this one; null: the file has no series
/// @throws InputError if an earlier step has other arrays
void write_vtkhdf(const ParticleOutput& output, const ParticlesToWrite& in, double time, comm::Transport& transport,
                  const EarlierSteps* earlier);

}  // namespace merganser::io
