#pragma once
/// Reads and writes the metadata of a parcel file: its attributes, dimensions, groups, and variables that are not over the
/// parcels.
#include <array>
#include <string_view>
#include <vector>

#include "merganser/io/file_metadata.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Names of the variables over the ranks: first parcel and cell ranges of each rank's block. The writer creates them, so they
/// are never carried from another file.
inline constexpr std::array<const char*, 5> kBoxNames{"start_index", "xlo", "xhi", "ylo", "yhi"};

/// Reads everything but the values of parcels. Values of other variables are read up to 16 MiB in total; variables beyond
/// that are listed as lost. Local; takes the lock. @throws InputError if the library cannot read the file
[[nodiscard]] FileMetadata read_metadata(const NcFile& file);

/// NetCDF's numbers of a variable and of the group that has it.
struct VariableNumber {
  int group;
  int variable;
};

// The four functions that follow need a file in define mode and the lock. Where the file is collective, every rank must call
// them with the same arguments.

/// Defines the dimensions of a group, without those of its subgroups. They must precede all variables of the group: NetCDF
/// separates a variable from a dimension of the same name only if the dimension exists (else nc_enddef() fails).
void define_dimensions(const NcFile& file, int id, const FileGroup& group);
/// Defines attributes and variables of a group, and its subgroups with their dimensions. @param id  NetCDF's number of
/// the group
/// @return the variables in the order in which put_values() writes them
std::vector<VariableNumber> define_group(const NcFile& file, int id, const FileGroup& group);
/// Writes attributes of a variable, or of the group with variable NC_GLOBAL.
void put_attributes(const NcFile& file, int group, int variable, const std::vector<FileAttribute>& attributes);
/// Sets the filters of a variable: shuffle, deflate, checksum. @param name  name of the variable, for errors
void define_storage(const NcFile& file, VariableNumber v, const FileStorage& storage, const std::string& name);

/// Writes the values of a group's variables and of its subgroups'. Collective if the file is; call under the lock.
/// @param defined  what define_group() returned
/// @param mine     this rank writes; other ranks take part with empty parts
void put_values(const NcFile& file, const FileGroup& group, const std::vector<VariableNumber>& defined, bool mine);

/// Returns true if a variable holds strings of variable length, which HDF5 cannot write in parallel.
[[nodiscard]] bool has_text_variables(const FileGroup& group);
/// Estimates the bytes that a group takes in a file, for the check of disk space.
[[nodiscard]] std::int64_t metadata_bytes(const FileGroup& group);

/// Returns true for global attributes that the writer creates in every file, which are not carried.
[[nodiscard]] bool is_own_attribute(std::string_view name);

}  // namespace merganser::io
