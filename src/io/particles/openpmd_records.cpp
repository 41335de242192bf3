// Table of openPMD records of the columns of parcels.
#include "src/io/particles/openpmd_records.hpp"

#include <algorithm>
#include <string_view>

#include "merganser/io/data_file.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {
namespace {

/// Returns the attribute that a column of a payload row is a component of; null for position, volume and id.
const Attribute* attribute_of(const Column& column, const Schema& schema) {
  if (column.in_site || column.name == kIdName) return nullptr;
  std::size_t offset = 1;
  for (const Attribute& a : schema.attributes()) {
    offset += static_cast<std::size_t>(a.components);
    if (column.offset < offset) return &a;
  }
  return nullptr;
}

/// Powers of m, kg, s and A of a record's unit.
struct Dimension {
  std::string_view record;
  std::array<double, 4> powers;
};
constexpr std::array<Dimension, 12> kDimensions{{{"position", {1, 0, 0, 0}},
                                                 {"positionOffset", {1, 0, 0, 0}},
                                                 {"momentum", {1, 1, -1, 0}},
                                                 {"mass", {0, 1, 0, 0}},
                                                 {"charge", {0, 0, 1, 1}},
                                                 {"vorticity", {0, 0, -1, 0}},
                                                 {"buoyancy", {1, 0, -2, 0}},
                                                 {"B11", {2, 0, 0, 0}},
                                                 {"B12", {2, 0, 0, 0}},
                                                 {"B13", {2, 0, 0, 0}},
                                                 {"B22", {2, 0, 0, 0}},
                                                 {"B23", {2, 0, 0, 0}}}};

}  // namespace

RecordPath record_path(const Column& column, const Schema& schema) {
  if (column.in_file != nullptr)
    for (const FileAttribute& a : column.in_file->attributes)
      if (a.name == kRecordAttribute) {
        const std::string path = to_text(a.values);
        const std::size_t slash = path.find('/');
        if (!path.empty())
          return {path.substr(0, slash), slash == std::string::npos ? std::string() : path.substr(slash + 1)};
      }
  if (column.in_site && column.offset == 3) return {"weighting", ""};
  if (column.name == kIdName) return {"id", ""};
  const Attribute* const of = attribute_of(column, schema);
  if (of == nullptr || of->components != 3) return {column.name, ""};
  const auto at = std::find(of->component_names.begin(), of->component_names.end(), column.name);
  return {of->name, std::string(1, "xyz"[at == of->component_names.end() ? 0 : at - of->component_names.begin()])};
}

RecordMeaning meaning_of(const std::string& record, Rule rule) {
  RecordMeaning out;
  for (const Dimension& d : kDimensions)
    if (d.record == record) std::copy(d.powers.begin(), d.powers.end(), out.dimension.begin());
  out.macro_weighted = rule == Rule::sum || rule == Rule::sum_present;
  const bool weighs = out.macro_weighted || rule == Rule::mean || rule == Rule::mean_present;
  out.weighting_power = weighs && record != "position" ? 1 : 0;
  return out;
}

Rule rule_of(const Column& column, const Schema& schema) {
  if (column.in_site && column.offset == 3) return Rule::sum;
  const Attribute* const of = attribute_of(column, schema);
  return of == nullptr ? Rule::centre : of->rule;
}

// Weighting by macroWeighted and weightingPower; what ED-PIC has no use for is unknown.
Weighting read_weighting(const hdf5::File& file, const std::string& record) {
  const std::vector<double> macro = file.numbers(record, "macroWeighted");
  const std::vector<double> power = file.numbers(record, "weightingPower");
  if (macro.size() != 1 || power.size() != 1) return Weighting::unknown;
  if (macro[0] == 0) return Weighting::single;
  return macro[0] == 1 && power[0] == 1 ? Weighting::together : Weighting::unknown;
}

}  // namespace merganser::io
