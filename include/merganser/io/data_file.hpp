#pragma once
/// NetCDF-4 files of arrays that one rank holds: fields, statistics. Parcel files: parcel_file.hpp.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/io/file_heading.hpp"

#include "merganser/base/language.hpp"

namespace merganser::io {

/// Numbers as values of a file: doubles, 32-bit and 64-bit integers.
[[nodiscard]] FileValues file_values(std::span<const double> numbers);
[[nodiscard]] FileValues file_values(std::span<const std::int32_t> numbers);
[[nodiscard]] FileValues file_values(std::span<const std::int64_t> numbers);
/// A text.
[[nodiscard]] FileValues file_values(std::string_view text);

/// The values as doubles; none if they are text or of a type without numbers.
[[nodiscard]] std::vector<double> numbers_of(const FileValues& values);
/// The values as integers, exact; none if they are no integers.
[[nodiscard]] std::vector<std::int64_t> integers_of(const FileValues& values);
/// The text, of one string or of characters; empty if the values are neither.
[[nodiscard]] std::string text_of(const FileValues& values);
/// An attribute of a group by name; null if it has none.
[[nodiscard]] const FileValues* find_attribute(const FileGroup& group, std::string_view name);
/// The group of a group by name; null if it has none.
[[nodiscard]] const FileGroup* find_group(const FileGroup& group, std::string_view name);
/// The values of a variable of a group by name; null if it has none.
[[nodiscard]] const FileValues* find_variable(const FileGroup& group, std::string_view name);

/// Checks that a file is a plain one on this machine, begins as NetCDF does, and leads to no other file: no external links,
/// no external storage, no virtual datasets, no filters for which HDF5 would load a plug-in. All that open a file call it
/// before the NetCDF library sees the name. Local. @throws InputError naming the file and what is wrong
/// @return its size in bytes
std::int64_t check_self_contained(const std::string& path);

/// Which values of a variable are missing.
struct MissingMask {
  std::vector<std::uint8_t> missing;  ///< for each value 1 or 0
  std::string why;                    ///< of the first: "NaN", "_FillValue -999"
};
/// Looks at type, attributes and values of a variable of numbers by the rule of docs/parcel-files.md. Local.
/// @throws InputError for attributes that do not tell, without the file's name
[[nodiscard]] MissingMask find_missing(const FileVariable& variable);

/// Asks that a variable of numbers that was read has no missing values (NaN, `_FillValue`, `missing_value`, outside
/// `valid_range`, never written); one that is not there has none.
/// @throws InputError beginning with `path`, naming the variable, how many are missing and the place of the first, from 0
void require_values(const std::string& path, const FileGroup& group, std::string_view name);

/// Writes rank 0's group as a file, with version and time of creation; what the other ranks give is not looked at. The file
/// appears whole or not at all. Collective.
/// @param root  every variable has as many values as its dimensions make; of an unlimited one, FileDimension::length
/// @throws InputError on every rank if it cannot be written, or if values do not fit their dimensions
void write_data(const std::string& path, const FileGroup& root, comm::Transport& transport);

/// Reads attributes, and variables of numbers with theirs, of a file's root. Serial, as read_info() of parcel_file.hpp.
/// @throws InputError naming the file and what is wrong, also for a file with more than 1 GiB of values
[[nodiscard]] FileGroup read_data(const std::string& path);

}  // namespace merganser::io
