// Location of a column's NetCDF variable in a parcel file that is read, with the checks of its type and shape.
#include "src/io/netcdf/column_variable.hpp"

#include <array>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::io {
namespace {

/// Returns the name of an atomic or user-defined type of a NetCDF file, or its number if NetCDF does not know it.
std::string type_name_in(int file, nc_type type) {
  std::array<char, NC_MAX_NAME + 1> name{};
  std::size_t size = 0;
  return nc_inq_type(file, type, name.data(), &size) == NC_NOERR ? name.data() : std::to_string(type);
}

}  // namespace

// Check of one variable over the parcels, before it is read: present, of the column's type, of shape (t, n) or (n).
ColumnVariable find_column_variable(const NcFile& file, const Column& column, std::int64_t parcels) {
  const std::string& name = column.name;
  const auto variable = file.variable(name);
  if (!variable) throw InputError(file.path() + ": the variable " + name + " is missing");
  const auto lock = file.lock();
  nc_type type = NC_NAT;
  int dimensions = 0;
  std::array<int, NC_MAX_VAR_DIMS> dimension{};
  file.check(nc_inq_var(file.id(), *variable, nullptr, &type, &dimensions, nullptr, nullptr), "look at " + name);
  if (static_cast<FileType>(type) != column.type)
    throw InputError(file.path() + ": the variable " + name + " has type " + type_name_in(file.id(), type) +
                     "; it must be " + type_name(column.type));
  if (dimensions != 1 && dimensions != 2)
    throw InputError(file.path() + ": the variable " + name + " has " + std::to_string(dimensions) +
                     " dimensions; allowed: (t, n_parcels) or (n_parcels)");
  file.check(nc_inq_vardimid(file.id(), *variable, dimension.data()), "look at " + name);
  std::size_t times = 1;
  std::size_t length = 0;
  if (dimensions == 2) file.check(file.dimension_length(file.id(), dimension[0], times), "look at " + name);
  file.check(file.dimension_length(file.id(), dimension[static_cast<std::size_t>(dimensions - 1)], length),
             "look at " + name);
  if (static_cast<std::int64_t>(length) != parcels)
    throw InputError(file.path() + ": the variable " + name + " has length " + std::to_string(length) +
                     "; n_parcels is " + std::to_string(parcels));
  if (times == 0 && parcels > 0) throw InputError(file.path() + ": the variable " + name + " has no time level");
  return {*variable, dimensions == 2, times == 0 ? 0 : times - 1};
}

}  // namespace merganser::io
