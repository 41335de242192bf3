#pragma once
/// Rows of datasets of a new HDF5 file, written by all ranks where they belong in the file, or where that is impossible by rank 0.
#include <cstdint>
#include <string>

#include "src/io/particles/gathered.hpp"
#include "src/io/particles/write_particles.hpp"

namespace merganser::io {

/// Writer of the rows of one new HDF5 file.
class HdfRows {
 public:
  /// Begins without a dataset. Both arguments must outlive this.
  HdfRows(const ParticleOutput& output, GatheredParcels& gathered) : output_(output), gathered_(gathered) {}
  /// Returns the file on rank 0, null on others.
  [[nodiscard]] const hdf5::File* file() const noexcept { return output_.hdf5; }

  /// Dataset of which a row is written for each parcel of a group.
  struct Dataset {
    std::string at;      ///< its path in the file
    FileType type;       ///< of its numbers, and of the bytes that are written
    std::int64_t begin;  ///< row of the first parcel of the group
    std::size_t width;   ///< numbers of a row; 1: the dataset has one dimension
    GatheredParcels::Values values;
    GatheredParcels::Bytes bytes;  ///< makes rows of the dataset's type from values
  };
  /// Writes the rows of a group of parcels to datasets that rank 0 has made. Collective. An error is kept by the parcels.
  /// @param datasets  of the same number on every rank
  void write(int group, std::span<const Dataset> datasets);

 private:
  const ParticleOutput& output_;
  GatheredParcels& gathered_;
};

/// Converts doubles to another type of numbers, as HDF5 does it for values that the type can hold.
void to_type(FileType type, std::span<const double> values, std::vector<std::byte>& out);

}  // namespace merganser::io
