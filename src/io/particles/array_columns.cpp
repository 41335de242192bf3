// Columns and attributes of parcels from arrays over the points of a file.
#include "src/io/particles/array_columns.hpp"

#include <algorithm>
#include <utility>

#include "merganser/base/error.hpp"
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

/// Checks that points have all columns of an attribute of EPIC's, or none. @throws InputError naming one that is missing
void require_whole_attributes(const std::string& path, const Species& points) {
  for (const Attribute& a : Schema::epic().attributes()) {
    const std::string* there = nullptr;
    const std::string* missing = nullptr;
    for (const std::string& name : a.component_names) (points.columns.contains(name) ? there : missing) = &name;
    if (there != nullptr && missing != nullptr)
      throw InputError(path + ": the column " + *missing + " of " + a.name + " is missing, but " + *there +
                       " is there; allowed: all or none");
  }
}

}  // namespace

ArrayColumns::ArrayColumns(std::string path, std::int64_t points, ParticleFile& out)
    : path_(std::move(path)), out_(out) {
  Species all;
  all.name = "points";
  all.count = points;
  out_.info.parcels = points;
  out_.species.push_back(std::move(all));
}

void ArrayColumns::add_positions(const ArrayAbout& array) {
  for (std::int64_t a = 0; a < 3; ++a) {
    const std::string column = std::string(1, "xyz"[a]) + "_position";
    const Component c{.at = array.at,
                      .value = {},
                      .type = array.type,
                      .width = 3,
                      .column = a,
                      .first_row = array.first_row,
                      .storage = array.storage};
    if (!out_.species.front().columns.emplace(column, c).second)
      throw InputError(path_ + ": two arrays become the column " + column);
    out_.info.metadata.columns.push_back(describe_column(column, c, ""));
  }
}

void ArrayColumns::add(const ArrayAbout& array) {
  Species& points = out_.species.front();
  if (array.rows != points.count)
    throw InputError(path_ + ": " + array.at + " has " + std::to_string(array.rows) + " rows; there are " +
                     std::to_string(points.count) + " points; truncated or damaged");
  if (array.name.empty())
    throw InputError(path_ + ": an array or column without a name (" + array.at + "); allowed: at least one letter");
  constexpr std::int64_t kMaxComponents = 4096;
  if (array.width > kMaxComponents)
    throw InputError(path_ + ": " + array.at + " has " + std::to_string(array.width) +
                     " numbers for each point; allowed: up to " + std::to_string(kMaxComponents));
  Attribute told{array.name, 0, Rule::mean, {}, ""};
  for (std::int64_t c = 0; c < std::max<std::int64_t>(array.width, 1); ++c) {
    const Component component{.at = array.at,
                              .value = {},
                              .type = array.type,
                              .width = array.width,
                              .column = c,
                              .first_row = array.first_row,
                              .storage = array.storage};
    const std::string column = array_column(array.name, static_cast<std::size_t>(c), array.width);
    if (!points.columns.emplace(column, component).second)
      throw InputError(path_ + ": two arrays become the column " + column);
    out_.info.metadata.columns.push_back(describe_column(column, component, ""));
    told.component_names.push_back(column);
    ++told.components;
  }
  if (array.rule.empty() || !array.place) return;
  const auto* const known =
      std::find_if(kRuleNames.begin(), kRuleNames.end(), [&](const auto& r) { return array.rule == r.first; });
  if (known == kRuleNames.end())
    throw InputError(path_ + ": " + array.at + ": the attribute " + kRuleAttribute + " is \"" + array.rule +
                     "\"; allowed: mean, sum, centre, largest, mean_present, sum_present");
  told.rule = known->second;
  declared_.push_back({*array.place, std::move(told)});
}

void ArrayColumns::finish(const std::string& where) {
  ParcelFileInfo& info = out_.info;
  const Species& points = out_.species.front();
  if (!points.columns.contains("volume")) {
    const auto unread = std::find_if(info.metadata.lost.begin(), info.metadata.lost.end(),
                                     [](const auto& one) { return one.name == "volume"; });
    if (unread != info.metadata.lost.end())
      throw InputError(path_ + ": volumes cannot be read from the " + unread->what);
    throw InputError(path_ + ": " + where + " has no array volume; allowed: files with the volumes of parcels");
  }
  const std::string id(kIdName);
  info.has_ids = points.columns.contains(id);
  if (info.has_ids && !is_integer(points.columns.at(id).type))
    throw InputError(path_ + ": " + id + " is of type " + type_name(points.columns.at(id).type) +
                     "; allowed: whole numbers, as integers");
  if (!info.has_ids) info.notes.push_back("no array " + id + ": ids are the places in the file, from 0");
  require_whole_attributes(path_, points);
  if (points.columns.contains("t")) info.metadata.lost.push_back({"t", "array t, over the points"});
  std::sort(declared_.begin(), declared_.end(), [](const auto& a, const auto& b) { return a.place < b.place; });
  std::vector<Attribute> all;
  add_epic_attributes(out_.species, all);
  for (DeclaredAttribute& t : declared_) all.push_back(std::move(t.attribute));
  try {
    info.schema = Schema(std::move(all));
  } catch (const UsageError& e) {
    throw InputError(path_ + ": " + e.what());
  }
}

}  // namespace merganser::io
