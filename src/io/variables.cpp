/// Variables of a parcel file beside EPIC's, added to the schema as attributes that merge by a rule of the user's.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "src/io/columns.hpp"
#include "src/io/missing.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {
namespace {

/// Returns the text of a NetCDF variable's attribute, as `units`; empty if it has none of this name and of type char.
std::string text_attribute(const FileVariable& variable, std::string_view attribute) {
  for (const FileAttribute& a : variable.attributes)
    if (a.name == attribute && a.values.type == static_cast<int>(FileType::text))
      return {reinterpret_cast<const char*>(a.values.bytes.data()), a.values.bytes.size()};
  return {};
}

/// Returns true if a NetCDF variable over the parcels has an attribute of this name.
bool has_attribute(const FileVariable& variable, std::string_view attribute) {
  return std::any_of(variable.attributes.begin(), variable.attributes.end(),
                     [&](const FileAttribute& a) { return a.name == attribute; });
}

/// Validates the rule by which the user wants the values of a parcel file's variable to merge. @throws UsageError if values of
/// the variable's type, or packed values, cannot merge by the rule
void check_rule(const FileVariable& variable, const VariableRule& rule, FileFormat format) {
  const auto type = static_cast<FileType>(variable.values.type);
  const std::string name = "variable " + rule.name + ", of type " + type_name(type) + ", ";
  if (rule.rule == Rule::mean && is_integer(type) && format != FileFormat::csv)
    throw UsageError(name + "cannot hold a mean; allowed: sum, centre, largest");
  if (rule.rule == Rule::sum && has_attribute(variable, "_Unsigned"))
    throw UsageError(
        name + "has an attribute _Unsigned, so that its values are not what their type says; allowed: centre, largest");
  if (rule.rule == Rule::sum && has_attribute(variable, "add_offset"))
    throw UsageError(name + "has an add_offset, so that its values cannot be summed; allowed: " +
                     (is_integer(type) ? "" : "mean, ") + "centre, largest");
}

/// Returns the rule by which the values of a parcel file's variable merge: with skip_missing, mean and sum become mean_present
/// and sum_present. @throws UsageError if the type has no value that could be written for a missing one
Rule effective_rule(const FileVariable& variable, const VariableRule& rule, FileFormat format) {
  const bool computes = rule.rule == Rule::mean || rule.rule == Rule::sum;
  if (!rule.skip_missing || !computes) return rule.rule;
  const auto type = static_cast<FileType>(variable.values.type);
  if (!MissingValues(type, variable.attributes, variable.unwritten).fill_value())
    throw UsageError("variable " + rule.name + ", of type " + type_name(type) +
                     ", has no value that means missing, so that missing=skip could not write one; allowed: " +
                     (format == FileFormat::epic ? "with an attribute _FillValue" : "without missing=skip"));
  return rule.rule == Rule::mean ? Rule::mean_present : Rule::sum_present;
}

/// Returns the attribute of a schema that is read from the parcel file's variable of this name; null if none is.
const Attribute* find_component(const Schema& schema, const std::string& variable) {
  for (const Attribute& a : schema.attributes())
    if (a.name == variable ||
        std::find(a.component_names.begin(), a.component_names.end(), variable) != a.component_names.end())
      return &a;
  return nullptr;
}

/// Returns the parcel file's variable of this name over the parcels; null if there is none.
FileVariable* find_column(ParcelFileInfo& info, const std::string& name) {
  const auto at = std::find_if(info.metadata.columns.begin(), info.metadata.columns.end(),
                               [&](const FileVariable& v) { return v.name == name; });
  return at == info.metadata.columns.end() ? nullptr : &*at;
}

/// Sets a global attribute to a number: replaced if the metadata have it, else appended.
void set_number(FileMetadata& metadata, const std::string& name, double number) {
  FileValues value = file_values(std::span<const double>(&number, 1));
  for (FileAttribute& a : metadata.root.attributes) {
    if (a.name != name) continue;
    a.values = std::move(value);
    return;
  }
  metadata.root.attributes.push_back({name, std::move(value)});
}

}  // namespace

// Global attribute min_vratio of files that are written: replaced if the metadata have it, else appended.
void set_min_volume_ratio(FileMetadata& metadata, double ratio) {
  if (!(ratio > 0) || !std::isfinite(ratio))
    throw UsageError("min_vratio: " + number_text(ratio) + "; allowed: above 0");
  set_number(metadata, "min_vratio", ratio);
}

void set_merge_step(FileMetadata& metadata, std::uint64_t step) {
  set_number(metadata, "merge_step", static_cast<double>(step));
}

std::uint64_t merge_step(const FileMetadata& metadata) {
  for (const FileAttribute& a : metadata.root.attributes) {
    if (a.name != "merge_step") continue;
    constexpr int kDouble = 6;  // NetCDF's number of the type
    double step = -1;
    if (a.values.type == kDouble && a.values.count == 1 && a.values.bytes.size() == sizeof step)
      std::memcpy(&step, a.values.bytes.data(), sizeof step);
    if (!(step >= 0 && step <= 0x1p53 && std::trunc(step) == step))
      throw InputError("the global attribute merge_step is no integer from 0 to 2^53 in double precision");
    return static_cast<std::uint64_t>(step);
  }
  return 0;
}

std::vector<std::string> unread_variables(const ParcelFileInfo& info) {
  std::vector<std::string> names;
  for (const FileVariable& v : info.metadata.columns)
    if (v.name != "t" && !is_own_name(v.name) && find_component(info.schema, v.name) == nullptr)
      names.push_back(v.name);
  std::sort(names.begin(), names.end());
  return names;
}

// Extension of a parcel file's schema by its further variables, sorted by name, so that the order of options does not matter.
void add_variables(const std::string& path, ParcelFileInfo& info, std::span<const VariableRule> rules) {
  std::vector<VariableRule> sorted(rules.begin(), rules.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<Attribute> attributes = info.schema.attributes();
  for (const VariableRule& rule : sorted) {
    if (is_own_name(rule.name) || rule.name == "t" || rule.name == "vorticity" || rule.name == "B")
      throw UsageError("variable " + rule.name + " is one of EPIC's, whose rules are fixed");
    FileVariable* const variable = find_column(info, rule.name);
    if (variable == nullptr) {
      for (const FileLoss& lost : info.metadata.lost)
        if (lost.name == rule.name) throw UsageError(path + ": " + lost.what + "; allowed: " + rule.name + ":drop");
      const std::string known = joined(unread_variables(info));
      throw UsageError(path + " has no variable " + rule.name + " of numbers over its parcels; it has " +
                       (known.empty() ? "none beside EPIC's" : "beside EPIC's " + known));
    }
    if (const Attribute* const known = find_component(info.schema, rule.name))
      throw UsageError("variable " + rule.name + " is a part of " + known->name +
                       ", whose rule the file's format fixes");
    check_rule(*variable, rule, info.metadata.format);
    // In CSV a column of doubles that all happen to be whole looks as one of integers.
    if (rule.rule == Rule::mean && is_integer(static_cast<FileType>(variable->values.type)))
      variable->values.type = static_cast<int>(FileType::f64);
    variable->skip_missing = rule.skip_missing;
    attributes.push_back({rule.name,
                          1,
                          effective_rule(*variable, rule, info.metadata.format),
                          {rule.name},
                          text_attribute(*variable, "units")});
  }
  info.schema = Schema(std::move(attributes));
}

std::vector<std::string> drop_attributes(ParcelFileInfo& info, std::span<const std::string> names) {
  const auto is_named = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  std::vector<std::string> found;
  std::vector<Attribute> kept;
  for (const Attribute& a : info.schema.attributes()) {
    const bool whole = is_named(a.name);
    const auto parts = std::count_if(a.component_names.begin(), a.component_names.end(), is_named);
    if (!whole && parts == 0) {
      kept.push_back(a);
      continue;
    }
    if (!whole && parts < a.components)
      throw UsageError("the variables " + joined(a.component_names) + " merge together, as " + a.name +
                       "; allowed: " + a.name + ":drop, which leaves all of them out");
    if (a.name == kSpeciesName && info.metadata.openpmd.species.size() > 1)
      throw UsageError("species tells the species " + joined(info.metadata.openpmd.species) +
                       " apart; allowed: with one of them, --species NAME");
    if (whole) found.push_back(a.name);
    found.insert(found.end(), a.component_names.begin(), a.component_names.end());
  }
  if (!found.empty()) info.schema = Schema(std::move(kept));
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace merganser::io
