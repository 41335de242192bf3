// Common part of the formats of particle files: recognition of the format, merganser's own attributes, columns for the metadata.
#include "src/io/particles/particle_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/hdf5/references.hpp"
#include "src/io/netcdf/nc_file.hpp"
#include "src/io/parcel_check.hpp"

namespace merganser::io {
namespace {

/// Returns true if an HDF5 file may be a particle file, by the names in its root group. The HDF5 library is not called: it crashes
/// on some damaged files, and those of EPIC are NetCDF's to open.
bool may_have_particles(const std::string& path) {
  std::array<char, 8> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  if (std::string_view(head.data(), head.size()) != std::string_view("\x89HDF\r\n\x1a\n", 8)) return false;
  const std::vector<std::string> names = hdf5::list_root_members(path);
  return std::any_of(names.begin(), names.end(), [](const std::string& n) { return n == "data" || n == "VTKHDF"; });
}

/// Numbers of a file by name, empty for one that it does not have.
using Numbers = std::function<std::vector<double>(const char* name)>;

/// Reads one of our own attributes of three numbers. Empty: it is not there. @throws InputError for another count
std::vector<double> read_three(const std::string& path, const Numbers& numbers, const char* name) {
  std::vector<double> values = numbers(name);
  if (!values.empty() && values.size() != 3)
    throw InputError(path + ": the attribute " + name + " holds " + std::to_string(values.size()) +
                     " numbers; allowed: three");
  return values;
}

/// Throws InputError for a value of one of our own attributes. @param allowed  what may stand there
[[noreturn]] void refuse_value(const std::string& path, const char* name, double value, const char* allowed) {
  throw InputError(path + ": the attribute " + name + " holds " + number_text(value) + "; allowed: " + allowed);
}

}  // namespace

void refuse_other_formats(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  for (const char* suffix : {".bp", ".bp4", ".bp5", ".sst"})
    if (name.ends_with(suffix))
      throw InputError(path + ": a file of ADIOS2, by its suffix " + suffix +
                       "; allowed: openPMD in HDF5 (.h5), as openpmd-pipe of openPMD-api converts it");
}

std::optional<ParcelFileInfo> read_particle_info(const std::string& path, const std::string& species) {
  if (!may_have_particles(path)) return std::nullopt;
  const NetcdfLock lock(path);
  if (!hdf5::available()) return std::nullopt;  // NetCDF then says what it makes of the file
  std::optional<hdf5::File> file;
  try {
    file.emplace(hdf5::File::open(path));
  } catch (const InputError&) {
    return std::nullopt;  // the same
  }
  if (!file->texts("/", "openPMD").empty()) return describe_openpmd(*file, species).info;
  if (file->kind("/VTKHDF") != hdf5::ObjectKind::group) return std::nullopt;
  if (!species.empty()) throw InputError(path + ": no openPMD file, so it has no species " + species);
  return describe_vtkhdf(*file).info;
}

void read_own_attributes(const hdf5::File& file, const std::string& at, ParcelFileInfo& info) {
  read_own_numbers(
      file.path(), [&](const char* name) { return file.numbers(at, name); }, info);
}

void read_own_numbers(const std::string& path, const Numbers& numbers, ParcelFileInfo& info) {
  const std::vector<double> cells = read_three(path, numbers, kCellsAttribute);
  const std::vector<double> extent = read_three(path, numbers, kExtentAttribute);
  const std::vector<double> origin = read_three(path, numbers, kOriginAttribute);
  if (!cells.empty() && !extent.empty() && !origin.empty()) {
    for (std::size_t a = 0; a < 3; ++a) {
      if (!(cells[a] >= 1) || cells[a] > 0x1p53 || cells[a] != std::floor(cells[a]))
        refuse_value(path, kCellsAttribute, cells[a], "whole numbers from 1");
      info.grid.cells[a] = static_cast<std::int64_t>(cells[a]);
      info.grid.box.lower[a] = origin[a];
      info.grid.box.extent[a] = extent[a];
    }
    info.says_grid = true;
  }
  const std::vector<double> periodic = read_three(path, numbers, kPeriodicAttribute);
  for (std::size_t a = 0; a < periodic.size(); ++a) {
    if (periodic[a] != 0 && periodic[a] != 1) refuse_value(path, kPeriodicAttribute, periodic[a], "0 or 1");
    info.grid.box.periodic[a] = periodic[a] != 0;
    info.says_periodic = true;
  }
  for (const char* one : {kStepAttribute, kRatioAttribute})
    if (const std::size_t count = numbers(one).size(); count > 1)
      throw InputError(path + ": the attribute " + one + " holds " + std::to_string(count) + " numbers; allowed: one");
  const std::vector<double> step = numbers(kStepAttribute);
  if (!step.empty()) {
    if (!(step[0] >= 0) || step[0] > 0x1p53 || step[0] != std::floor(step[0]))
      refuse_value(path, kStepAttribute, step[0], "whole numbers from 0");
    set_merge_step(info.metadata, static_cast<std::uint64_t>(step[0]));
  }
  const std::vector<double> ratio = numbers(kRatioAttribute);
  if (ratio.empty()) return;
  if (!(ratio[0] > 0) || !std::isfinite(ratio[0])) refuse_value(path, kRatioAttribute, ratio[0], "numbers above 0");
  info.min_volume_ratio = ratio[0];
}

FileVariable describe_column(const std::string& name, const Component& component, const std::string& record) {
  FileVariable out;
  out.name = name;
  out.dimensions = {"n_parcels"};
  out.storage = component.storage;
  // Positions, weights and shapes that are integers become doubles, since merging computes with them.
  const bool computed = is_own_name(name) && name != kIdName;
  out.values.type = static_cast<int>(computed && is_integer(component.type) ? FileType::f64 : component.type);
  out.attributes.push_back({kRecordAttribute, file_values(std::string_view(record))});
  out.attributes.push_back({"unitSI", file_values(std::span<const double>(&component.unit, 1))});
  return out;
}

void add_epic_attributes(const std::vector<Species>& species, std::vector<Attribute>& to) {
  for (const Attribute& a : Schema::epic().attributes())
    if (std::all_of(species.begin(), species.end(), [&](const Species& s) {
          return std::all_of(a.component_names.begin(), a.component_names.end(),
                             [&](const std::string& name) { return s.columns.contains(name); });
        }))
      to.push_back(a);
}

}  // namespace merganser::io
