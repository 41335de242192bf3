#pragma once
/// Reads and writes the metadata of a parcel file: its attributes, dimensions, groups, and variables that are not over the
/// parcels.
#include <array>
#include <string_view>
#include <vector>

#include "merganser/io/file_metadata.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Names of a parcel file's variables over the ranks: first parcel and cell ranges of each rank's block. The writer creates
/// them, so they are never carried from another file.
inline constexpr std::array<const char*, 5> kBoxNames{"start_index", "xlo", "xhi", "ylo", "yhi"};

/// Reads everything of a parcel file but the values of its parcels: attributes, dimensions, groups, variables. Values of other
/// variables are read up to 16 MiB in total; variables beyond that are listed as lost. Local; takes the NetCDF lock.
/// @throws InputError if the library cannot read the file
[[nodiscard]] FileMetadata read_metadata(const NcFile& file);

/// Address of a variable in a NetCDF file: NetCDF's numbers of the variable and of the group that has it.
struct VariableNumber {
  int group;
  int variable;
};

// The four functions that follow need a file in define mode and the lock. Where the file is collective, every rank must call
// them with the same arguments.

/// Defines in a new NetCDF file the dimensions of a group, without those of its subgroups. They must precede all variables of
/// the group: NetCDF separates a variable from a dimension of the same name only if the dimension exists (else nc_enddef()
/// fails).
void define_dimensions(const NcFile& file, int id, const FileGroup& group);
/// Defines in a new NetCDF file the attributes and variables of a group, and its subgroups with their dimensions. @param id
/// NetCDF's number of the group
/// @return the variables in the order in which put_values() writes them
std::vector<VariableNumber> define_group(const NcFile& file, int id, const FileGroup& group);
/// Writes the attributes of a NetCDF variable, or with variable NC_GLOBAL those of the group. Their types are kept.
void put_attributes(const NcFile& file, int group, int variable, const std::vector<FileAttribute>& attributes);
/// Sets the filters of a new NetCDF variable: shuffle, deflate, Fletcher32 checksum. @param name  name of the variable, for
/// errors
void define_storage(const NcFile& file, VariableNumber v, const FileStorage& storage, const std::string& name);

/// Writes the values of all variables of a group and its subgroups that are carried into a parcel file. Collective if the file
/// is; call under the NetCDF lock.
/// @param defined  what define_group() returned
/// @param mine     true on the rank that writes; other ranks take part with empty parts
void put_values(const NcFile& file, const FileGroup& group, const std::vector<VariableNumber>& defined, bool mine);

/// Returns true if a variable of a NetCDF group or its subgroups holds strings of variable length, which HDF5 cannot write in
/// parallel.
[[nodiscard]] bool has_text_variables(const FileGroup& group);
/// Estimates, from above, the bytes that attributes and values of a group and its subgroups take in a NetCDF file, for the
/// check of disk space.
[[nodiscard]] std::int64_t metadata_bytes(const FileGroup& group);

/// Returns true for names of global attributes that the writer of parcel files creates itself (version, creation, grid), which
/// are not carried from another file.
[[nodiscard]] bool is_own_attribute(std::string_view name);

}  // namespace merganser::io
