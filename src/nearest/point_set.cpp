// View of the points of a nearest-neighbour search: its sources, and names of points in error messages.
#include "merganser/nearest/point_set.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/geometry/box_checks.hpp"

namespace merganser::nearest {

// Views the parcels of a container as points of a search: small by volume, ids from the payload rows.
PointSet::PointSet(const Parcels& parcels, double small_volume)
    : size_(parcels.size()),
      small_volume_(small_volume),
      sites_(parcels.sites()),
      id_base_(reinterpret_cast<const std::byte*>(parcels.rows())),
      id_stride_(parcels.schema().width() * sizeof(double)) {}

// Views the points in a caller's arrays as points of a search: small by a mask, ids given or consecutive.
PointSet::PointSet(const PointView& points, const std::uint8_t* small, const std::int64_t* ids, std::int64_t first_id,
                   double floor)
    : size_(points.size),
      points_(points),
      small_(small),
      floor_(floor),
      id_base_(reinterpret_cast<const std::byte*>(ids)),
      id_stride_(sizeof(std::int64_t)),
      first_id_(first_id) {}

// Returns the name of a point of the search in messages: parcels by id, points of a caller's by index.
IndexedText PointSet::describe(std::size_t i) const {
  if (small_ == nullptr) return IndexedText("parcel id " + std::to_string(id(i)));
  return IndexedText("point ") + Index{i} + (id_base_ != nullptr ? " (id " + std::to_string(id(i)) + ")" : "");
}

// Returns the error of binning for a point that is not in its rank's block, with the advice that fits its origin.
IndexedText PointSet::describe_outside(std::size_t i, const Vec3& lower, const Vec3& upper, const Box& box) const {
  const Site s = site(i);
  const Vec3 p{s.x, s.y, s.z};
  const IndexedText where = describe(i) + " at " + point_text(p);
  if (!std::all_of(p.begin(), p.end(), [](double x) { return std::isfinite(x); }))
    return where + "; allowed: finite numbers";
  const std::string block = ", " + point_text(lower) + " to " + point_text(upper);
  if (small_ == nullptr)
    return where + " is not inside its rank's block" + block +
           "; send parcels to their owners (redistribute, distribute) before a step";
  return where + " is outside of its rank's block" + block + " of the box " + box_text(box) +
         "; allowed: points in the block, once periodic axes are wrapped";
}

}  // namespace merganser::nearest
