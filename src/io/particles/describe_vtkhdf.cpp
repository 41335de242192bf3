// Description of a VTKHDF file of points (PolyData or UnstructuredGrid): arrays over the points as columns.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/io/particles/particle_file.hpp"
#include "src/io/particles/vtkhdf_names.hpp"

namespace merganser::io {
namespace {

/// Returns the name of a column for one component of an array over the points.
std::string array_column(const std::string& array, std::size_t component, std::int64_t width) {
  if (width <= 1) return array;
  if (width != 3) return array + "_" + std::to_string(component);
  const std::string axis(1, "xyz"[component]);
  return array == "vorticity" ? axis + "_vorticity" : array + "_" + axis;
}

/// Attribute of the schema that the file tells of, and its place there.
struct ToldAttribute {
  double place;
  Attribute attribute;
};

/// Describer of the arrays of one VTKHDF file.
class ArrayReader {
 public:
  ArrayReader(const hdf5::File& file, ParticleFile& out) : file_(file), out_(out) {}

  /// Adds one array over the points. @throws InputError for an array of another length
  void add(const std::string& name) {
    const std::string at = std::string(kPointData) + "/" + name;
    if (file_.kind(at) != hdf5::ObjectKind::dataset) return lose(name);
    const hdf5::DatasetInfo about = file_.dataset(at);
    if (!about.type || about.shape.empty() || about.shape.size() > 2) return lose(name);
    Species& points = out_.species.front();
    if (about.shape[0] != points.count)
      throw InputError(file_.path() + ": " + at + " has " + std::to_string(about.shape[0]) + " rows; there are " +
                       std::to_string(points.count) + " points; truncated or damaged");
    const std::int64_t width = about.shape.size() == 2 ? about.shape[1] : 0;
    Attribute told{name, 0, Rule::mean, {}, ""};
    for (std::int64_t c = 0; c < std::max<std::int64_t>(width, 1); ++c) {
      Component component{
          .at = at, .value = {}, .type = *about.type, .width = width, .column = c, .storage = about.storage};
      const std::string column = array_column(name, static_cast<std::size_t>(c), width);
      if (!points.columns.emplace(column, component).second)
        throw InputError(file_.path() + ": two arrays become the column " + column);
      out_.info.metadata.columns.push_back(describe_column(column, component, ""));
      told.component_names.push_back(column);
      ++told.components;
    }
    const std::vector<std::string> rule = file_.texts(at, kRuleAttribute);
    const std::vector<double> place = file_.numbers(at, kPlaceAttribute);
    if (rule.empty() || place.size() != 1) return;
    const auto* const known =
        std::find_if(kRuleNames.begin(), kRuleNames.end(), [&](const auto& r) { return rule.front() == r.first; });
    if (known == kRuleNames.end())
      throw InputError(file_.path() + ": " + at + ": the attribute " + kRuleAttribute + " is \"" + rule.front() +
                       "\"; allowed: mean, sum, centre, largest, mean_present, sum_present");
    told.rule = known->second;
    told_.push_back({place[0], std::move(told)});
  }

  /// Returns the attributes that the file tells of, in the order of its schema.
  [[nodiscard]] std::vector<Attribute> attributes() {
    std::sort(told_.begin(), told_.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
    std::vector<Attribute> all;
    add_epic_attributes(out_.species, all);
    for (ToldAttribute& t : told_) all.push_back(std::move(t.attribute));
    return all;
  }

 private:
  void lose(const std::string& name) {
    out_.info.metadata.lost.push_back({name, "array " + name + ", without numbers in one or two dimensions"});
  }

  const hdf5::File& file_;
  ParticleFile& out_;
  std::vector<ToldAttribute> told_;
};

/// Adds the points as columns. @throws InputError if there are none, or not three coordinates each
void add_points(const hdf5::File& file, ParticleFile& out) {
  const std::string at = std::string(kVtkhdf) + "/Points";
  if (file.kind(at) != hdf5::ObjectKind::dataset) throw InputError(file.path() + ": " + at + " is missing");
  const hdf5::DatasetInfo about = file.dataset(at);
  if (!about.type || about.shape.size() != 2 || about.shape[1] != 3)
    throw InputError(file.path() + ": " + at + " must hold numbers, three in each row");
  Species points;
  points.name = "points";
  points.count = about.shape[0];
  for (std::int64_t a = 0; a < 3; ++a) {
    const std::string column = std::string(1, "xyz"[a]) + "_position";
    const Component c{.at = at, .value = {}, .type = *about.type, .width = 3, .column = a, .storage = about.storage};
    points.columns.emplace(column, c);
    out.info.metadata.columns.push_back(describe_column(column, c, ""));
  }
  out.info.parcels = points.count;
  out.species.push_back(std::move(points));
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
  if (file.kind(std::string(kVtkhdf) + "/Steps") != hdf5::ObjectKind::none)
    throw InputError(file.path() + ": VTKHDF of several time steps (Steps); allowed: one");
  add_points(file, out);
  ArrayReader arrays(file, out);
  if (file.kind(kPointData) == hdf5::ObjectKind::group)
    for (const std::string& name : file.members(kPointData)) arrays.add(name);
  for (const char* other : {"CellData", "FieldData"}) {
    const std::string at = std::string(kVtkhdf) + "/" + other;
    if (file.kind(at) == hdf5::ObjectKind::group && !file.members(at).empty())
      info.metadata.lost.push_back({other, std::string(other) + " of VTKHDF"});
  }
  const Species& points = out.species.front();
  if (!points.columns.contains("volume"))
    throw InputError(file.path() + ": " + kPointData +
                     " has no array volume; allowed: files with the volumes of parcels");
  info.has_ids = points.columns.contains(std::string(kIdName));
  if (info.has_ids && !is_integer(points.columns.at(std::string(kIdName)).type))
    throw InputError(file.path() + ": " + kPointData + "/" + std::string(kIdName) + " holds no integers");
  if (!info.has_ids) info.notes.push_back("no array merganser_id: ids are the places in the file, from 0");
  info.schema = Schema(arrays.attributes());
  read_own_attributes(file, kVtkhdf, info);
  const std::vector<double> time = file.numbers(kVtkhdf, kTimeAttribute);
  if (time.size() == 1) info.time = time[0];
  if (!std::isfinite(info.time)) throw InputError(file.path() + ": the time is not finite");
  return out;
}

}  // namespace merganser::io
