#include "columns.hpp"

namespace merganser::io {

std::vector<Column> columns(const Schema& schema) {
  std::vector<Column> list{{"x_position", "m", "x position component", true, 0, true},
                           {"y_position", "m", "y position component", true, 1, true},
                           {"z_position", "m", "z position component", true, 2, true},
                           {"volume", "m^3", "parcel volume", true, 3, true}};
  std::size_t offset = 1;
  for (const Attribute& a : schema.attributes()) {
    const bool required = a.name != "vorticity" && a.name != "buoyancy";
    for (int c = 0; c < a.components; ++c, ++offset) {
      const auto index = static_cast<std::size_t>(c);
      std::string name = index < a.component_names.size() ? a.component_names[index] : a.name;
      if (index >= a.component_names.size() && a.components > 1) name += "_" + std::to_string(c);
      std::string long_name =
          a.rule == Rule::ellipsoid ? name + " element of shape matrix" : std::string("parcel ").append(name);
      list.push_back({std::move(name), a.unit, std::move(long_name), false, offset, required});
    }
  }
  return list;
}

namespace {

constexpr std::size_t kSiteWidth = sizeof(Site) / sizeof(double);

}  // namespace

void scatter(Parcels& parcels, const Column& column, std::size_t first, const double* values, std::size_t count) {
  const std::size_t stride = column.in_site ? kSiteWidth : parcels.schema().width();
  double* to = (column.in_site ? reinterpret_cast<double*>(parcels.sites()) : parcels.rows()) + column.offset;
  to += first * stride;
  for (std::size_t i = 0; i < count; ++i) to[i * stride] = values[i];
}

void gather(const Parcels& parcels, const Column& column, std::size_t first, double* values, std::size_t count) {
  const std::size_t stride = column.in_site ? kSiteWidth : parcels.schema().width();
  const double* from =
      (column.in_site ? reinterpret_cast<const double*>(parcels.sites()) : parcels.rows()) + column.offset;
  from += first * stride;
  for (std::size_t i = 0; i < count; ++i) values[i] = from[i * stride];
}

}  // namespace merganser::io
