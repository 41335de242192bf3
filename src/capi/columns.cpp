// Validation of the columns in which a C caller holds parcels, and copies between them and the container of parcels.
#include "merganser/capi/detail/columns.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/id_table.hpp"
#include "merganser/base/indexed_text.hpp"
#include "merganser/base/text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/parcels/limits.hpp"

namespace merganser::capi {
namespace {

constexpr std::size_t kMaxParcels = std::size_t{1} << 31;  // on one rank

/// Checks that the strides of a C caller's parcel columns are 1 to 2^16. @throws UsageError
void check_strides(const mg_columns& c) {
  constexpr std::size_t kMax = std::size_t{1} << 16;
  check_range<std::size_t>(c.position_stride, 1, kMax, "columns: position_stride");
  for (std::size_t i = 0; i < c.attributes; ++i)
    check_range<std::size_t>(column_stride(c, i), 1, kMax, "columns: the stride of a column");
}

/// Throws InputError "parcel I: WHAT is VALUE; allowed: ALLOWED" for a bad number in a C caller's columns.
[[noreturn]] void throw_parcel(std::size_t i, const char* what, double value, const char* allowed) {
  throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + what + " is " + number_text(value) +
                            "; allowed: " + allowed);
}

/// Returns a coordinate or attribute from a C caller's columns. @throws InputError naming parcel i unless it is finite
double checked_finite(double value, std::size_t i, const char* what) {
  if (!std::isfinite(value)) throw_parcel(i, what, value, "finite numbers");
  return value;
}

/// Reads position and volume of parcel i from a C caller's columns. @param z  coordinate if there is no column z
/// @throws InputError naming the parcel for a coordinate that is not finite or a volume out of range
Site checked_site(const mg_columns& c, double z, std::size_t i) {
  const std::size_t at = i * c.position_stride;
  Site site{checked_finite(c.x[at], i, "x"), checked_finite(c.y[at], i, "y"),
            c.z != nullptr ? checked_finite(c.z[at], i, "z") : z, c.volume[i]};
  if (!is_volume(site.volume))
    throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + volume_error(site.volume));
  return site;
}

/// Checks that the parcel ids in a C caller's columns are distinct on this rank. Ascending ids, the usual case, need no hash
/// table. @throws InputError naming the parcel whose id stands twice
void check_ids(std::span<const std::int64_t> ids) {
  bool ascending = true;
  for (std::size_t i = 1; i < ids.size() && ascending; ++i) ascending = ids[i - 1] < ids[i];
  if (ascending) return;
  IdTable seen(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (seen.insert(static_cast<std::uint64_t>(ids[i])) != i)
      throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": id " + std::to_string(ids[i]) +
                                " stands twice; allowed: each id once");
}

}  // namespace

PointView to_point_view(const mg_points* given) {
  const auto record = read_record(given, "points");
  constexpr std::size_t kMaxStride = std::size_t{1} << 16;
  check_range<std::size_t>(record.count, 0, std::size_t{1} << 31, "points: count");
  check_range<std::size_t>(record.stride, 0, kMaxStride, "points: stride");
  return {record.x, record.y, record.z, std::max<std::size_t>(record.stride, 1), record.count};
}

// Check of the addresses and strides in which a C caller holds parcels; a stride of 0 stands for 1.
mg_columns checked_columns(const mg_columns* given, const Schema& schema, bool ids) {
  mg_columns c = read_record(given, "columns");
  check_range<std::size_t>(c.count, 0, kMaxParcels, "columns: count");
  if (c.position_stride == 0) c.position_stride = 1;
  if (c.attributes != num_columns(schema))
    throw UsageError("columns: " + std::to_string(c.attributes) + " of attributes; the schema has " +
                     std::to_string(num_columns(schema)));
  check_not_null(c.columns, c.attributes, "columns: columns");
  check_strides(c);
  check_not_null(c.x, c.count, "columns: x");
  check_not_null(c.y, c.count, "columns: y");
  check_not_null(c.volume, c.count, "columns: volume");
  if (ids) check_not_null(c.ids, c.count, "columns: ids");
  for (std::size_t i = 0; i < c.attributes; ++i) check_not_null(c.columns[i], c.count, "columns: the data of a column");
  return c;
}

// Parcels of a C caller's columns, copied into the container with a check of every value.
void copy_in(const mg_columns& c, double z, Parcels& parcels) {
  check_ids({c.ids, c.count});
  parcels.resize(c.count);
  const std::size_t width = parcels.schema().width();
  for (std::size_t i = 0; i < c.count; ++i) {
    parcels.site(i) = checked_site(c, z, i);
    double* const row = parcels.row(i);
    parcels.set_id(i, c.ids[i]);
    for (std::size_t a = 0; a < c.attributes; ++a)
      row[1 + a] = checked_finite(c.columns[a][i * column_stride(c, a)], i, "an attribute");
    // Rows may be wider than their attributes. Padding gets defined bits, since rows are copied and sent whole.
    for (std::size_t a = 1 + c.attributes; a < width; ++a) row[a] = 0;
    if (const std::string wrong = row_error(parcels.schema(), row, parcels.site(i).volume); !wrong.empty())
      throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + wrong);
  }
}

// Parcels of the container, copied to a C caller's columns, whose capacity has been checked.
void copy_out(const Parcels& parcels, const mg_columns& c) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& site = parcels.site(i);
    const std::size_t at = i * c.position_stride;
    c.x[at] = site.x;
    c.y[at] = site.y;
    if (c.z != nullptr) c.z[at] = site.z;
    c.volume[i] = site.volume;
    c.ids[i] = parcels.id(i);
    const double* const row = parcels.row(i);
    for (std::size_t a = 0; a < c.attributes; ++a) c.columns[a][i * column_stride(c, a)] = row[1 + a];
  }
}

}  // namespace merganser::capi
