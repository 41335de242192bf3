#include "apps/flow/fields_file.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "apps/flow/grid_attributes.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::app {
namespace {

struct FieldName {
  const char* name;
  const char* unit;
  const char* words;
  std::size_t place;
};
using flow::Carried;
using flow::Flow;
constexpr std::array<FieldName, 5> kCarriedFields{{{"volume", "m^3", "volume brought to the node", Carried::volume},
                                                   {"x_vorticity", "1/s", "x vorticity component", Carried::xi},
                                                   {"y_vorticity", "1/s", "y vorticity component", Carried::eta},
                                                   {"z_vorticity", "1/s", "z vorticity component", Carried::zeta},
                                                   {"buoyancy", "m/s^2", "buoyancy", Carried::buoyancy}}};
constexpr std::array<FieldName, 6> kFlowFields{
    {{"x_velocity", "m/s", "x velocity component", Flow::u},
     {"y_velocity", "m/s", "y velocity component", Flow::v},
     {"z_velocity", "m/s", "z velocity component", Flow::w},
     {"x_vorticity_tendency", "1/s^2", "x vorticity tendency", Flow::xi_t},
     {"y_vorticity_tendency", "1/s^2", "y vorticity tendency", Flow::eta_t},
     {"z_vorticity_tendency", "1/s^2", "z vorticity tendency", Flow::zeta_t}}};

io::FileVariable field_variable(const char* name, const char* unit, const char* words, io::FileValues values) {
  return file_variable(name, {"t", "z", "y", "x"}, unit, words, std::move(values));
}

/// Coordinates of the nodes along an axis.
io::FileVariable axis_variable(const Grid& grid, int axis) {
  const std::int64_t count = grid.cells[static_cast<std::size_t>(axis)] + (axis == 2 ? 1 : 0);
  std::vector<double> at;
  for (std::int64_t i = 0; i < count; ++i)
    at.push_back(grid.box.lower[static_cast<std::size_t>(axis)] + static_cast<double>(i) * grid.spacing(axis));
  io::FileVariable v;
  v.name = std::string(1, "xyz"[axis]);
  v.dimensions = {v.name};
  v.attributes = {{"units", io::file_values(std::string_view("m"))},
                  {"axis", io::file_values(std::string_view(std::string(1, "XYZ"[axis])))}};
  v.values = io::file_values(std::span<const double>(at));
  return v;
}

io::FileValues whole_numbers(const WholeField& field) {
  std::vector<std::int32_t> numbers(field.begin(), field.end());
  return io::file_values(std::span<const std::int32_t>(numbers));
}

}  // namespace

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

void write_fields(const std::string& path, const flow::Model& model, comm::Transport& transport) {
  const Decomposition& d = model.decomposition();
  const Grid& grid = d.grid();
  io::FileGroup root;
  root.attributes = grid_attributes("fields", grid);
  root.dimensions = {
      {"t", 1, true}, {"z", grid.cells[2] + 1, false}, {"y", grid.cells[1], false}, {"x", grid.cells[0], false}};
  io::FileVariable time;
  const double now = model.state().time;
  time.name = "t";
  time.dimensions = {"t"};
  time.values = io::file_values(std::span<const double>(&now, 1));
  root.variables.push_back(std::move(time));
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
    root.variables.push_back(field_variable(name, "1", words, whole_numbers(whole)));
  };
  count("nparg", "parcels in the cell above the node; none at the top", all);
  count("nsparg", "small parcels in the cell above the node; none at the top", small);
  io::write_data(path, root, transport);
}

}  // namespace merganser::app
