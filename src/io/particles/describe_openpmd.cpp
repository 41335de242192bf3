// Description of an openPMD file: iteration, species, records and what they say of their merge rules.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/particles/openpmd_meshes.hpp"
#include "src/io/particles/openpmd_records.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {
namespace {

constexpr std::array<const char*, 3> kAxisNames{"x", "y", "z"};
/// Attributes of the extension ED-PIC whose meaning is known: their macroWeighted tells how they merge.
constexpr std::array<const char*, 3> kKnown{"charge", "mass", "momentum"};

/// Joins parts of a path of HDF5 with one slash between any two.
std::string joined_path(std::string a, std::string b) {
  while (!a.empty() && a.back() == '/') a.pop_back();
  while (!b.empty() && b.back() == '/') b.pop_back();
  while (!b.empty() && b.front() == '/') b.erase(0, 1);
  return b.empty() ? a : a + '/' + b;
}

/// Returns the one text of an attribute of the root group. @throws InputError if it is missing
std::string root_text(const hdf5::File& file, const std::string& name) {
  const std::vector<std::string> all = file.texts("/", name);
  if (all.empty()) throw InputError(file.path() + ": openPMD's attribute " + name + " of the root group is missing");
  return all.front();
}

/// Finds the last iteration of an openPMD file; earlier ones are listed as lost. Fills the source and the time.
void find_iteration(const hdf5::File& file, ParcelFileInfo& info) {
  const std::string base = root_text(file, "basePath");
  const std::size_t at = base.find("%T");
  if (base != "/data/%T/" || file.kind("/data") != hdf5::ObjectKind::group)
    throw InputError(file.path() + ": openPMD's basePath is \"" + base + "\"" +
                     (at == std::string::npos ? "" : ", or there is no group /data") +
                     "; allowed: /data/%T/, as openPMD 1.1 has it");
  std::map<std::int64_t, std::string> all;  // names of groups by number: some are filled with zeros
  for (const std::string& name : file.members("/data")) {
    std::int64_t number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong != std::errc() || end != name.data() + name.size() || number < 0) continue;
    if (const auto [other, first] = all.emplace(number, name); !first)
      throw InputError(file.path() + ": the groups " + other->second + " and " + name +
                       " of /data are one iteration; allowed: one for each number");
  }
  if (all.empty()) throw InputError(file.path() + ": no iteration in /data");
  const auto& [last, group] = *all.rbegin();
  OpenpmdSource& source = info.metadata.openpmd;
  source.file = file.path();
  source.iteration = "/data/" + group;
  if (all.size() > 1) {
    info.metadata.lost.push_back({"iterations", std::to_string(all.size() - 1) + " iterations before the last"});
    info.notes.push_back("iteration " + std::to_string(last) + ", the last of " + std::to_string(all.size()));
  }
  const std::vector<double> time = file.numbers(source.iteration, "time");
  const std::vector<double> unit = file.numbers(source.iteration, "timeUnitSI");
  if (time.size() == 1) info.time = time[0] * (unit.size() == 1 ? unit[0] : 1);
  if (time.size() != 1) info.notes.push_back("no time of " + source.iteration + ": it counts as 0");
  if (unit.size() != 1)
    info.notes.push_back("no timeUnitSI of " + source.iteration + ": its time counts as in seconds");
  if (!std::isfinite(info.time)) throw InputError(file.path() + ": the time of " + source.iteration + " is not finite");
  source.particles = joined_path(source.iteration, root_text(file, "particlesPath"));
  const std::vector<std::string> meshes = file.texts("/", "meshesPath");
  if (!meshes.empty()) source.meshes = joined_path(source.iteration, meshes.front());
  if (!meshes.empty() && file.kind(source.meshes) != hdf5::ObjectKind::group) source.meshes.clear();
  if (file.kind(source.particles) != hdf5::ObjectKind::group)
    throw InputError(file.path() + ": no particles: there is no group " + source.particles);
}

/// Reads one component of a record: a dataset of one dimension, or a group with a constant. Empty: neither, or no numbers.
std::optional<Component> read_component(const hdf5::File& file, const std::string& at, std::int64_t& count) {
  Component out;
  out.at = at;
  const std::vector<double> unit = file.numbers(at, "unitSI");
  if (unit.size() == 1) out.unit = unit[0];
  if (unit.size() != 1 && file.has_attribute(at, "unitSI"))  // a text, say: it would count as 1
    throw InputError(file.path() + ": unitSI of " + at + " is not one number; allowed: a number that is finite, not 0");
  if (!std::isfinite(out.unit) || out.unit == 0)
    throw InputError(file.path() + ": unitSI of " + at + " is " + number_text(out.unit) + "; allowed: finite, not 0");
  if (file.kind(at) == hdf5::ObjectKind::dataset) {
    const hdf5::DatasetInfo about = file.dataset(at);
    if (!about.type || about.shape.size() != 1) return std::nullopt;
    out.type = *about.type;
    out.storage = about.storage;
    count = about.shape[0];
    return out;
  }
  const std::vector<double> value = file.numbers(at, "value");
  const std::vector<double> shape = file.numbers(at, "shape");
  if (value.size() != 1 || shape.size() != 1) return std::nullopt;
  if (!(shape[0] >= 0) || shape[0] > 0x1p53 || shape[0] != std::floor(shape[0]))
    throw InputError(file.path() + ": shape of " + at + " is " + number_text(shape[0]) +
                     "; allowed: a number of particles");
  count = static_cast<std::int64_t>(shape[0]);
  out.value = value[0];
  return out;
}

/// Record of a species that was found: its components by column, and what it says of merging.
struct Record {
  Weighting weighting = Weighting::unknown;
  std::vector<std::string> columns;
  bool constant = true;  ///< true if all components are constants
};

/// Species while it is described: what is added to Species.
struct Described {
  Species species;
  std::map<std::string, Record> records;
  std::map<std::string, std::string> paths;  ///< by column: path below the species
  std::vector<std::string> unread;           ///< records without numbers over the particles
  std::vector<std::string> without_unit;     ///< components without unitSI
};

/// Returns the column of the parcels for a component of a record: EPIC's names where they are meant, else "record_component".
std::string column_name(const std::string& record, const std::string& component) {
  if (component.empty()) return record == "weighting" ? "volume" : record == "id" ? std::string(kIdName) : record;
  if (record == "position") return component + "_position";
  if (record == "positionOffset") return component + "_offset";
  if (record == "vorticity") return component + "_vorticity";
  return record + "_" + component;
}

/// Describes one species of an openPMD file: records and components by column.
/// @throws InputError if lengths differ, or columns have equal names
Described describe_species(const hdf5::File& file, const std::string& at, const std::string& name) {
  Described out;
  out.species.name = name;
  std::int64_t count = -1;
  const auto add = [&](const std::string& record, const std::string& component) {
    const std::string path = component.empty() ? record : record + '/' + component;
    std::int64_t length = -1;
    const std::optional<Component> found = read_component(file, at + '/' + path, length);
    if (!found) return out.unread.push_back(path);
    if (count >= 0 && length != count)
      throw InputError(file.path() + ": " + at + '/' + path + " has " + std::to_string(length) +
                       " values, records before it " + std::to_string(count) + "; truncated or damaged");
    count = length;
    if (!file.has_attribute(found->at, "unitSI")) out.without_unit.push_back(name + '/' + path);
    const std::string column = column_name(record, component);
    if (!out.species.columns.emplace(column, *found).second)
      throw InputError(file.path() + ": species " + name + ": two records become the column " + column);
    Record& r = out.records[record];
    r.columns.push_back(column);
    r.constant = r.constant && found->value.has_value();
    out.paths[column] = path;
  };
  for (const std::string& record : file.members(at)) {
    if (record == "particlePatches") continue;  // of the order in the file, which changes
    const std::string path = at + '/' + record;
    if (file.kind(path) == hdf5::ObjectKind::dataset || !file.numbers(path, "value").empty()) {
      add(record, "");
    } else if (file.kind(path) == hdf5::ObjectKind::group) {
      for (const std::string& component : file.members(path)) add(record, component);
    } else {
      out.unread.push_back(record);
    }
    if (out.records.contains(record)) out.records[record].weighting = read_weighting(file, path);
  }
  const auto refuse = [&](const std::string& path, const std::string& absent) {
    const bool unread = std::find(out.unread.begin(), out.unread.end(), path) != out.unread.end();
    const std::string read = path + " of a type and shape that is read; allowed: integers, floats of 32 or 64 bits";
    throw InputError(file.path() + ": species " + name + " has no " + (unread ? read : absent));
  };
  for (const char* axis : kAxisNames)
    for (const std::string record : {"position", "positionOffset"})
      if (!out.species.columns.contains(std::string(axis) + (record == "position" ? "_position" : "_offset")))
        refuse(record + '/' + axis, record + '/' + axis + "; allowed: particles in three dimensions with both");
  if (!out.species.columns.contains("volume")) refuse("weighting", "record weighting, which is the volume of a parcel");
  out.species.count = count;
  return out;
}

/// Returns true if a record holds a number for each particle that merging changes, so that it is a column: a constant of one
/// real particle stays what it is.
bool is_column(const std::string& name, const Record& record) {
  static const std::set<std::string> own{
      "position", "positionOffset", "weighting", "vorticity", "buoyancy", "B11", "B12", "B13", "B22", "B23"};
  if (name == "id") return !record.constant;
  return own.contains(name) || !record.constant || record.weighting != Weighting::single;
}

/// Adds the known attributes of ED-PIC to the schema, which all species have as columns and with the same rule.
void add_known_attributes(const std::vector<Described>& all, std::vector<Attribute>& to) {
  for (const char* name : kKnown) {
    std::optional<Rule> rule;
    std::vector<std::string> columns;
    bool good = true;
    for (const Described& d : all) {
      const auto at = d.records.find(name);
      good = good && at != d.records.end() && is_column(name, at->second) &&
             at->second.weighting != Weighting::unknown && (columns.empty() || columns == at->second.columns);
      if (!good) break;
      const Rule its = at->second.weighting == Weighting::single ? Rule::mean : Rule::sum;
      good = !rule || *rule == its;
      rule = its;
      columns = at->second.columns;
    }
    if (good && rule) to.push_back({name, static_cast<int>(columns.size()), *rule, columns, ""});
  }
}

/// Lists the columns of all species for the metadata. What only some have is lost; what differs in type or unit is refused.
void add_columns(const hdf5::File& file, const std::vector<Described>& all, ParticleFile& out) {
  std::set<std::string> lost;
  for (const Described& d : all) {
    for (const std::string& path : d.unread) lost.insert(path);
    for (const auto& [name, record] : d.records) {
      if (!is_column(name, record) || name == "positionOffset") continue;
      for (const std::string& column : record.columns) {
        const Component& mine = d.species.columns.at(column);
        bool everywhere = true;
        for (const Described& other : all) {
          const auto at = other.records.find(name);
          everywhere = everywhere && at != other.records.end() && is_column(name, at->second) &&
                       other.species.columns.contains(column);
          if (!everywhere) break;
          const Component& its = other.species.columns.at(column);
          if (its.type != mine.type || (name != "position" && its.unit != mine.unit))
            throw InputError(file.path() + ": " + other.paths.at(column) + " of species " + other.species.name +
                             " and " + d.species.name +
                             " differ in unitSI or type; allowed: one of them, --species NAME");
        }
        if (name == "id" && !everywhere) continue;
        if (!everywhere) {
          lost.insert(d.paths.at(column));
        } else if (out.info.metadata.column(column) == nullptr) {
          out.info.metadata.columns.push_back(describe_column(column, mine, d.paths.at(column)));
        }
      }
    }
  }
  for (const std::string& path : lost)
    out.info.metadata.lost.push_back(
        {path, "record " + path + ", which not every species has as numbers over its particles"});
}

/// Finds the species to be read. @throws InputError if there is none, or none of the name that was asked for
std::vector<std::string> choose_species(const hdf5::File& file, const std::string& wanted, ParcelFileInfo& info) {
  std::vector<std::string> all;
  for (const std::string& name : file.members(info.metadata.openpmd.particles))
    if (file.kind(info.metadata.openpmd.particles + '/' + name) == hdf5::ObjectKind::group) all.push_back(name);
  if (all.empty()) throw InputError(file.path() + ": no species in " + info.metadata.openpmd.particles);
  if (wanted.empty()) {
    if (all.size() > 1)
      info.notes.push_back("species " + joined(all) + ": all, numbered from 0 in the attribute species");
    return all;
  }
  if (std::find(all.begin(), all.end(), wanted) == all.end())
    throw InputError(file.path() + ": no species " + wanted + "; it has " + joined(all));
  all.erase(std::find(all.begin(), all.end(), wanted));
  info.notes.push_back("species " + wanted + (all.empty() ? "" : " alone, without " + joined(all)));
  return {wanted};
}

/// Decides where ids come from: the record id of every species, else the places in the file.
void describe_ids(const hdf5::File& file, std::vector<Described>& all, ParticleFile& out) {
  out.info.has_ids = out.info.metadata.column(kIdName) != nullptr;
  if (!out.info.has_ids) {
    out.info.notes.push_back("no record id: ids are the places in the file, from 0");
    return;
  }
  bool marked = true;
  std::int64_t looked = 0;
  for (const Described& d : all) {
    const Component& id = d.species.columns.at(std::string(kIdName));
    if (!is_integer(id.type))
      throw InputError(file.path() + ": the record id of species " + d.species.name + " is of type " +
                       type_name(id.type) + "; allowed: integers");
    if (d.species.count == 0) continue;
    std::uint64_t first = 0;
    file.read(id.at, FileType::u64, {0, 1}, &first);
    marked = marked && id.type == FileType::u64 && first >> 63 != 0;
    ++looked;
  }
  out.info.metadata.openpmd.marked_ids = marked && looked > 0;
  std::string note = "ids from the record id";
  if (out.info.metadata.openpmd.marked_ids) note += ", without the highest bit, which all have";
  if (all.size() > 1)
    note += "; as that of one species may be another's, " + std::to_string(all.size()) + " id + number of the species";
  out.info.notes.push_back(note);
}

/// Lists the records that are constants and stay so, and notes of positions how their offsets are given: a writer gives those of
/// 32 bits in the same way.
void describe_positions(const std::vector<Described>& all, FileMetadata& metadata) {
  std::set<std::string> constants;
  for (const Described& d : all)
    for (const auto& [name, record] : d.records)
      if (name != "positionOffset" && !is_column(name, record)) constants.insert(name);
  metadata.openpmd.constants.assign(constants.begin(), constants.end());
  for (const char* axis : kAxisNames) {
    const Component& first = all.front().species.columns.at(axis + std::string("_offset"));
    std::optional<double> value = first.value;
    for (const Described& d : all) {
      const Component& its = d.species.columns.at(axis + std::string("_offset"));
      if (its.value != value || its.unit != first.unit) value.reset();
    }
    for (FileVariable& v : metadata.columns) {
      if (v.name != axis + std::string("_position")) continue;
      const std::int32_t type = static_cast<std::int32_t>(first.type);
      v.attributes.push_back({kOffsetType, file_values(std::span<const std::int32_t>(&type, 1))});
      v.attributes.push_back({kOffsetUnit, file_values(std::span<const double>(&first.unit, 1))});
      if (value) v.attributes.push_back({kOffsetValue, file_values(std::span<const double>(&*value, 1))});
    }
  }
}

}  // namespace

ParticleFile describe_openpmd(const hdf5::File& file, const std::string& species) {
  ParticleFile out;
  ParcelFileInfo& info = out.info;
  info.says_grid = false;
  info.grid.box.periodic = {false, false, false};
  info.metadata.format = FileFormat::openpmd;
  find_iteration(file, info);
  const std::vector<std::string> names = choose_species(file, species, info);
  std::vector<Described> all;
  for (const std::string& name : names)
    all.push_back(describe_species(file, info.metadata.openpmd.particles + '/' + name, name));
  add_columns(file, all, out);
  describe_ids(file, all, out);
  describe_positions(all, info.metadata);
  for (Described& d : all) {
    const auto weighting = d.species.columns.find("volume");
    if (weighting != d.species.columns.end() && weighting->second.unit != 1)
      info.notes.push_back("unitSI of " + d.species.name + "/weighting is " + number_text(weighting->second.unit) +
                           ", which does not count: volumes are the numbers in the file");
    if (!d.without_unit.empty())
      info.notes.push_back("no unitSI of " + joined(d.without_unit) + ": these count as in SI units");
    info.parcels += d.species.count;
    out.species.push_back(std::move(d.species));
  }
  std::vector<Attribute> attributes;
  add_epic_attributes(out.species, attributes);
  add_known_attributes(all, attributes);
  if (names.size() > 1) {
    if (info.metadata.column(kSpeciesName) != nullptr)
      throw InputError(file.path() +
                       ": a record is called species, as the number of a particle's species is here; "
                       "allowed: --species NAME");
    Component number;
    number.type = FileType::i32;
    info.metadata.columns.push_back(describe_column(kSpeciesName, number, ""));
    attributes.push_back({kSpeciesName, 1, Rule::centre, {kSpeciesName}, "1"});
  }
  info.metadata.openpmd.species = names;
  info.schema = Schema(std::move(attributes));
  read_own_attributes(file, info.metadata.openpmd.iteration, info);
  if (!info.says_grid) read_meshes(file, info);
  return out;
}

}  // namespace merganser::io
