// Columns of a parcel file: NetCDF types of its variables, copies between them and the container of parcels, conversions.
#include "src/io/columns.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "merganser/base/text.hpp"
#include "src/io/missing.hpp"

namespace merganser::io {
namespace {

constexpr std::size_t kSiteWidth = sizeof(Site) / sizeof(double);

/// Returns the columns of a parcel file with EPIC's schema (position, volume, vorticity, buoyancy, B), all as new doubles.
const std::vector<Column>& own_columns() {
  static const std::vector<Column> list = columns(Schema::epic(), {});
  return list;
}

/// Sets NetCDF type, storage and missing=skip of a parcel file's column to those of its variable in the file that the
/// metadata were read from; nothing if that file has no variable of this name.
void apply_metadata(Column& column, const FileMetadata& metadata) {
  column.has_fill = metadata.format == FileFormat::epic;
  column.in_file = metadata.column(column.name);
  if (column.in_file == nullptr) return;
  column.type = static_cast<FileType>(column.in_file->values.type);
  column.storage = column.in_file->storage;
  column.may_lack = column.may_lack || column.in_file->skip_missing;
}

/// Bounds of the values that a variable of a numeric NetCDF type can hold. Those of 64-bit integers are narrowed to
/// +-(2^53 - 1), within which a double represents every integer exactly.
struct ValueRange {
  double low;
  double high;
};
/// Returns the bounds of the doubles that may be written to a parcel file's variable of this numeric NetCDF type.
ValueRange exact_range(FileType type) {
  ValueRange range{};
  dispatch_type(type, [&](auto zero) {
    using T = decltype(zero);
    range = {static_cast<double>(std::numeric_limits<T>::lowest()), static_cast<double>(std::numeric_limits<T>::max())};
    if (std::is_integral_v<T> && sizeof(T) == 8) range = {std::is_signed_v<T> ? -0x1p53 + 1 : 0, 0x1p53 - 1};
  });
  return range;
}

}  // namespace

const FileVariable* FileMetadata::column(std::string_view name) const {
  for (const FileVariable& v : columns)
    if (v.name == name) return &v;
  return nullptr;
}

std::string type_name(FileType type) {
  static constexpr std::array<const char*, 13> names{"",      "byte",   "char", "short", "int",    "float", "double",
                                                     "ubyte", "ushort", "uint", "int64", "uint64", "string"};
  const auto at = static_cast<std::size_t>(type);
  return at > 0 && at < names.size() ? names[at] : "number " + std::to_string(static_cast<int>(type));
}

bool is_integer(FileType type) { return is_number(type) && type != FileType::f32 && type != FileType::f64; }

bool is_number(FileType type) {
  return static_cast<int>(type) >= 1 && static_cast<int>(type) <= 11 && type != FileType::text;
}

std::size_t type_bytes(FileType type) {
  if (type == FileType::text) return 1;
  std::size_t bytes = 0;
  if (is_number(type)) dispatch_type(type, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

// Columns of a parcel file: the four of Site, then one per component of the schema, behind the id that begins each row.
std::vector<Column> columns(const Schema& schema, const FileMetadata& metadata) {
  const auto site = [](const char* name, const char* unit, const char* long_name, std::size_t offset) {
    return Column{.name = name, .unit = unit, .long_name = long_name, .in_site = true, .offset = offset, .storage = {}};
  };
  std::vector<Column> list{
      site("x_position", "m", "x position component", 0), site("y_position", "m", "y position component", 1),
      site("z_position", "m", "z position component", 2), site("volume", "m^3", "parcel volume", 3)};
  std::size_t offset = 1;
  for (const Attribute& a : schema.attributes()) {
    for (int c = 0; c < a.components; ++c, ++offset) {
      const auto index = static_cast<std::size_t>(c);
      Column column{.name = index < a.component_names.size() ? a.component_names[index] : a.name,
                    .unit = a.unit,
                    .offset = offset,
                    .computed = a.rule != Rule::centre && a.rule != Rule::largest,
                    .epic = Schema::epic().has(a.name),
                    .may_lack = is_of_present(a.rule),
                    .storage = {}};
      if (index >= a.component_names.size() && a.components > 1) column.name += "_" + std::to_string(c);
      column.long_name = a.rule == Rule::ellipsoid ? column.name + " element of shape matrix" : "parcel " + column.name;
      list.push_back(std::move(column));
    }
  }
  for (Column& column : list) apply_metadata(column, metadata);
  return list;
}

// Column of the parcel ids, 64-bit integers whose bits stand first in each payload row.
Column id_column(const FileMetadata& metadata) {
  const std::string name(kIdName);
  Column column{
      .name = name, .unit = "1", .long_name = "id of the parcel", .computed = false, .epic = false, .storage = {}};
  apply_metadata(column, metadata);
  column.type = FileType::i64;
  if (const FileVariable* like = metadata.column("volume"); like != nullptr && column.in_file == nullptr)
    column.storage = like->storage;
  return column;
}

bool is_own_name(std::string_view name) {
  for (const Column& column : own_columns())
    if (column.name == name) return true;
  return name == kIdName;
}

// Reading of a parcel file: values of one NetCDF variable are stored into a member of each parcel, with the stride of sites
// or rows.
void scatter(Parcels& parcels, const Column& column, std::size_t first, const double* values, std::size_t count) {
  if (count == 0) return;  // an empty container has null tables, whose addresses must not be offset
  const std::size_t stride = column.in_site ? kSiteWidth : parcels.schema().width();
  double* to = (column.in_site ? reinterpret_cast<double*>(parcels.sites()) : parcels.rows()) + column.offset;
  to += first * stride;
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = values[i];
}

// Writing of a parcel file: one member of each parcel is copied into the contiguous values of a NetCDF variable.
void gather(const Parcels& parcels, const Column& column, std::size_t first, double* values, std::size_t count) {
  if (count == 0) return;
  const std::size_t stride = column.in_site ? kSiteWidth : parcels.schema().width();
  const double* from =
      (column.in_site ? reinterpret_cast<const double*>(parcels.sites()) : parcels.rows()) + column.offset;
  from += first * stride;
  for (std::size_t i = 0; i < count; ++i) values[i] = from[i * stride];
}

void gather(const Parcels& parcels, const Column& column, std::span<const std::size_t> which, double* to,
            std::size_t stride) {
  if (which.empty()) return;
  const std::size_t width = column.in_site ? kSiteWidth : parcels.schema().width();
  const double* const from =
      (column.in_site ? reinterpret_cast<const double*>(parcels.sites()) : parcels.rows()) + column.offset;
  for (std::size_t i = 0; i < which.size(); ++i) to[i * stride] = from[which[i] * width];
}

bool is_stored_as_it_is(const Column& column) {
  return !(column.may_lack && column.computed) && (column.bits() || column.type == FileType::f64);
}

// Writing of a parcel file: values of one column become those of its NetCDF type. Bits are copied, floats narrowed, missing
// values filled.
void to_file_type(const Column& column, const double* values, std::size_t count, std::vector<std::byte>& out) {
  out.resize(count * type_bytes(column.type));
  const auto fill = column.may_lack && column.computed ? missing_values(column).fill_value() : std::nullopt;
  if (is_stored_as_it_is(column)) {
    if (count > 0) std::memcpy(out.data(), values, out.size());
    return;
  }
  dispatch_type(column.type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t i = 0; i < count; ++i) {
      const T value = fill && std::isnan(values[i]) ? static_cast<T>(*fill) : static_cast<T>(values[i]);
      std::memcpy(out.data() + i * sizeof value, &value, sizeof value);
    }
  });
}

// Check on writing that a narrower type of the file can hold a value.
std::string check_fit(const Column& column, double value) {
  if (column.bits() || column.type == FileType::f64) return {};
  if (!is_integer(column.type) && !column.computed) return {};  // a float that was only carried: widened, so it narrows
  const ValueRange range = exact_range(column.type);
  const bool whole = !is_integer(column.type) || value == std::floor(value);
  if (whole && value >= range.low && value <= range.high) return {};
  return column.name + " is " + number_text(value) + "; as " + type_name(column.type) + " it may be " +
         (is_integer(column.type) ? "a whole number from " : "from ") + number_text(range.low) + " to " +
         number_text(range.high);
}

}  // namespace merganser::io
