#pragma once
/// EPIC parcel files (NetCDF-4). What is read, written and carried through: docs/parcel-files.md.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/io/file_heading.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::io {

/// What a parcel file says of itself: read_info() fills it, add_variables() extends it, read_parcels() goes by it.
struct ParcelFileInfo {
  Grid grid;  ///< its box periodic as the attribute `periodic` says, else in x and y, as EPIC's files are
  bool says_periodic = false;  ///< the attribute `periodic` is there
  /// The attribute `min_vratio`, above 0, if it is there: cell volume / smallest volume that is not small.
  std::optional<double> min_volume_ratio;
  std::int64_t parcels = 0;
  double time = 0;
  bool classic = false;  ///< a format before NetCDF-4, which processes cannot open together
  bool has_ids = false;  ///< the variable merganser_id is there
  Schema schema;         ///< EPIC's, less vorticity and buoyancy where the file lacks them; read_parcels() reads these
  FileHeading heading;
};

/// How the values of a further variable merge.
struct VariableRule {
  std::string name;
  Rule rule = Rule::mean;
  /// Parcels may lack a value: such members count neither in a mean nor in a sum, and a merged parcel lacks one if all
  /// members do, or the one whose value it keeps. Else a missing value is an error.
  bool skip_missing = false;
};

/// A variable of which parcels of a file lack a value.
struct MissingFound {
  std::string name;
  std::int64_t count = 0;  ///< parcels
};

/// Where a parcel stood in the file, from 0.
struct FilePlace {
  std::int64_t id;
  std::int64_t place;
};

/// True if this build has NetCDF; without it the functions below throw InputError, whatever the file.
[[nodiscard]] bool netcdf_available() noexcept;

/// Reads the description of a file, but no parcel. Serial: on one rank of a process at a time, and while no other has
/// the file open (HDF5 takes the one for the other). @throws InputError naming the file and what is wrong
[[nodiscard]] ParcelFileInfo read_info(const std::string& path);
/// The same on all ranks: rank 0 reads and tells the others. Collective.
[[nodiscard]] ParcelFileInfo read_info(const std::string& path, comm::Transport& transport);

/// Sets the attribute `min_vratio` of files written with this heading. Local. @throws UsageError unless above 0 and finite
void set_min_volume_ratio(FileHeading& heading, double ratio);

/// Variables over the parcels that `info.schema` does not hold, by name: read_parcels() passes them over.
[[nodiscard]] std::vector<std::string> passed_over(const ParcelFileInfo& info);

/// Adds variables of the file to `info.schema`, in the order of their names, each as an attribute of one component.
/// Numbers of any type; with centre and largest every bit is kept; with skip_missing mean becomes mean_present and
/// sum becomes sum_present. Local.
/// @throws UsageError, naming variable and rule, if the file has no such variable, EPIC defines its rule, or rule and
/// type do not go together
void add_variables(const std::string& path, ParcelFileInfo& info, std::span<const VariableRule> rules);

/// Reads the parcels; each rank gets about as many. Collective; parallel where the library allows. Every parcel is
/// checked: finite, within the bounds of docs/parcel-files.md, inside the walls, recoverable B33; positions on periodic
/// axes are wrapped. Ids are those of the file; where it has none, the places of the parcels in the order of
/// (x, y, z, volume, attributes), so that a file in another order gives the same. Errors are agreed on: every rank
/// throws the same InputError, naming the parcel by its place in the file.
/// A missing value (NaN, `_FillValue`, `missing_value`, outside `valid_range`, never written) is an error that names the
/// variable, how many there are and the first, except where the rule says skip_missing. There it becomes NaN under the rules
/// that compute, which become mean_present and sum_present; under those that keep, the bits stay.
/// @param places  gets the places of this rank's parcels, if not null
/// @param missing  gets variables whose missing values were let pass, the same on all ranks, if not null
[[nodiscard]] Parcels read_parcels(const std::string& path, const ParcelFileInfo& info, comm::Transport& transport,
                                   std::vector<FilePlace>* places = nullptr,
                                   std::vector<MissingFound>* missing = nullptr);

/// Rounds attributes to the types that their variables have in the file, and checks that every parcel may be written:
/// what read_parcels() checks, that values fit their types, and that none would be read again as a missing one. NaN of
/// mean_present and sum_present is written as the variable's fill value. Collective.
/// @throws InputError on every rank, naming the parcel by its id, the value and what is allowed
void fit_to_file(const std::string& path, Parcels& parcels, const Box& box, const FileHeading& heading,
                 comm::Transport& transport);

/// Writes all ranks' parcels, rank after rank, as an EPIC file, with their ids and with what `heading` holds. Collective.
/// The file appears whole or not at all. @throws InputError on every rank if it cannot be written, if ids are negative
/// or not unique, or if fit_to_file() would throw; UsageError for a decomposition over another number of ranks
void write_parcels(const std::string& path, const Parcels& parcels, const Decomposition& decomposition, double time,
                   comm::Transport& transport, const FileHeading& heading = {});

}  // namespace merganser::io
