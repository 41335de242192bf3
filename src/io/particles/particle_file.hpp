#pragma once
/// Particle files in HDF5, of openPMD and of VTKHDF: what one holds, as columns by name, and the reading of a slice per rank.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"
#include "src/io/particles/hdf5_file.hpp"

namespace merganser::io {

// Names of attributes that the writers put beside particles, and that count before anything else in a file.
inline constexpr const char* kCellsAttribute = "merganser_ncells";
inline constexpr const char* kExtentAttribute = "merganser_extent";
inline constexpr const char* kOriginAttribute = "merganser_origin";
inline constexpr const char* kPeriodicAttribute = "merganser_periodic";
inline constexpr const char* kRatioAttribute = "merganser_min_vratio";
inline constexpr const char* kStepAttribute = "merganser_merge_step";
/// Name of the integer attribute of parcels that tells their species, from 0, where a file has several.
inline constexpr const char* kSpeciesName = "species";
/// Attribute of FileVariable with the path of an openPMD record component below its species, as "momentum/x".
inline constexpr const char* kRecordAttribute = "openPMD_record";

// Attributes of FileVariable of openPMD positions: type and unitSI of their offsets, and the one offset of all if it is a constant.
inline constexpr const char* kOffsetType = "openPMD_offset_type";
inline constexpr const char* kOffsetUnit = "openPMD_offset_unitSI";
inline constexpr const char* kOffsetValue = "openPMD_offset_value";

/// Numbers of all particles of one species in a file: a dataset, a column of one, or a constant.
struct Component {
  std::string at;                 ///< path of the dataset, or of the group with the constant
  std::optional<double> value;    ///< the constant, if it is one
  FileType type = FileType::f64;  ///< type of the numbers
  std::int64_t width = 0;         ///< numbers of a row of the dataset; 0: it has one dimension
  std::int64_t column = 0;        ///< column of the dataset
  std::int64_t first_row = 0;     ///< row of the dataset of the first particle; in a series of time steps not 0
  double unit = 1;                ///< unitSI: the number that makes it one in SI units
  FileStorage storage;
};

/// Particles of one species in a file.
struct Species {
  std::string name;
  std::int64_t count = 0;
  /// By the name of the parcels' column ("x_position", "volume", "merganser_id", ...); "x_offset": openPMD's positionOffset.
  std::map<std::string, Component> columns;
};

/// Reads rows of an array of an open file, by the name `at` of its description, converted to a type in memory.
using ReadNumbers = std::function<void(const std::string& at, FileType type, const hdf5::File::Rows& rows, void* to)>;

/// Description of a particle file: what callers see, and where the numbers are.
struct ParticleFile {
  ParcelFileInfo info;
  std::vector<Species> species;  ///< in the order in which particles are counted
};

/// Refuses files by their name, whose formats this program knows and does not read (ADIOS2's `.bp`). @throws InputError
void refuse_other_formats(const std::string& path);
/// Reads the description of a particle file; nothing if the file is neither of openPMD nor of VTKHDF. Takes the lock.
/// @pre check_self_contained() accepts it
[[nodiscard]] std::optional<ParcelFileInfo> read_particle_info(const std::string& path, const std::string& species);
/// Reads the particles of a file of openPMD or VTKHDF: read_parcels() for these formats. Collective.
[[nodiscard]] Parcels read_particles(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                                     std::vector<FilePlace>* places, std::vector<MissingFound>* missing);

/// Writes parcels as a file of openPMD or VTKHDF: write_parcels() for these formats, after its checks. Collective.
/// @param name  path, and the format
void write_particles(const OutputName& name, const Parcels& parcels, const Grid& grid, double time,
                     comm::Transport& transport, const FileMetadata& metadata);
/// Rounds positions and volumes of this rank's parcels to what a file of the metadata's format and types will hold. Local.
void fit_particles(Parcels& parcels, const Box& box, const FileMetadata& metadata);

/// Describes an openPMD file. @param species  the one to read; empty: all. Call under the lock.
[[nodiscard]] ParticleFile describe_openpmd(const hdf5::File& file, const std::string& species);
/// Describes a VTKHDF file of points. Call under the lock.
[[nodiscard]] ParticleFile describe_vtkhdf(const hdf5::File& file);

/// Reads box, cells, periodic axes and volume ratio from our own attributes of an object, those that are there.
void read_own_attributes(const hdf5::File& file, const std::string& at, ParcelFileInfo& info);
/// Reads the same from our own attributes by name. @param numbers  returns those of a name, none if it is not there
void read_own_numbers(const std::string& path, const std::function<std::vector<double>(const char* name)>& numbers,
                      ParcelFileInfo& info);
/// Makes the description of one column for FileMetadata::columns.
[[nodiscard]] FileVariable describe_column(const std::string& name, const Component& component,
                                           const std::string& record);
/// Adds to a schema the attributes of EPIC's that all species have with all of their components.
void add_epic_attributes(const std::vector<Species>& species, std::vector<Attribute>& to);

}  // namespace merganser::io
