// Files of the flow command in NetCDF: fields at the nodes, gathered on rank 0, and statistics over time.
#include "apps/flow/files.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/file_metadata.hpp"

namespace merganser::app {
namespace {

/// Returns the global attributes of the flow command's NetCDF files by EPIC's names: kind of the file, conventions, cells and box.
std::vector<io::FileAttribute> grid_attributes(std::string_view file_type, const Grid& grid) {
  std::array<std::int32_t, 3> cells{};
  for (std::size_t a = 0; a < 3; ++a) cells[a] = static_cast<std::int32_t>(grid.cells[a]);
  return {{"file_type", io::file_values(file_type)},
          {"Conventions", io::file_values(std::string_view("CF-1.8"))},
          {"ncells", io::file_values(std::span<const std::int32_t>(cells))},
          {"extent", io::file_values(std::span<const double>(grid.box.extent))},
          {"origin", io::file_values(std::span<const double>(grid.box.lower))}};
}

/// Makes a variable of a fields or statistics file with its unit and long name.
io::FileVariable file_variable(const char* name, std::vector<std::string> dimensions, const char* unit,
                               const char* words, io::FileValues values) {
  io::FileVariable v;
  v.name = name;
  v.dimensions = std::move(dimensions);
  v.attributes = {{"units", io::file_values(std::string_view(unit))},
                  {"long_name", io::file_values(std::string_view(words))}};
  v.values = std::move(values);
  return v;
}

// ---- fields ----

/// Field of a fields file of the flow: EPIC's name, unit, long name, and its index among the values of a node.
struct FieldName {
  const char* name;
  const char* unit;
  const char* words;
  std::size_t place;
};
using flow::CarriedFields;
using flow::FlowFields;
constexpr std::array<FieldName, 5> kCarriedFields{
    {{"volume", "m^3", "volume brought to the node", CarriedFields::volume},
     {"x_vorticity", "1/s", "x vorticity component", CarriedFields::xi},
     {"y_vorticity", "1/s", "y vorticity component", CarriedFields::eta},
     {"z_vorticity", "1/s", "z vorticity component", CarriedFields::zeta},
     {"buoyancy", "m/s^2", "buoyancy", CarriedFields::buoyancy}}};
constexpr std::array<FieldName, 6> kFlowFields{
    {{"x_velocity", "m/s", "x velocity component", FlowFields::u},
     {"y_velocity", "m/s", "y velocity component", FlowFields::v},
     {"z_velocity", "m/s", "z velocity component", FlowFields::w},
     {"x_vorticity_tendency", "1/s^2", "x vorticity tendency", FlowFields::xi_t},
     {"y_vorticity_tendency", "1/s^2", "y vorticity tendency", FlowFields::eta_t},
     {"z_vorticity_tendency", "1/s^2", "z vorticity tendency", FlowFields::zeta_t}}};

/// Makes the variable of a fields file that holds one value per node, dimensions t, z, y, x.
io::FileVariable field_variable(const char* name, const char* unit, const char* words, io::FileValues values) {
  return file_variable(name, {"t", "z", "y", "x"}, unit, words, std::move(values));
}

/// Makes the time variable of a fields file. Its unit is "s" and names no date, so that xarray and VTK's CF reader both keep the
/// number; by the axis T the latter knows the time.
io::FileVariable time_variable(double time) {
  io::FileVariable v = file_variable("t", {"t"}, "s", "time", io::file_values(std::span<const double>(&time, 1)));
  v.attributes.push_back({"axis", io::file_values(std::string_view("T"))});
  return v;
}

/// Makes the coordinate variable of an axis of a fields file: positions of the nodes, m; x and y, which are periodic, lack the
/// upper face. VTK's CF reader takes axes X and Y, with `axis`, for longitude and latitude, so x and y have a standard name.
io::FileVariable axis_variable(const Grid& grid, int axis) {
  const std::int64_t count = grid.cells[static_cast<std::size_t>(axis)] + (axis == 2 ? 1 : 0);
  std::vector<double> at;
  for (std::int64_t i = 0; i < count; ++i)
    at.push_back(grid.box.lower[static_cast<std::size_t>(axis)] + static_cast<double>(i) * grid.spacing(axis));
  constexpr std::array<const char*, 3> kNames{"x", "y", "z"};
  constexpr std::array<const char*, 3> kWords{"x coordinate of the nodes", "y coordinate of the nodes",
                                              "height of the nodes"};
  const auto a = static_cast<std::size_t>(axis);
  io::FileVariable v =
      file_variable(kNames[a], {kNames[a]}, "m", kWords[a], io::file_values(std::span<const double>(at)));
  const auto put = [&](const char* name, std::string_view text) {
    v.attributes.push_back({name, io::file_values(text)});
  };
  if (axis == 2) {
    put("axis", "Z");
    put("positive", "up");
  } else {
    put("standard_name", axis == 0 ? "projection_x_coordinate" : "projection_y_coordinate");
  }
  return v;
}

/// Converts parcel counts of cells, which collect_field() gathers as doubles, to 32-bit integers for a fields file.
io::FileValues to_int32_values(const WholeField& field) {
  std::vector<std::int32_t> numbers(field.begin(), field.end());
  return io::file_values(std::span<const std::int32_t>(numbers));
}

}  // namespace

// Gather of one flow field on rank 0, columns of own nodes by rank, then sorted into EPIC's order z, y, x.
WholeField collect_field(const Decomposition& d, comm::Transport& transport,
                         const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& at) {
  const flow::NodeLayout mine(d, transport.rank());
  const std::int64_t levels = d.grid().cells[2] + 1;
  std::vector<double> part;
  for (std::int64_t i = 0; i < mine.cells(0); ++i)
    for (std::int64_t j = 0; j < mine.cells(1); ++j)
      for (std::int64_t k = 0; k < levels; ++k) part.push_back(at(i, j, k));
  const auto parts = comm::gather_to_first(transport, part);
  WholeField out;
  if (transport.rank() != 0) return out;
  const std::int64_t nx = d.grid().cells[0];
  const std::int64_t ny = d.grid().cells[1];
  out.resize(static_cast<std::size_t>(nx * ny * levels));
  for (int r = 0; r < transport.size(); ++r) {
    const flow::NodeLayout theirs(d, r);
    const double* from = parts[static_cast<std::size_t>(r)].data();
    for (std::int64_t i = 0; i < theirs.cells(0); ++i)
      for (std::int64_t j = 0; j < theirs.cells(1); ++j)
        for (std::int64_t k = 0; k < levels; ++k)
          out[static_cast<std::size_t>((k * ny + theirs.first(1) + j) * nx + theirs.first(0) + i)] = *from++;
  }
  return out;
}

// Fields file of the flow in EPIC's format: node values, and numbers of parcels in the cells.
void write_fields(const std::string& path, const flow::Model& model, comm::Transport& transport) {
  const Decomposition& d = model.decomposition();
  const Grid& grid = d.grid();
  io::FileGroup root;
  root.attributes = grid_attributes("fields", grid);
  root.dimensions = {
      {"t", 1, true}, {"z", grid.cells[2] + 1, false}, {"y", grid.cells[1], false}, {"x", grid.cells[0], false}};
  root.variables.push_back(time_variable(model.state().time));
  for (int axis = 0; axis < 3; ++axis) root.variables.push_back(axis_variable(grid, axis));
  const auto add = [&](const auto& names, const auto& nodes) {
    for (const FieldName& f : names) {
      const WholeField all = collect_field(
          d, transport, [&](std::int64_t i, std::int64_t j, std::int64_t k) { return nodes.at(i, j, k)[f.place]; });
      root.variables.push_back(field_variable(f.name, f.unit, f.words, io::file_values(std::span<const double>(all))));
    }
  };
  add(kCarriedFields, model.carried());
  add(kFlowFields, model.flow());
  std::vector<std::int32_t> all;
  std::vector<std::int32_t> small;
  model.count(all, small);
  const flow::NodeLayout mine(d, transport.rank());
  const auto count = [&](const char* name, const char* words, const std::vector<std::int32_t>& cells) {
    const WholeField whole = collect_field(d, transport, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      if (k == mine.cells(2)) return 0.0;
      return static_cast<double>(cells[static_cast<std::size_t>((i * mine.cells(1) + j) * mine.cells(2) + k)]);
    });
    root.variables.push_back(field_variable(name, "1", words, to_int32_values(whole)));
  };
  count("nparg", "parcels in the cell above the node; none at the top", all);
  count("nsparg", "small parcels in the cell above the node; none at the top", small);
  io::write_data(path, root, transport);
}

// ---- statistics ----

namespace {

/// Calls f(name, unit, long name, value) for every value of a row of flow statistics except the clusters. Writing and reading the
/// statistics file use the same list, so they agree.
void for_each_value(flow::Statistics& s, const auto& f) {
  f("t", "s", "time", s.time);
  f("dt", "s", "length of the step that begins", s.dt);
  f("max_strain", "1/s", "largest strain rate", s.strain);
  f("max_buoyancy_frequency", "1/s", "largest buoyancy frequency", s.frequency);
  f("ke", "m^2/s^2", "domain-averaged kinetic energy", s.kinetic_energy);
  f("en", "1/s^2", "domain-averaged enstrophy", s.enstrophy);
  f("sum_vol", "m^3", "total volume", s.volume);
  f("std_vol", "m^3", "standard deviation of the volume", s.volume_deviation);
  f("x_rms_vorticity", "1/s", "root mean square of x vorticity", s.rms_vorticity[0]);
  f("y_rms_vorticity", "1/s", "root mean square of y vorticity", s.rms_vorticity[1]);
  f("z_rms_vorticity", "1/s", "root mean square of z vorticity", s.rms_vorticity[2]);
  f("min_buoyancy", "m/s^2", "least buoyancy", s.least_buoyancy);
  f("max_buoyancy", "m/s^2", "greatest buoyancy", s.greatest_buoyancy);
  f("step", "1", "number of steps made", s.step);
  f("n_parcels", "1", "number of parcels", s.parcels);
  f("n_small_parcel", "1", "number of small parcels", s.small);
  f("n_parcel_splits", "1", "number of splits in the step before", s.counts.splits);
  f("n_parcel_merges", "1", "number of parcels merged into others in the step before", s.counts.merges);
  f("n_big_neighbour", "1", "number of these whose target was not small", s.counts.merged_into_big);
}
constexpr const char* kClusters = "n_way_merging";

/// Calls f(value) for the value of a row of flow statistics that has this file name and this type.
template <class T, class F>
void with_value(flow::Statistics& row, std::string_view name, const F& f) {
  for_each_value(row, [&]<class V>(std::string_view key, const char*, const char*, V& value) {
    if constexpr (std::is_same_v<V, T>) {
      if (key == name) f(value);
    }
  });
}

/// Returns the column of one variable of the statistics file: its values from all rows.
template <class T>
io::FileValues make_column(const std::vector<flow::Statistics>& rows, std::string_view name) {
  std::vector<T> values;
  for (flow::Statistics row : rows) with_value<T>(row, name, [&](T value) { values.push_back(value); });
  return io::file_values(std::span<const T>(values));
}

/// Returns `values`, a column read from a statistics file. @throws InputError naming path and variable if they are not as many as
/// `rows`
template <class T>
const T& checked_column(const std::string& path, const char* name, const T& values, std::size_t rows) {
  if (values.size() != rows)
    throw InputError(path + ": the variable " + name + " has " + std::to_string(values.size()) +
                     " values; expected: " + std::to_string(rows));
  return values;
}

}  // namespace

// Statistics file of the flow: one variable per value, one row per state, and clusters in a second dimension.
void write_statistics(const std::string& path, const Grid& grid, const std::vector<flow::Statistics>& rows,
                      comm::Transport& transport) {
  io::FileGroup root;
  root.attributes = grid_attributes("parcel_stats", grid);
  root.dimensions = {{"t", static_cast<std::int64_t>(rows.size()), true}, {"n_way", 7, false}};
  flow::Statistics names;
  for_each_value(names, [&]<class T>(const char* name, const char* unit, const char* words, T&) {
    root.variables.push_back(file_variable(name, {"t"}, unit, words, make_column<T>(rows, name)));
    if (std::string_view(name) == "t")
      root.variables.back().attributes.push_back({"axis", io::file_values(std::string_view("T"))});
  });
  std::vector<std::int64_t> clusters;
  for (const flow::Statistics& row : rows)
    clusters.insert(clusters.end(), row.counts.clusters.begin(), row.counts.clusters.end());
  root.variables.push_back(file_variable(kClusters, {"t", "n_way"}, "1",
                                         "clusters of 2, 3, ... 7 members, of 8 and more",
                                         io::file_values(std::span<const std::int64_t>(clusters))));
  io::write_data(path, root, transport);
}

// Statistics of an earlier part of a flow run, which continues the rows of its file.
std::vector<flow::Statistics> read_statistics(const std::string& path) {
  const io::FileGroup file = io::read_data(path);
  const auto values_of = [&](const char* name) -> const io::FileValues& {
    const io::FileValues* found = io::find_variable(file, name);
    if (found == nullptr) throw InputError(path + ": the variable " + name + " is missing; not statistics of a flow");
    io::require_values(path, file, name);
    return *found;
  };
  std::vector<flow::Statistics> rows(static_cast<std::size_t>(values_of("step").count));
  flow::Statistics names;
  for_each_value(names, [&]<class T>(const char* name, const char*, const char*, T&) {
    const io::FileValues& values = values_of(name);
    std::vector<T> column;
    if constexpr (std::is_same_v<T, double>)
      column = io::to_doubles(values);
    else
      column = io::to_integers(values);
    checked_column(path, name, column, rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) with_value<T>(rows[i], name, [&](T& to) { to = column[i]; });
  });
  const auto clusters = checked_column(path, kClusters, io::to_integers(values_of(kClusters)), 7 * rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(clusters.begin() + static_cast<std::ptrdiff_t>(7 * i), 7, rows[i].counts.clusters.begin());
  return rows;
}

}  // namespace merganser::app
