#pragma once
/// The merge of one star for EPIC's schema (id, vorticity 3, buoyancy, B 5) as straight-line code: the same bits as the
/// general merge_star. Inline, so that a loop over clusters can be compiled around it.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::detail {

inline constexpr std::size_t kEpicMeans = 4;  ///< vorticity and buoyancy, from row[1]
inline constexpr std::size_t kEpicShape = 5;  ///< B11 in row[5]
inline constexpr std::size_t kEpicWidth = 10;

/// One coordinate of a merged parcel: centre + shift, brought into a periodic axis or clamped onto the walls.
inline double settle(const Box& box, int axis, double x) {
  if (box.periodic[axis]) return box.wrap(axis, x);
  return std::min(std::max(x, box.lower[axis]), box.lower[axis] + box.extent[axis]);
}

/// Box::displacement for all three axes without branches: a wall axis has no image, its limit is infinite.
struct Images {
  Box box;
  Vec3 half;  ///< half a period; infinite on a wall axis

  explicit Images(const Box& b) : box(b) {
    for (int a = 0; a < 3; ++a) half[a] = b.periodic[a] ? 0.5 * b.extent[a] : std::numeric_limits<double>::infinity();
  }
  [[nodiscard]] double along(int axis, double a, double b) const {
    const double d = a - b;
    const double below = d < -half[axis] ? d + box.extent[axis] : d;
    return d > half[axis] ? d - box.extent[axis] : below;
  }
  [[nodiscard]] Vec3 displacement(const Site& a, const Site& b) const {
    return {along(0, a.x, b.x), along(1, a.y, b.y), along(2, a.z, b.z)};
  }
};

/// Adds (V_i w) (B_i + 5 r r^T) to `sum`.
inline void add_moment(Shape& sum, double share, const double* b5, double volume, const Vec3& r) {
  const double r1 = 5 * r[0];
  const double r2 = 5 * r[1];
  const double r3 = 5 * r[2];
  sum.b11 += share * (b5[0] + r1 * r[0]);
  sum.b12 += share * (b5[1] + r1 * r[1]);
  sum.b13 += share * (b5[2] + r1 * r[2]);
  sum.b22 += share * (b5[3] + r2 * r[1]);
  sum.b23 += share * (b5[4] + r2 * r[2]);
  sum.b33 += share * (b33(b5, volume) + r3 * r[2]);
}

/// Rescales the summed second moment to the volume and stores its five entries.
inline void store_shape(const Shape& sum, double volume, double* b5) {
  const double abc = semi_axes_product(volume);
  const double f = cube_root(abc * abc / det3(sum));
  b5[0] = f * sum.b11;
  b5[1] = f * sum.b12;
  b5[2] = f * sum.b13;
  b5[3] = f * sum.b22;
  b5[4] = f * sum.b23;
}

/// Merges `sources` >= 1 sources into the centre in place. source_site(i), source_row(i): the i-th source in ascending
/// id. The centre's volume becomes the sum.
inline void merge_epic(const Images& images, Site& centre_site, double* row, std::size_t sources,
                       const auto& source_site, const auto& source_row) {
  const Site centre = centre_site;
  const Site& s1 = source_site(0);
  const double* row1 = source_row(0);
  const Vec3 d1 = images.displacement(s1, centre);
  double volume = centre.volume + s1.volume;
  double mean[kEpicMeans];
  for (std::size_t c = 0; c < kEpicMeans; ++c) mean[c] = centre.volume * row[1 + c] + s1.volume * row1[1 + c];
  Vec3 shift{s1.volume * d1[0], s1.volume * d1[1], s1.volume * d1[2]};
  for (std::size_t i = 1; i < sources; ++i) {
    const Site& s = source_site(i);
    const double* from = source_row(i);
    const Vec3 d = images.displacement(s, centre);
    volume += s.volume;
    for (int a = 0; a < 3; ++a) shift[a] += s.volume * d[a];
    for (std::size_t c = 0; c < kEpicMeans; ++c) mean[c] += s.volume * from[1 + c];
  }
  const double w = 1 / volume;
  for (double& x : shift) x *= w;

  Shape sum{0, 0, 0, 0, 0, 0};
  add_moment(sum, centre.volume * w, row + kEpicShape, centre.volume, {-shift[0], -shift[1], -shift[2]});
  add_moment(sum, s1.volume * w, row1 + kEpicShape, s1.volume, {d1[0] - shift[0], d1[1] - shift[1], d1[2] - shift[2]});
  for (std::size_t i = 1; i < sources; ++i) {
    const Site& s = source_site(i);
    const Vec3 d = images.displacement(s, centre);
    add_moment(sum, s.volume * w, source_row(i) + kEpicShape, s.volume,
               {d[0] - shift[0], d[1] - shift[1], d[2] - shift[2]});
  }

  centre_site = {settle(images.box, 0, centre.x + shift[0]), settle(images.box, 1, centre.y + shift[1]),
                 settle(images.box, 2, centre.z + shift[2]), volume};
  for (std::size_t c = 0; c < kEpicMeans; ++c) row[1 + c] = mean[c] * w;
  store_shape(sum, volume, row + kEpicShape);
}

}  // namespace merganser::detail
