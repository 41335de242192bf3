#pragma once
/// Reads and writes parcel files: EPIC's (NetCDF-4), openPMD particles, VTKHDF, VTU, NPZ, NPY and CSV, collectively over the ranks
/// of a transport.
/// Contents of the files: docs/parcel-files.md.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/io/file_metadata.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// Description of a parcel file: read_info() fills it, add_variables() extends its schema, read_parcels() reads by it.
struct ParcelFileInfo {
  Grid grid;  ///< box and cells; axes periodic by the attribute `periodic`, without it in x and y, as in EPIC's files
  /// True if the file tells box and cells, as EPIC's always do. A caller who sets `grid` in place of the file sets it.
  bool says_grid = true;
  /// True if the file tells which axes are periodic. In files of openPMD and VTKHDF nothing is assumed in its place: a caller who
  /// sets the axes in place of the file sets it.
  bool says_periodic = false;
  /// Attribute `min_vratio`, above 0, if the file has it: cell volume / smallest volume that is not small.
  std::optional<double> min_volume_ratio;
  std::int64_t parcels = 0;  ///< number of parcels in the file
  double time = 0;           ///< last time level, in the unit of the file; 0 if it has none
  bool classic = false;      ///< true for a format before NetCDF-4, which processes cannot open together
  bool has_ids = false;      ///< true if the file has the variable merganser_id
  Schema schema;          ///< EPIC's, less vorticity and buoyancy where the file lacks them: the attributes to be read
  FileMetadata metadata;  ///< everything else that is carried into files made from this one
  /// Choices made on reading a file of openPMD or VTKHDF, for the user: species, ids, source of the box. One sentence each.
  std::vector<std::string> notes;
};

/// Rule by which the values of one parcel file variable beside EPIC's merge, the argument of add_variables().
struct VariableRule {
  std::string name;        ///< name of the variable in the file
  Rule rule = Rule::mean;  ///< merge rule of its values: mean, sum, centre or largest
  /// Parcels may lack a value: such members count neither in a mean nor in a sum, and a merged parcel lacks one if all
  /// members do, or the one whose value it keeps. Else a missing value is an error.
  bool skip_missing = false;
};

/// Number of missing values of one variable over all parcels of a file, reported by read_parcels().
struct MissingFound {
  std::string name;        ///< name of the variable
  std::int64_t count = 0;  ///< number of parcels without a value, at least 1
};

/// Position that a parcel had in the file it was read from, reported by read_parcels().
struct FilePlace {
  std::int64_t id;     ///< id of the parcel
  std::int64_t place;  ///< position of the parcel in the file, from 0
};

/// Returns true if this build has NetCDF. Without it, functions that read or write files throw InputError for every file.
[[nodiscard]] bool netcdf_available() noexcept;

/// Reads the description of a parcel file, without values of parcels. Serial: on one rank of a process at a time, and
/// while no other rank has the file open, since HDF5 shares the state of files of one name within a process.
/// @param species  of a file of openPMD the species to read; empty: all, of which an integer attribute `species` tells
/// @param columns  of a CSV file columns with other names than here
/// @throws InputError naming the file and what is wrong
[[nodiscard]] ParcelFileInfo read_info(const std::string& path, const std::string& species = {},
                                       const std::vector<ColumnName>& columns = {});
/// Reads the metadata of a parcel file on rank 0 and broadcasts it: every rank returns the same. Collective.
/// @param species, columns  as for the serial read_info(); those of rank 0 are used
/// @throws InputError on every rank, naming the file and what is wrong
[[nodiscard]] ParcelFileInfo read_info(const std::string& path, comm::Transport& transport,
                                       const std::string& species = {}, const std::vector<ColumnName>& columns = {});

/// Sets the attribute `min_vratio` of files written with this metadata. Local.
/// @param ratio  cell volume / smallest volume that is not small [-]
/// @throws UsageError unless above 0 and finite
void set_min_volume_ratio(FileMetadata& metadata, double ratio);

/// Sets the attribute `merge_step` of files written with this metadata: number of the next step in the key of a merge policy's
/// random numbers, so that several commands continue one sequence. Local.
void set_merge_step(FileMetadata& metadata, std::uint64_t step);
/// Returns the attribute `merge_step` of a file, 0 if it has none. Local. @throws InputError unless it is an integer from 0 to 2^53
[[nodiscard]] std::uint64_t merge_step(const FileMetadata& metadata);

/// Returns the names, ascending, of the file's variables over the parcels that `info.schema` does not hold, which
/// read_parcels() therefore does not read. Local.
[[nodiscard]] std::vector<std::string> unread_variables(const ParcelFileInfo& info);

/// Adds variables of the file to `info.schema`, in the order of their names, each as an attribute of one component.
/// Numbers of any type; with centre and largest every bit is kept; with skip_missing mean becomes mean_present and
/// sum becomes sum_present. Local.
/// @throws UsageError naming variable and rule if the file has no such variable, EPIC defines its rule, or the rule does
///         not suit the type
void add_variables(const std::string& path, ParcelFileInfo& info, std::span<const VariableRule> rules);

/// Removes attributes from `info.schema` that the file's format puts there, with their rules: read_parcels() then reads none of their
/// variables. A name is that of an attribute, or of a variable of the file; of an attribute of several variables the names hold it or
/// all of its variables. Names of something else do nothing. Local.
/// @return the names that were found and those of the variables, ascending
/// @throws UsageError for a part of an attribute's variables, or the attribute species of a file with several of them
std::vector<std::string> drop_attributes(ParcelFileInfo& info, std::span<const std::string> names);

/// Reads the parcels of a file, in slices of about equal size, one per rank. Collective; processes read in parallel,
/// ranks that are threads of one process in turns. Every parcel is checked: finite, within the bounds of
/// docs/parcel-files.md, inside the walls, recoverable B33; positions on periodic axes are wrapped. Ids are those of the
/// file; where it has none, the positions of the parcels in the order of (x, y, z, volume, attributes), so that the order
/// of the file does not matter.
/// A missing value (NaN, `_FillValue`, `missing_value`, outside `valid_range`, never written) is an error, except where
/// the rule has skip_missing. There it becomes NaN under the rules that compute, which become mean_present and
/// sum_present; under those that keep, the bits stay.
/// @param info     of this file, the same on every rank
/// @param places   receives the positions in the file of this rank's parcels, if not null
/// @param missing  receives the variables whose missing values were accepted, the same on all ranks, if not null
/// @return this rank's parcels
/// @throws InputError, the same on every rank, naming the parcel by its place in the file; for missing values the
///         variable, their number and the first
[[nodiscard]] Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                                   std::vector<FilePlace>* places = nullptr,
                                   std::vector<MissingFound>* missing = nullptr);

/// Rounds this rank's attributes to the types that their variables have in the file, and checks that every parcel may be
/// written: by the checks of read_parcels(), that values fit their types, and that none would be read as a missing one.
/// NaN under mean_present and sum_present passes, since it is written as the variable's fill value. Collective.
/// @throws InputError on every rank, naming the parcel by its id, the value and what is allowed
void fit_to_file(const std::string& path, Parcels& parcels, const Box& box, const FileMetadata& metadata,
                 comm::Transport& transport);

/// Writes the parcels of all ranks, in the order of the ranks, as an EPIC file with their ids and the contents of
/// `metadata`. The file appears whole or not at all. Collective.
/// @param time  of the one time level, in the unit of the file
/// @throws InputError on every rank if the file cannot be written, if ids are negative or not unique, or if fit_to_file()
///         would throw
/// @throws UsageError for a decomposition over another number of ranks
void write_parcels(const std::string& path, const Parcels& parcels, const Decomposition& decomposition, double time,
                   comm::Transport& transport, const FileMetadata& metadata = {});

}  // namespace merganser::io
