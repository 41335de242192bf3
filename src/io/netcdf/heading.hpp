#pragma once
/// What a file holds besides the values of its parcels: reading and writing it.
#include <array>
#include <string_view>
#include <vector>

#include "merganser/io/file_heading.hpp"
#include "src/io/netcdf/nc_file.hpp"

namespace merganser::io {

/// Variables over the ranks: where the parcels of each rank begin, and its box. The writer makes them anew.
inline constexpr std::array<const char*, 5> kBoxNames{"start_index", "xlo", "xhi", "ylo", "yhi"};

/// Everything but values of parcels. Values of other variables up to 16 MiB in all; what is more is lost, by name.
/// @throws InputError if the library cannot read it
[[nodiscard]] FileHeading read_heading(const NcFile& file);

/// A variable of the file or of one of its groups.
struct VariableNumber {
  int group;
  int variable;
};

// Both define in a file that is in define mode. Every rank of a collective file must call them. Call under the
// lock.

/// The dimensions of a group, without those within it. They come before all variables of the group: NetCDF keeps a variable
/// that bears the name of a dimension apart from it only if the dimension is there (else nc_enddef() fails).
void define_dimensions(const NcFile& file, int id, const FileGroup& group);
/// Attributes, variables, and groups with their dimensions. @return the variables, in the order in which put_values() takes
/// them
std::vector<VariableNumber> define_group(const NcFile& file, int id, const FileGroup& group);
void put_attributes(const NcFile& file, int group, int variable, const std::vector<FileAttribute>& attributes);
void define_storage(const NcFile& file, VariableNumber v, const FileStorage& storage, const std::string& name);

/// Writes the values; ranks without `mine` take part with none. Call under the lock.
void put_values(const NcFile& file, const FileGroup& group, const std::vector<VariableNumber>& defined, bool mine);

/// True if a variable holds text of any length, which cannot be written by several processes together.
[[nodiscard]] bool has_text_variables(const FileGroup& group);
/// About what they take in a file.
[[nodiscard]] std::int64_t heading_bytes(const FileGroup& group);

/// Global attributes that every file gets anew.
[[nodiscard]] bool is_own_attribute(std::string_view name);

}  // namespace merganser::io
