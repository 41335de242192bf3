#pragma once
/// Reads and writes NetCDF-4 files whose arrays one rank holds whole (fields, statistics). Files of parcels that are
/// distributed over ranks: parcel_file.hpp.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/io/file_metadata.hpp"

#include "merganser/base/language.hpp"

namespace merganser::io {

/// Copies numbers into values of NetCDF type double, for an attribute or variable of a file. Local.
[[nodiscard]] FileValues file_values(std::span<const double> numbers);
/// Copies numbers into values of NetCDF type int (32 bits), for an attribute or variable of a file. Local.
[[nodiscard]] FileValues file_values(std::span<const std::int32_t> numbers);
/// Copies numbers into values of NetCDF type int64, for an attribute or variable of a file. Local.
[[nodiscard]] FileValues file_values(std::span<const std::int64_t> numbers);
/// Copies a text into values of NetCDF type char, one value per byte, for an attribute or variable of a file. Local.
[[nodiscard]] FileValues file_values(std::string_view text);

/// Converts values of a NetCDF file to doubles, rounding 64-bit integers. Returns an empty vector if they are text or of
/// a type without numbers. Local.
[[nodiscard]] std::vector<double> to_doubles(const FileValues& values);
/// Converts values of a NetCDF file to 64-bit integers without loss; uint64 keeps its bits. Returns an empty vector if
/// they are of no integer type. Local.
[[nodiscard]] std::vector<std::int64_t> to_integers(const FileValues& values);
/// Returns the text of values of a NetCDF file: the first string, or all characters. Empty if they are neither. Local.
[[nodiscard]] std::string to_text(const FileValues& values);
/// Returns the values of a NetCDF group's attribute of this name, or null if the group has none. Local.
[[nodiscard]] const FileValues* find_attribute(const FileGroup& group, std::string_view name);
/// Returns the immediate subgroup of a NetCDF group with this name, or null if the group has none. Local.
[[nodiscard]] const FileGroup* find_group(const FileGroup& group, std::string_view name);
/// Returns the values of a NetCDF group's variable of this name, or null if the group has none. Local.
[[nodiscard]] const FileValues* find_variable(const FileGroup& group, std::string_view name);

/// Checks that a file is a regular one on this machine, has the signature of NetCDF, and refers to no other file: no
/// external links, no external storage, no virtual datasets, no filters for which HDF5 would load a plug-in. Every
/// function that opens a file calls it before it passes the name to the NetCDF library. Local.
/// @return the size of the file in bytes
/// @throws InputError naming the file and what is wrong
std::int64_t check_self_contained(const std::string& path);

/// Mask of the missing values of one NetCDF variable, returned by find_missing().
struct MissingMask {
  std::vector<std::uint8_t> missing;  ///< for each value 1 (missing) or 0 (present)
  std::string why;                    ///< reason of the first missing value, as "NaN" or "_FillValue -999"; else empty
};
/// Classifies every value of a numeric NetCDF variable as present or missing by the rule of docs/parcel-files.md. Local.
/// @throws InputError without the file's name if the variable's attributes do not define missing values
[[nodiscard]] MissingMask find_missing(const FileVariable& variable);

/// Validates that a numeric variable of a group has no missing values (NaN, `_FillValue`, `missing_value`, outside
/// `valid_range`, never written). A variable that the group lacks passes. Local.
/// @throws InputError beginning with `path`, naming the variable, how many are missing and the place of the first, from 0
void require_values(const std::string& path, const FileGroup& group, std::string_view name);

/// Writes rank 0's group as a NetCDF-4 file, with version and time of creation; the groups of other ranks are ignored. The
/// file appears whole or not at all. Collective.
/// @param root  the number of values of every variable is the product of its dimensions' lengths; that of an unlimited
///              dimension is FileDimension::length
/// @throws InputError on every rank if the file cannot be written, or if values do not fit their dimensions
void write_data(const std::string& path, const FileGroup& root, comm::Transport& transport);

/// Reads the root group of a NetCDF file: its attributes, and its numeric variables with their attributes. Subgroups are
/// ignored. Serial: one rank of a process at a time, while no other rank has the file open.
/// @throws InputError naming the file and what is wrong, also for a file with more than 1 GiB of values
[[nodiscard]] FileGroup read_data(const std::string& path);

}  // namespace merganser::io
