/// Defines and writes the metadata of a NetCDF file: attributes, dimensions, groups, and variables not over the parcels.
#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "merganser/base/error.hpp"
#include "src/io/columns.hpp"
#include "src/io/netcdf/metadata.hpp"

namespace merganser::io {
namespace {

/// Returns pointers to the strings of a NetCDF attribute or variable, as the NetCDF library takes them. The strings must
/// outlive the result.
std::vector<const char*> c_strings(const std::vector<std::string>& strings) {
  std::vector<const char*> out;
  for (const std::string& s : strings) out.push_back(s.c_str());
  return out;
}

/// Returns NetCDF's number of the dimension of this name that a group sees. @throws InputError naming the variable that is
/// defined over it, if there is no such dimension
int find_dimension(const NcFile& file, int group, const std::string& name, const std::string& variable) {
  int id = -1;
  file.check(nc_inq_dimid(group, name.c_str(), &id), "define the variable " + variable);
  return id;
}

/// Returns the length of a dimension of a variable in the last of these nested NetCDF groups: that of the innermost group which
/// defines it. 1 if none does: of the dimensions that the writer creates, carried variables are over the single time level
/// only.
std::size_t dimension_length(const std::string& dimension, std::span<const FileGroup* const> groups) {
  for (; !groups.empty(); groups = groups.first(groups.size() - 1))
    for (const FileDimension& d : groups.back()->dimensions)
      if (d.name == dimension) return static_cast<std::size_t>(d.length);
  return 1;
}

/// Writes to a parcel file the values of the carried variables of the last of the groups and of its subgroups, and advances
/// `at`. Every rank of a collective file makes the same calls; those without `mine` write parts of length 0.
/// @param groups  path from the root group to the group whose values are written
void write_group_values(const NcFile& file, std::vector<const FileGroup*>& groups, const VariableNumber*& at,
                        bool mine) {
  const FileGroup& group = *groups.back();
  for (const FileVariable& v : group.variables) {
    const VariableNumber to = *at++;
    const std::string what = "write the variable " + v.name;
    std::vector<std::size_t> start(v.dimensions.size() + 1, 0);
    std::vector<std::size_t> length(v.dimensions.size() + 1, 1);
    std::transform(v.dimensions.begin(), v.dimensions.end(), length.begin(),
                   [&](const std::string& d) { return dimension_length(d, groups); });
    const auto all = std::accumulate(length.begin(), length.end(), std::size_t{1}, std::multiplies<>());
    if (v.values.count == 0) continue;
    if (static_cast<std::size_t>(v.values.count) != all)
      throw InputError(file.path() + ": cannot " + what + ": it has " + std::to_string(v.values.count) +
                       " values; its dimensions make " + std::to_string(all));
    if (!mine && !v.dimensions.empty()) std::fill(length.begin(), length.end(), 0);
    const std::vector<const char*> texts = c_strings(v.values.strings);
    const void* const values = texts.empty() ? static_cast<const void*>(v.values.bytes.data()) : texts.data();
    file.check(nc_put_vara(to.group, to.variable, start.data(), length.data(), values), what);
  }
  for (const FileGroup& g : group.groups) {
    groups.push_back(&g);
    write_group_values(file, groups, at, mine);
    groups.pop_back();
  }
}

}  // namespace

// NetCDF attributes of a file that is made from another one keep their types.
void put_attributes(const NcFile& file, int group, int variable, const std::vector<FileAttribute>& attributes) {
  for (const FileAttribute& a : attributes) {
    const std::string what = "write the attribute " + a.name;
    const auto count = static_cast<std::size_t>(a.values.count);
    if (a.values.type == NC_STRING) {
      std::vector<const char*> texts = c_strings(a.values.strings);
      file.check(nc_put_att_string(group, variable, a.name.c_str(), count, texts.data()), what);
    } else {
      file.check(nc_put_att(group, variable, a.name.c_str(), a.values.type, count, a.values.bytes.data()), what);
    }
  }
}

void define_storage(const NcFile& file, VariableNumber v, const FileStorage& storage, const std::string& name) {
  const std::string what = "define the variable " + name;
  if (storage.shuffle || storage.deflate > 0)
    file.check(
        nc_def_var_deflate(v.group, v.variable, storage.shuffle ? 1 : 0, storage.deflate > 0 ? 1 : 0, storage.deflate),
        what);
  if (storage.checksum) file.check(nc_def_var_fletcher32(v.group, v.variable, NC_FLETCHER32), what);
}

void define_dimensions(const NcFile& file, int id, const FileGroup& group) {
  for (const FileDimension& d : group.dimensions) {
    int dimension = -1;
    const std::size_t length = d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length);
    file.check(nc_def_dim(id, d.name.c_str(), length, &dimension), "define the dimension " + d.name);
  }
}

// Definition of a group that is carried from another NetCDF file, in define mode; values follow by put_values() in this order.
std::vector<VariableNumber> define_group(const NcFile& file, int id, const FileGroup& group) {
  std::vector<VariableNumber> out;
  put_attributes(file, id, NC_GLOBAL, group.attributes);
  for (const FileVariable& v : group.variables) {
    std::vector<int> dimensions;
    for (const std::string& d : v.dimensions) dimensions.push_back(find_dimension(file, id, d, v.name));
    VariableNumber number{id, -1};
    file.check(nc_def_var(id, v.name.c_str(), v.values.type, static_cast<int>(dimensions.size()), dimensions.data(),
                          &number.variable),
               "define the variable " + v.name);
    if (!dimensions.empty() && v.values.type != NC_STRING) define_storage(file, number, v.storage, v.name);
    put_attributes(file, id, number.variable, v.attributes);
    out.push_back(number);
  }
  for (const FileGroup& g : group.groups) {
    int inner = -1;
    file.check(nc_def_grp(id, g.name.c_str(), &inner), "define the group " + g.name);
    define_dimensions(file, inner, g);
    const auto more = define_group(file, inner, g);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

void put_values(const NcFile& file, const FileGroup& group, const std::vector<VariableNumber>& defined, bool mine) {
  const VariableNumber* at = defined.data();
  std::vector<const FileGroup*> groups{&group};
  write_group_values(file, groups, at, mine);
}

bool has_text_variables(const FileGroup& group) {
  return std::any_of(group.variables.begin(), group.variables.end(),
                     [](const FileVariable& v) { return v.values.type == NC_STRING; }) ||
         std::any_of(group.groups.begin(), group.groups.end(), has_text_variables);
}

// Upper bound of the bytes of carried metadata in a NetCDF file, for the check of disk space.
std::int64_t metadata_bytes(const FileGroup& group) {
  constexpr std::int64_t kEach = 1024;  // bytes of HDF5's own for a name and its address, from above
  std::int64_t bytes = 4 * kEach;
  const auto add = [&](const FileValues& v) {
    bytes += kEach + static_cast<std::int64_t>(v.bytes.size());
    for (const std::string& s : v.strings) bytes += 64 + static_cast<std::int64_t>(s.size());
  };
  for (const FileAttribute& a : group.attributes) add(a.values);
  for (const FileVariable& v : group.variables) {
    bytes += 4 * kEach;
    add(v.values);
    for (const FileAttribute& a : v.attributes) add(a.values);
  }
  for (const FileGroup& g : group.groups) bytes += metadata_bytes(g);
  return bytes;
}

}  // namespace merganser::io
