#pragma once
/// Defines a parcel file that is to be written: global attributes, dimensions and variables, which every rank
/// of a collective file defines alike.
#include <cstdint>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "src/io/columns.hpp"
#include "src/io/layout.hpp"
#include "src/io/netcdf/metadata.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Definition of a parcel file that is to be written, the argument of define_file(); the same on every rank.
struct NewFile {
  const Grid& grid;
  const std::vector<Column>& columns;  ///< variables over the parcels, including the ids
  const Layout& layout;
  const FileMetadata& metadata;
  bool with_boxes;  ///< true if the file has variables with the block of each rank
};

/// NetCDF's numbers of the variables of a new parcel file, returned by define_file().
struct DefinedVariables {
  int time = -1;
  std::vector<int> columns;            ///< variables over the parcels, in the order of NewFile::columns
  std::vector<int> boxes;              ///< start_index, xlo, xhi, ylo, yhi of each rank's block; empty if left out
  std::vector<VariableNumber> others;  ///< carried metadata, in the order in which put_values() writes them
};

/// Returns the chunk length of every column of a new parcel file, in parcels. @param total  number of parcels in the file
[[nodiscard]] std::vector<std::int64_t> chunk_lengths(const std::vector<Column>& columns, std::int64_t total);

/// Writes the global attributes of every NetCDF file of ours: version of merganser and time of creation. Call under the NetCDF
/// lock, in define mode.
void put_provenance(const NcFile& file);

/// Defines a new parcel file (attributes, dimensions, variables) in define mode and ends that mode. Takes the NetCDF lock.
/// Every rank of a collective file must call it. @return numbers of its variables
/// @throws InputError if the NetCDF library refuses a definition
[[nodiscard]] DefinedVariables define_file(NcFile& file, const NewFile& in);

}  // namespace merganser::io
