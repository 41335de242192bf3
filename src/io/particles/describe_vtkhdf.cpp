// Description of a VTKHDF file of points (PolyData or UnstructuredGrid): arrays over the points as columns.
#include <cmath>
#include <optional>

#include "merganser/base/error.hpp"
#include "src/io/particles/array_columns.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/particles/vtkhdf_series.hpp"

namespace merganser::io {
namespace {

/// Restricts an array, or the points, to the rows of a time step. @throws InputError if it has not so many
void select_rows(const hdf5::File& file, const VtkhdfStep& step, std::int64_t first, ArrayAbout& array) {
  if (first > array.rows || step.points > array.rows - first)
    throw InputError(file.path() + ": " + array.at + " has " + std::to_string(array.rows) + " rows; time step " +
                     std::to_string(step.number) + " needs " + std::to_string(step.points) + " from row " +
                     std::to_string(first) + "; truncated or damaged");
  array.first_row = first;
  array.rows = step.points;
}

/// Returns the description of an array over the points, of a series at one of its steps; nothing, with a loss noted, for one without numbers in one or two
/// dimensions.
std::optional<ArrayAbout> describe_array(const hdf5::File& file, const std::string& name,
                                         const std::optional<VtkhdfStep>& step, ParcelFileInfo& info) {
  const std::string at = std::string(kPointData) + "/" + name;
  const auto lose = [&]() -> std::optional<ArrayAbout> {
    info.metadata.lost.push_back({name, "array " + name + ", without numbers in one or two dimensions"});
    return std::nullopt;
  };
  if (file.kind(at) != hdf5::ObjectKind::dataset) return lose();
  const hdf5::DatasetInfo about = file.dataset(at);
  if (!about.type || about.shape.empty() || about.shape.size() > 2) return lose();
  ArrayAbout array{.name = name,
                   .at = at,
                   .type = *about.type,
                   .rows = about.shape[0],
                   .width = about.shape.size() == 2 ? about.shape[1] : 0,
                   .storage = about.storage,
                   .rule = {},
                   .place = {}};
  if (step) select_rows(file, *step, first_row(file, *step, name), array);
  const std::vector<std::string> rule = file.texts(at, kRuleAttribute);
  const std::vector<double> place = file.numbers(at, kPlaceAttribute);
  if (rule.empty() || place.size() != 1) return array;
  array.rule = rule.front();
  array.place = place[0];
  return array;
}

/// Returns the description of the points. @throws InputError if there are none, or not three coordinates each
ArrayAbout describe_points(const hdf5::File& file) {
  const std::string at = std::string(kVtkhdf) + "/Points";
  if (file.kind(at) != hdf5::ObjectKind::dataset) throw InputError(file.path() + ": " + at + " is missing");
  const hdf5::DatasetInfo about = file.dataset(at);
  if (!about.type || about.shape.size() != 2 || about.shape[1] != 3)
    throw InputError(file.path() + ": " + at + " must hold numbers, three in each row");
  return {.name = "Points",
          .at = at,
          .type = *about.type,
          .rows = about.shape[0],
          .width = 3,
          .storage = about.storage,
          .rule = {},
          .place = {}};
}

}  // namespace

ParticleFile describe_vtkhdf(const hdf5::File& file) {
  ParticleFile out;
  ParcelFileInfo& info = out.info;
  info.says_grid = false;
  info.grid.box.periodic = {false, false, false};
  info.metadata.format = FileFormat::vtkhdf;
  const std::vector<std::string> type = file.texts(kVtkhdf, "Type");
  if (type.empty() || (type.front() != "PolyData" && type.front() != "UnstructuredGrid"))
    throw InputError(file.path() + ": VTKHDF of type \"" + (type.empty() ? "" : type.front()) +
                     "\"; allowed: PolyData and UnstructuredGrid, whose points are the parcels");
  const std::optional<VtkhdfStep> step = last_step(file);
  ArrayAbout points = describe_points(file);
  if (step)
    select_rows(file, *step, step->first_point, points);
  else
    check_point_count(file, points.rows);
  ArrayColumns arrays(file.path(), points.rows, out);
  arrays.add_positions(points);
  if (file.kind(kPointData) == hdf5::ObjectKind::group)
    for (const std::string& name : file.members(kPointData))
      if (const auto array = describe_array(file, name, step, info)) arrays.add(*array);
  for (const char* other : {"CellData", "FieldData"}) {
    const std::string at = std::string(kVtkhdf) + "/" + other;
    if (file.kind(at) == hdf5::ObjectKind::group && !file.members(at).empty())
      info.metadata.lost.push_back({other, std::string(other) + " of VTKHDF"});
  }
  arrays.finish(kPointData);
  read_own_attributes(file, kVtkhdf, info);
  const std::vector<double> time = file.numbers(kVtkhdf, kTimeAttribute);
  if (time.size() == 1) info.time = time[0];
  if (step) {
    info.time = step->time;
    info.notes.push_back("time step " + std::to_string(step->number) + ", the last of " + std::to_string(step->steps));
  }
  if (!std::isfinite(info.time)) throw InputError(file.path() + ": the time is not finite");
  return out;
}

}  // namespace merganser::io
