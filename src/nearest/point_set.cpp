#include "merganser/nearest/point_set.hpp"

namespace merganser::nearest {

PointSet::PointSet(const Parcels& parcels, double small_volume)
    : size_(parcels.size()),
      small_volume_(small_volume),
      sites_(parcels.sites()),
      id_base_(reinterpret_cast<const std::byte*>(parcels.rows())),
      id_stride_(parcels.schema().width() * sizeof(double)) {}

PointSet::PointSet(const Points& points, const std::uint8_t* small, const std::int64_t* ids, std::int64_t first_id,
                   double floor)
    : size_(points.size),
      points_(points),
      small_(small),
      floor_(floor),
      id_base_(reinterpret_cast<const std::byte*>(ids)),
      id_stride_(sizeof(std::int64_t)),
      first_id_(first_id) {}

std::string PointSet::text(std::size_t i) const {
  if (small_ == nullptr) return "parcel id " + std::to_string(id(i));
  return "point " + std::to_string(i) + (id_base_ != nullptr ? " (id " + std::to_string(id(i)) + ")" : "");
}

}  // namespace merganser::nearest
