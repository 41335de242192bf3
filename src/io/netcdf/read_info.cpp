// Reads the description of a parcel file: box, cells, time and metadata, and checks its columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "src/io/archive.hpp"
#include "src/io/missing.hpp"
#include "src/io/netcdf/column_variable.hpp"
#include "src/io/netcdf/metadata.hpp"
#include "src/io/parcel_check.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Returns true if a parcel file has all variables of one attribute of EPIC's schema (as x_vorticity, y_vorticity, ...), false
/// if it has none. @throws InputError if it has some only
bool has_all(const NcFile& file, std::span<const std::string> names) {
  const std::string* found = nullptr;
  const std::string* missing = nullptr;
  for (const std::string& name : names) (file.variable(name) ? found : missing) = &name;
  if (found != nullptr && missing != nullptr)
    throw InputError(file.path() + ": the variable " + *missing + " is missing, but " + *found + " is there");
  return missing == nullptr;
}

/// Converts a number of cells read from a global attribute of a parcel file. @throws InputError unless it is whole, at least 1,
/// and exact as a double
std::int64_t whole_number(const NcFile& file, const std::string& name, double value) {
  if (!(value >= 1) || value > 0x1p53 || value != std::floor(value))
    throw InputError(file.path() + ": the global attribute " + name + " holds " + std::to_string(value) +
                     "; numbers of cells must be whole and at least 1");
  return static_cast<std::int64_t>(value);
}

/// Reads box and cells of a parcel file from its global attributes ncells, extent, origin and, if there, periodic.
/// @throws InputError naming the attribute, its value and what is allowed
Grid read_grid(const NcFile& file) {
  const std::vector<double> cells = file.attribute("ncells", 3);
  const std::vector<double> extent = file.attribute("extent", 3);
  const std::vector<double> origin = file.attribute("origin", 3);
  const auto limit = [&](const char* name, double value, const std::string& what) {
    return InputError(file.path() + ": the global attribute " + name + " holds " + number_text(value) + "; " + what);
  };
  Grid grid;
  grid.box.periodic = {true, true, false};
  for (std::size_t a = 0; a < 3; ++a) {
    grid.cells[a] = whole_number(file, "ncells", cells[a]);
    if (!(extent[a] > 0) || !std::isfinite(extent[a]))
      throw limit("extent", extent[a], "it must be positive and finite");
    if (extent[a] < kMinLength || extent[a] > kMaxLength)
      throw limit("extent", extent[a], "allowed: " + number_text(kMinLength) + " to " + number_text(kMaxLength));
    if (!std::isfinite(origin[a])) throw InputError(file.path() + ": the global attribute origin is not finite");
    if (std::fabs(origin[a]) > kMaxLength)
      throw limit("origin", origin[a], "allowed: " + number_text(-kMaxLength) + " to " + number_text(kMaxLength));
    grid.box.lower[a] = origin[a];
    grid.box.extent[a] = extent[a];
  }
  check_grid(grid, file.path() + ": ncells, origin and extent");
  if (file.has_attribute("periodic")) {
    const std::vector<double> periodic = file.attribute("periodic", 3);
    for (std::size_t a = 0; a < 3; ++a) {
      if (periodic[a] != 0 && periodic[a] != 1) throw limit("periodic", periodic[a], "allowed: 0 or 1");
      grid.box.periodic[a] = periodic[a] != 0;
    }
  }
  return grid;
}

/// Reads the global attribute min_vratio of a parcel file: cell volume / smallest volume that is not small [-]. Empty if the
/// file has none. @throws InputError unless it is above 0 and finite
std::optional<double> read_ratio(const NcFile& file) {
  if (!file.has_attribute("min_vratio")) return std::nullopt;
  const double ratio = file.attribute("min_vratio", 1)[0];
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw InputError(file.path() + ": the global attribute min_vratio holds " + number_text(ratio) +
                     "; allowed: numbers above 0");
  return ratio;
}

/// Checks that a parcel file's variable is not packed by scale_factor or add_offset, since merging computes with numbers as
/// they are stored. @throws InputError if it is
void check_unpacked(const NcFile& file, const std::string& name) {
  const auto variable = file.variable(name);
  const auto lock = file.lock();
  for (const auto& [attribute, neutral] : {std::pair{"scale_factor", 1.0}, std::pair{"add_offset", 0.0}}) {
    if (nc_inq_attid(file.id(), *variable, attribute, nullptr) != NC_NOERR) continue;
    std::size_t length = 0;
    double value = neutral;
    file.check(nc_inq_attlen(file.id(), *variable, attribute, &length), "look at " + name);
    if (length == 1)
      file.check(nc_get_att_double(file.id(), *variable, attribute, &value), "read " + (attribute + (" of " + name)));
    if (length != 1 || value != neutral)
      throw InputError(file.path() + ": the variable " + name + " is packed: " + attribute + " = " +
                       (length == 1 ? number_text(value) : std::to_string(length) + " values") +
                       "; allowed: values as they are, as \"ncpdq --unpack\" makes them");
  }
}

/// Reads the time of a parcel file, the last value of its variable t; 0 if there is none, or it is not a number per level.
/// @throws InputError if the value is missing or not finite
double read_time(const NcFile& file, const FileMetadata& metadata) {
  const auto variable = file.variable("t");
  const auto levels = file.dimension("t");
  if (!variable || !levels || *levels == 0) return 0;
  const auto lock = file.lock();
  int dimensions = 0;
  nc_type type = NC_NAT;
  if (nc_inq_varndims(file.id(), *variable, &dimensions) != NC_NOERR || dimensions != 1) return 0;
  if (nc_inq_vartype(file.id(), *variable, &type) != NC_NOERR || !is_number(static_cast<FileType>(type))) return 0;
  const auto last = static_cast<std::size_t>(*levels - 1);
  double time = 0;
  file.check(nc_get_var1_double(file.id(), *variable, &last, &time), "read the time");
  const FileVariable* const about = metadata.column("t");
  const MissingValues missing(static_cast<FileType>(type), about->attributes, about->unwritten);
  if (const auto kind = missing.classify(time); kind != MissingValues::Kind::present || !std::isfinite(time))
    throw InputError(
        file.path() + ": variable \"t\": level " + std::to_string(last) + " is " + number_text(time) +
        (kind == MissingValues::Kind::present ? std::string() : ", missing (" + missing.reason(kind) + ")") +
        "; allowed: finite numbers");
  return time;
}

/// Reads the description of an open parcel file: number of parcels, grid, time, schema, metadata. Local.
/// @param bytes  size of the file, against which n_parcels is checked
ParcelFileInfo describe_file(const NcFile& file, std::int64_t bytes) {
  const auto parcels = file.dimension("n_parcels");
  if (!parcels) throw InputError(file.path() + ": the dimension n_parcels is missing; not a parcel file");
  ParcelFileInfo info;
  info.parcels = *parcels;
  // The nine required variables of 8 bytes cannot be smaller than deflate packs zeros, 1032 to 1. So a damaged count cannot
  // make the reader allocate more than about a hundred times the size of the file.
  const auto packed = static_cast<double>(info.parcels) * 72 / 1032;
  if (packed > static_cast<double>(bytes))
    throw InputError(file.path() + ": n_parcels is " + std::to_string(info.parcels) + ", but the file has only " +
                     std::to_string(bytes) + " bytes; truncated or damaged");
  info.grid = read_grid(file);
  info.metadata = read_metadata(file);
  info.time = read_time(file, info.metadata);
  info.says_periodic = file.has_attribute("periodic");
  info.min_volume_ratio = read_ratio(file);
  std::vector<Attribute> attributes;
  for (const Attribute& a : Schema::epic().attributes())
    if (a.name == "B" || has_all(file, a.component_names)) attributes.push_back(a);
  info.schema = Schema(std::move(attributes));
  const auto check_column = [&](const Column& column) {
    static_cast<void>(find_column_variable(file, column, info.parcels));
    check_unpacked(file, column.name);
  };
  for (const Column& column : columns(info.schema, {})) check_column(column);
  info.has_ids = file.variable(std::string(kIdName)).has_value();
  if (info.has_ids) check_column(id_column({}));
  int format = 0;
  file.call("find its format", [&] { return nc_inq_format(file.id(), &format); });
  info.classic = format != NC_FORMAT_NETCDF4 && format != NC_FORMAT_NETCDF4_CLASSIC;
  return info;
}

}  // namespace

bool netcdf_available() noexcept { return true; }

ParcelFileInfo read_info(const std::string& path, const std::string& species, const std::vector<ColumnName>& columns) {
  refuse_other_formats(path);
  const std::optional<FileFormat> table = table_format(path);
  if (!columns.empty() && table != FileFormat::csv)
    throw InputError(path + ": names of columns are given, which only CSV has; allowed: a file .csv");
  if (table && !species.empty()) throw InputError(path + ": no openPMD file, so it has no species " + species);
  if (table) return read_table_info(path, *table, columns);
  const std::int64_t bytes = check_self_contained(path);
  if (std::optional<ParcelFileInfo> info = read_particle_info(path, species)) return *info;
  if (!species.empty()) throw InputError(path + ": no openPMD file, so it has no species " + species);
  return describe_file(NcFile::open(path), bytes);
}

// Header of a parcel file on all ranks: rank 0 reads it and broadcasts the description.
ParcelFileInfo read_info(const std::string& path, comm::Transport& transport, const std::string& species,
                         const std::vector<ColumnName>& columns) {
  std::vector<char> is_csv;  // one entry if every rank is to read its share of the text, else none
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    refuse_other_formats(path);
    if (species.empty() && table_format(path) == FileFormat::csv) is_csv.push_back(1);
  });
  is_csv = comm::broadcast_from_first(transport, is_csv);
  const std::optional<CsvSource> csv = is_csv.empty() ? std::nullopt : scan_csv(path, transport);
  ParcelFileInfo info;
  Packer packer;
  comm::agree(transport, [&] {
    if (transport.rank() != 0) return;
    info = csv ? read_table_info(path, FileFormat::csv, columns, &*csv) : read_info(path, species, columns);
    packer(info);
  });
  const auto packed = comm::broadcast_from_first(transport, packer.bytes());
  if (transport.rank() != 0) Unpacker{packed}(info);
  return info;
}

}  // namespace merganser::io
