#pragma once
/// Read-only view of the points of a rank for the nearest-neighbour search: positions, small or not, ids. Copies
/// nothing.
#include <cstdint>

#include "merganser/base/indexed_text.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/links/links.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::nearest {

/// Exception of CellList::bin() for points that are wrapped on demand: some point is not where Box::wrap() would bring
/// it.
struct Unwrapped {};

/// View of the points of a nearest-neighbour search: of a container of parcels, or of a caller's arrays. Valid as long as the
/// memory that it refers to.
class PointSet {
 public:
  /// Views the parcels of a container; those with a volume below `small_volume` are small.
  PointSet(const Parcels& parcels, double small_volume);
  /// Views the points of a caller's arrays; those with small[i] != 0 are small, which means that a neighbour is
  /// searched for them.
  /// @param ids  null: first_id, first_id + 1, ...
  /// @param floor  z of points in two dimensions
  PointSet(const PointView& points, const std::uint8_t* small, const std::int64_t* ids, std::int64_t first_id,
           double floor);

  /// Returns the number of points of this rank to search.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the volume below which parcels are small; 0 for points of a caller's arrays.
  [[nodiscard]] double small_volume() const noexcept { return small_volume_; }
  /// Returns the position of point i, and the volume of a parcel (1 for a point of a caller's arrays).
  [[nodiscard]] Site site(std::size_t i) const {
    if (sites_ != nullptr) return sites_[i];
    const std::size_t at = i * points_.stride;
    return {points_.x[at], points_.y[at], points_.z != nullptr ? points_.z[at] : floor_, 1};
  }
  /// Returns whether point i is small (its volume is below the threshold, or its mark is set), so that its nearest neighbour is searched.
  [[nodiscard]] bool is_small(std::size_t i) const {
    return sites_ != nullptr ? sites_[i].volume < small_volume_ : small_[i] != 0;
  }
  /// Returns the table of sites of the parcels; null for points of a caller's arrays.
  [[nodiscard]] const Site* sites() const noexcept { return sites_; }
  /// Returns the positions in the caller's arrays; empty for parcels of a container.
  [[nodiscard]] const PointView& points() const noexcept { return points_; }
  /// Returns the caller's mask of small points, one byte per point; null for parcels.
  [[nodiscard]] const std::uint8_t* small() const noexcept { return small_; }
  /// Calls f(site_of) with a function from a position to its site that is specialised for the storage and has no
  /// branches, for hot loops.
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
  /// Makes CellList::bin() throw Unwrapped if a point is outside of the box on a periodic axis, or on its upper face.
  void wrap_on_demand() noexcept { on_demand_ = true; }
  /// Returns whether CellList::bin() throws Unwrapped for such points, after wrap_on_demand().
  [[nodiscard]] bool wraps_on_demand() const noexcept { return on_demand_; }
  /// Returns a view of the same points at the given positions, with their mask and ids, not wrapped on demand.
  [[nodiscard]] PointSet relocated(const PointView& points) const {
    PointSet moved = *this;
    moved.points_ = points;
    moved.on_demand_ = false;
    return moved;
  }
  /// Returns a view of the same parcels whose sites are read from a copy of their table.
  [[nodiscard]] PointSet with_sites(const Site* copy) const {
    PointSet other = *this;
    other.sites_ = copy;
    return other;
  }
  /// Prefetches the memory of the position of point i; sites only to the second cache, where more of them can be under way.
  /// Always inline: GCC takes a function that only prefetches for one without effect, and drops its calls.
  [[gnu::always_inline]] void prefetch(std::size_t i) const {
    if (sites_ != nullptr) {
      __builtin_prefetch(sites_ + i, 0, 2);
      return;
    }
    __builtin_prefetch(points_.x + i * points_.stride);
    if (points_.stride == 1) __builtin_prefetch(points_.y + i);
    if (points_.z != nullptr) __builtin_prefetch(points_.z + i * points_.stride);
  }
  /// Returns the ids by vertex, for an order of the points (vertex -> point); null: ids by point.
  [[nodiscard]] links::Ids ids(const std::uint32_t* order) const { return {id_base_, id_stride_, order, first_id_}; }
  /// Returns the global id of point i.
  [[nodiscard]] std::int64_t id(std::size_t i) const { return ids(nullptr)[static_cast<std::uint32_t>(i)]; }
  /// Returns the name of point i for error messages: "parcel id 7", "point 3 (id 7)".
  [[nodiscard]] IndexedText describe(std::size_t i) const;
  /// Returns the message of the error that point i is not in the block lower .. upper of its rank, with what is
  /// allowed.
  [[nodiscard]] IndexedText describe_outside(std::size_t i, const Vec3& lower, const Vec3& upper, const Box& box) const;

 private:
  std::size_t size_;                     // number of points of the search
  double small_volume_ = 0;              // volume below which parcels are small
  const Site* sites_ = nullptr;          // of parcels; null: the points are in arrays of the caller
  PointView points_;                     // positions in arrays of the caller
  const std::uint8_t* small_ = nullptr;  // by point of the caller: not 0 if it is small
  double floor_ = 0;                     // z of points in two dimensions
  const std::byte* id_base_;             // first id; null: ids are consecutive from first_id_
  std::size_t id_stride_;                // bytes from the id of a point to the next
  std::int64_t first_id_ = 0;            // id of point 0 where ids are consecutive
  bool on_demand_ = false;               // bin() throws Unwrapped for points that wrapping would move
};

}  // namespace merganser::nearest
