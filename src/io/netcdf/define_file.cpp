// Definition of a new parcel file in NetCDF's define mode: attributes of the grid, dimensions, variables and their storage.
#include "src/io/netcdf/define_file.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <span>
#include <string_view>
#include <utility>

namespace merganser::io {
namespace {

/// Formats the current time in UTC by strftime(), for the attributes that state when a NetCDF file was created.
std::string utc_now(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

/// Calls of the NetCDF library that define the attributes, dimensions and variables of a file in define mode, with their
/// statuses checked.
class FileDefinition {
 public:
  explicit FileDefinition(const NcFile& file) : file_(file) {}

  /// Writes a text attribute of a variable or, with NC_GLOBAL, of the NetCDF file.
  void put_text(int variable, const char* name, std::string_view value) {
    file_.check(nc_put_att_text(file_.id(), variable, name, value.size(), value.data()),
                std::string("write the attribute ") + name);
  }
  /// Writes the global attributes that state the version of merganser and the time of creation of a NetCDF file.
  void put_provenance() {
    put_text(NC_GLOBAL, "merganser_version", MERGANSER_VERSION);
    put_text(NC_GLOBAL, "creation_date", utc_now("%Y/%m/%d"));
    put_text(NC_GLOBAL, "creation_time", utc_now("%H:%M:%S"));
    put_text(NC_GLOBAL, "creation_zone", "UTC");
  }
  /// Writes the global attributes of a parcel file: provenance, type, conventions, and the grid (ncells, extent, origin,
  /// periodic).
  void put_global_attributes(const Grid& grid, const FileMetadata& metadata) {
    put_provenance();
    const auto& carried = metadata.root.attributes;
    for (const auto& [name, value] : {std::pair("file_type", "parcels"), std::pair("Conventions", "CF-1.8")})
      if (std::none_of(carried.begin(), carried.end(), [n = name](const auto& a) { return a.name == n; }))
        put_text(NC_GLOBAL, name, value);
    const bool small = std::all_of(grid.cells.begin(), grid.cells.end(), [](auto n) { return n <= 0x7fffffff; });
    std::array<long long, 3> cells{};
    std::array<int, 3> periodic{};
    for (std::size_t a = 0; a < 3; ++a) {
      cells[a] = grid.cells[a];
      periodic[a] = grid.box.periodic[a] ? 1 : 0;
    }
    const int id = file_.id();
    const char* what = "write the grid attributes";
    file_.check(nc_put_att_longlong(id, NC_GLOBAL, "ncells", small ? NC_INT : NC_INT64, 3, cells.data()), what);
    file_.check(nc_put_att_double(id, NC_GLOBAL, "extent", NC_DOUBLE, 3, grid.box.extent.data()), what);
    file_.check(nc_put_att_double(id, NC_GLOBAL, "origin", NC_DOUBLE, 3, grid.box.lower.data()), what);
    file_.check(nc_put_att_int(id, NC_GLOBAL, "periodic", NC_INT, 3, periodic.data()), what);
  }
  /// Defines a dimension of a NetCDF file in define mode and returns NetCDF's number of it.
  int define_dimension(const char* name, std::int64_t length) {
    int id = -1;
    file_.check(nc_def_dim(file_.id(), name, static_cast<std::size_t>(length), &id), std::string("define ") + name);
    return id;
  }
  /// Defines a variable of a NetCDF file in define mode, without fill values, and returns NetCDF's number of it.
  int define_variable(const std::string& name, nc_type type, std::span<const int> dimensions) {
    int id = -1;
    const std::string what = "define the variable " + name;
    file_.check(nc_def_var(file_.id(), name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id),
                what);
    file_.check(nc_def_var_fill(file_.id(), id, NC_NOFILL, nullptr), what);
    return id;
  }
  /// Writes to a parcel file's variable the attributes that it has in the file it comes from; for a new one unit and long name.
  void put_variable_attributes(int variable, const FileVariable* before, std::string_view unit,
                               std::string_view long_name) {
    if (before != nullptr) return put_attributes(file_, file_.id(), variable, before->attributes);
    put_text(variable, "units", unit);
    put_text(variable, "long_name", long_name);
    put_text(variable, "standard_name", "");
  }

 private:
  const NcFile& file_;
};

constexpr std::array<const char*, 5> kBoxLongNames{"MPI rank start index", "lower box boundary in x",
                                                   "upper box boundary in x", "lower box boundary in y",
                                                   "upper box boundary in y"};

}  // namespace

std::vector<std::int64_t> chunk_lengths(const std::vector<Column>& columns, std::int64_t total) {
  std::vector<std::int64_t> lengths;
  for (const Column& column : columns) lengths.push_back(chunk_length(total, column.storage.chunk));
  return lengths;
}

void put_provenance(const NcFile& file) { FileDefinition(file).put_provenance(); }

// Header of a new parcel file, EPIC's variables first. Dimensions precede all variables, since NetCDF requires it where names
// are equal.
DefinedVariables define_file(NcFile& file, const NewFile& in) {
  const auto lock = file.lock();
  FileDefinition definition(file);
  definition.put_global_attributes(in.grid, in.metadata);
  // A fixed dimension cannot be empty: its length 0 means unlimited, which is then what it is.
  const int parcels = definition.define_dimension("n_parcels", in.layout.total());
  const int world = definition.define_dimension("world%size", static_cast<std::int64_t>(in.layout.first.size()) - 1);
  const int time = definition.define_dimension("t", NC_UNLIMITED);
  define_dimensions(file, file.id(), in.metadata.root);
  DefinedVariables defined;
  defined.time = definition.define_variable("t", NC_DOUBLE, std::array{time});
  const FileVariable* const time_before = in.metadata.column("t");
  if (time_before != nullptr) define_storage(file, {file.id(), defined.time}, time_before->storage, "t");
  // A unit without a date: xarray would make a date of "seconds since ...". Readers of EPIC's files take the number alone.
  definition.put_variable_attributes(defined.time, time_before, "s", "time");
  if (time_before == nullptr) definition.put_text(defined.time, "axis", "T");
  const nc_type index_type = in.layout.fits_int() ? NC_INT : NC_INT64;
  for (std::size_t i = 0; in.with_boxes && i < kBoxNames.size(); ++i) {
    defined.boxes.push_back(definition.define_variable(kBoxNames[i], i == 0 ? index_type : NC_INT, std::array{world}));
    definition.put_variable_attributes(defined.boxes.back(), nullptr, "1", kBoxLongNames[i]);
  }
  const std::vector<std::int64_t> lengths = chunk_lengths(in.columns, in.layout.total());
  for (std::size_t i = 0; i < in.columns.size(); ++i) {
    const Column& column = in.columns[i];
    const int id =
        definition.define_variable(column.name, static_cast<nc_type>(column.type), std::array{time, parcels});
    const std::array<std::size_t, 2> chunk{1, static_cast<std::size_t>(lengths[i])};
    file.check(nc_def_var_chunking(file.id(), id, NC_CHUNKED, chunk.data()), "define the variable " + column.name);
    define_storage(file, {file.id(), id}, column.storage, column.name);
    if (has_no_filter(column.storage)) turn_off_chunk_cache(file.id(), id);
    definition.put_variable_attributes(id, column.in_file, column.unit, column.long_name);
    defined.columns.push_back(id);
  }
  defined.others = define_group(file, file.id(), in.metadata.root);
  file.check(nc_enddef(file.id()), "finish the header");
  return defined;
}

}  // namespace merganser::io
