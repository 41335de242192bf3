#pragma once
/// What a search reads of the points of a rank, wherever they are kept.
#include <cstdint>

#include "merganser/base/indexed_text.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/links/links.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::nearest {

/// Thrown by CellList::bin() where a point is not where Box::wrap() would bring it, for points that are wrapped on demand.
struct Unwrapped {};

/// Positions, who looks for a neighbour, and ids: of parcels, or in arrays of a caller's. Reads them where they are, and
/// is valid as long as they are there.
class PointSet {
 public:
  /// Parcels, of which those with less than a volume are small.
  PointSet(const Parcels& parcels, double small_volume);
  /// Points, of which those with small[i] != 0 are small. `floor` is the z of points in two dimensions.
  /// @param ids  null: first_id, first_id + 1, ...
  PointSet(const PointView& points, const std::uint8_t* small, const std::int64_t* ids, std::int64_t first_id,
           double floor);

  /// Number of points.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Parcels with less than this volume are small.
  [[nodiscard]] double small_volume() const noexcept { return small_volume_; }
  /// Position of a point, and the volume of a parcel (a point has 1).
  [[nodiscard]] Site site(std::size_t i) const {
    if (sites_ != nullptr) return sites_[i];
    const std::size_t at = i * points_.stride;
    return {points_.x[at], points_.y[at], points_.z != nullptr ? points_.z[at] : floor_, 1};
  }
  /// Whether a point looks for a neighbour.
  [[nodiscard]] bool is_small(std::size_t i) const {
    return sites_ != nullptr ? sites_[i].volume < small_volume_ : small_[i] != 0;
  }
  /// The table of parcels; null for points of a caller's.
  [[nodiscard]] const Site* sites() const noexcept { return sites_; }
  /// The caller's points and mask; of no use for parcels.
  [[nodiscard]] const PointView& points() const noexcept { return points_; }
  /// See points().
  [[nodiscard]] const std::uint8_t* small() const noexcept { return small_; }
  /// Calls f(site_of) with a function from a position to its site that has no branches, for hot loops.
  template <class F>
  void visit(const F& f) const {
    if (sites_ != nullptr) {
      f([sites = sites_](std::size_t i) -> const Site& { return sites[i]; });
    } else if (points_.z != nullptr) {
      f([p = points_](std::size_t i) -> Site { return {p.x[i * p.stride], p.y[i * p.stride], p.z[i * p.stride], 1}; });
    } else {
      f([this](std::size_t i) { return site(i); });
    }
  }
  /// From now on bin() tells by Unwrapped if a point is outside of the box on a periodic axis, or on its upper face.
  void wrap_on_demand() noexcept { on_demand_ = true; }
  /// Whether it does.
  [[nodiscard]] bool wraps_on_demand() const noexcept { return on_demand_; }
  /// The same points of a caller's, with their mask and ids, elsewhere.
  [[nodiscard]] PointSet at(const PointView& points) const {
    PointSet moved = *this;
    moved.points_ = points;
    moved.on_demand_ = false;
    return moved;
  }
  /// Lets the site of a point come from memory ahead of time.
  void touch(std::size_t i) const {
    if (sites_ != nullptr) {
      __builtin_prefetch(sites_ + i);
      return;
    }
    __builtin_prefetch(points_.x + i * points_.stride);
    if (points_.stride == 1) __builtin_prefetch(points_.y + i);
    if (points_.z != nullptr) __builtin_prefetch(points_.z + i * points_.stride);
  }
  /// Ids by vertex, for an order of the points.
  [[nodiscard]] links::Ids ids(const std::uint32_t* order) const { return {id_base_, id_stride_, order, first_id_}; }
  /// Id of a point.
  [[nodiscard]] std::int64_t id(std::size_t i) const { return ids(nullptr)[static_cast<std::uint32_t>(i)]; }
  /// Words for errors: "parcel id 7", "point 3 (id 7)".
  [[nodiscard]] IndexedText text(std::size_t i) const;
  /// Words for an error: point i is not in the block lower .. upper of its rank, and what is allowed.
  [[nodiscard]] IndexedText outside_text(std::size_t i, const Vec3& lower, const Vec3& upper, const Box& box) const;

 private:
  std::size_t size_;
  double small_volume_ = 0;
  const Site* sites_ = nullptr;
  PointView points_;
  const std::uint8_t* small_ = nullptr;
  double floor_ = 0;
  const std::byte* id_base_;
  std::size_t id_stride_;
  std::int64_t first_id_ = 0;
  bool on_demand_ = false;
};

}  // namespace merganser::nearest
