#include "merganser/capi/detail/columns.hpp"

#include <cmath>

#include "merganser/base/id_table.hpp"
#include "merganser/base/indexed_text.hpp"
#include "merganser/base/text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/parcels/limits.hpp"

namespace merganser::capi {
namespace {

constexpr std::size_t kMaxParcels = std::size_t{1} << 31;  // of one rank

void check_strides(const mg_columns& c) {
  constexpr std::size_t kMax = std::size_t{1} << 16;
  within<std::size_t>(c.position_stride, 1, kMax, "columns: position_stride");
  for (std::size_t i = 0; i < c.attributes; ++i)
    within<std::size_t>(stride_of(c, i), 1, kMax, "columns: the stride of a column");
}

[[noreturn]] void throw_parcel(std::size_t i, const char* what, double value, const char* allowed) {
  throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + what + " is " + number_text(value) +
                            "; allowed: " + allowed);
}

double finite(double value, std::size_t i, const char* what) {
  if (!std::isfinite(value)) throw_parcel(i, what, value, "finite numbers");
  return value;
}

Site site_of(const mg_columns& c, double z, std::size_t i) {
  const std::size_t at = i * c.position_stride;
  Site site{finite(c.x[at], i, "x"), finite(c.y[at], i, "y"), c.z != nullptr ? finite(c.z[at], i, "z") : z,
            c.volume[i]};
  if (!is_volume(site.volume))
    throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + volume_error(site.volume));
  return site;
}

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

mg_columns checked_columns(const mg_columns* given, const Schema& schema, bool ids) {
  mg_columns c = read_record(given, "columns");
  within<std::size_t>(c.count, 0, kMaxParcels, "columns: count");
  if (c.position_stride == 0) c.position_stride = 1;
  if (c.attributes != columns_of(schema))
    throw UsageError("columns: " + std::to_string(c.attributes) + " of attributes; the schema has " +
                     std::to_string(columns_of(schema)));
  need(c.columns, c.attributes, "columns: columns");
  check_strides(c);
  need(c.x, c.count, "columns: x");
  need(c.y, c.count, "columns: y");
  need(c.volume, c.count, "columns: volume");
  if (ids) need(c.ids, c.count, "columns: ids");
  for (std::size_t i = 0; i < c.attributes; ++i) need(c.columns[i], c.count, "columns: the data of a column");
  return c;
}

void copy_in(const mg_columns& c, double z, Parcels& parcels) {
  check_ids({c.ids, c.count});
  parcels.resize(c.count);
  const std::size_t width = parcels.schema().width();
  for (std::size_t i = 0; i < c.count; ++i) {
    parcels.site(i) = site_of(c, z, i);
    double* const row = parcels.row(i);
    parcels.set_id(i, c.ids[i]);
    for (std::size_t a = 0; a < c.attributes; ++a)
      row[1 + a] = finite(c.columns[a][i * stride_of(c, a)], i, "an attribute");
    for (std::size_t a = 1 + c.attributes; a < width; ++a) row[a] = 0;
    if (const std::string wrong = row_error(parcels.schema(), row, parcels.site(i).volume); !wrong.empty())
      throw Indexed<InputError>(IndexedText("parcel ") + Index{i} + ": " + wrong);
  }
}

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
    for (std::size_t a = 0; a < c.attributes; ++a) c.columns[a][i * stride_of(c, a)] = row[1 + a];
  }
}

}  // namespace merganser::capi
