#pragma once
/// Merge of one star of EPIC's schema (id, vorticity 3, buoyancy, B 5) as straight-line code: the same bits as the
/// general merge_star(). Inline, so that a loop over stars can be compiled around it.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::detail {

inline constexpr std::size_t kEpicMeans = 4;   ///< averaged numbers of EPIC's schema (vorticity, buoyancy), from row[1]
inline constexpr std::size_t kEpicShape = 5;   ///< offset of B11 in a payload row of EPIC's schema
inline constexpr std::size_t kEpicWidth = 10;  ///< doubles of a payload row of EPIC's schema, the id included

/// Returns one coordinate of a merged parcel, wrapped on a periodic axis, else clamped onto the walls.
inline double wrap_or_clamp(const Box& box, int axis, double x) {
  if (box.periodic[axis]) return box.wrap(axis, x);
  return std::min(std::max(x, box.lower[axis]), box.lower[axis] + box.extent[axis]);
}

/// Branch-free form of Box::displacement for all three axes: a wall axis has no image, its limit is infinite.
struct Images {
  Box box;    ///< domain of the parcels
  Vec3 half;  ///< half a period; infinite on a wall axis

  /// Computes half the period of each axis of the domain.
  explicit Images(const Box& b) : box(b) {
    for (int a = 0; a < 3; ++a) half[a] = b.periodic[a] ? 0.5 * b.extent[a] : std::numeric_limits<double>::infinity();
  }
  /// Returns the displacement a - b of two coordinates on one axis, to the nearest periodic image. Same bits as Box::displacement.
  [[nodiscard]] double along(int axis, double a, double b) const {
    const double d = a - b;
    const double below = d < -half[axis] ? d + box.extent[axis] : d;
    return d > half[axis] ? d - box.extent[axis] : below;
  }
  /// Returns the displacement of parcel a from parcel b, to the nearest periodic image on each axis.
  [[nodiscard]] Vec3 displacement(const Site& a, const Site& b) const {
    return {along(0, a.x, b.x), along(1, a.y, b.y), along(2, a.z, b.z)};
  }
};

/// Member of a star for the merge of shapes: its site and its five entries B11 B12 B13 B22 B23.
struct ShapeMember {
  Site site;         ///< position and volume of the member
  const double* b5;  ///< B11 B12 B13 B22 B23 of its ellipsoid
};

/// Computes the shape of a star's merged parcel in extended precision: accurate to 1e-15 whatever cancels, and the same
/// bits everywhere. @param members  centre first. @return false, and b5 is not written, if some member is no ellipsoid
bool wide_shape(const Images& images, std::span<const ShapeMember> members, double* b5);

/// Sources of a star beyond which the roundings of its sums are too many for kMaxCancellation.
inline constexpr std::size_t kMaxPlainSources = 64;
/// Bound of the squared ratio to the spread of the parcels that two lengths may have along an axis, for their rounding not
/// to matter: the distance in coordinates of a displacement across a periodic edge, and the shift of the centre, which is
/// subtracted from displacements and leaves nothing but rounding of a source a million times heavier than the rest.
inline constexpr double kMaxSpreadSquared = 0x1p18;
/// Bounds between which determinants of summed second moments have neither overflowed nor lost digits to underflow.
inline constexpr double kMinDeterminant = 0x1p-900;
inline constexpr double kMaxDeterminant = 0x1p900;

/// Accumulator of the second moment of a star of parcels, with the test whether double precision suffices for it.
struct ShapeSum {
  Shape s{0, 0, 0, 0, 0, 0};  ///< sum of (V_i w) (B_i + 5 r r^T)
  Vec3 far{0, 0, 0};          ///< greatest distance in coordinates from the centre
  bool plain = true;          ///< whether the minors of all members so far have kept their digits

  /// Updates the greatest distance in coordinates, axis by axis, of a source from the centre of the star, image or not.
  void add_distance(const Site& a, const Site& b) {
    far = {std::max(far[0], std::fabs(a.x - b.x)), std::max(far[1], std::fabs(a.y - b.y)),
           std::max(far[2], std::fabs(a.z - b.z))};
  }
  /// Adds the term (V_i w) (B_i + 5 r r^T) of one member of the star to the second moment. @param share  V_i w
  void add(double share, const double* b5, double volume, const Vec3& r) {
    const double r1 = 5 * r[0];
    const double r2 = 5 * r[1];
    const double r3 = 5 * r[2];
    const double minor = minor33(b5[0], b5[1], b5[3]);
    plain = plain && b5[0] * b5[3] <= kMaxCancellation * minor;
    s.b11 += share * (b5[0] + r1 * r[0]);
    s.b12 += share * (b5[1] + r1 * r[1]);
    s.b13 += share * (b5[2] + r1 * r[2]);
    s.b22 += share * (b5[3] + r2 * r[1]);
    s.b23 += share * (b5[4] + r2 * r[2]);
    s.b33 += share * (b33_plain(b5, volume, minor) + r3 * r[2]);
  }
  /// Returns whether the entries and the determinant `det` of the sum have kept their digits, so that double precision
  /// suffices for the shape. @param shift  from the centre to the merged position
  [[nodiscard]] bool is_plain(const Images& images, const Vec3& shift, double det) const {
    const double bound = s.b11 * s.b22 * s.b33;
    const auto is_near = [&](int axis, double spread) {
      const double limit = kMaxSpreadSquared * spread;
      return (far[axis] <= images.half[axis] || far[axis] * far[axis] <= limit) && shift[axis] * shift[axis] <= limit;
    };
    return plain && bound <= kMaxCancellation * det && bound >= kMinDeterminant && bound <= kMaxDeterminant &&
           is_near(0, s.b11) && is_near(1, s.b22) && is_near(2, s.b33);
  }
};

/// Rescales the summed second moment of a star to the volume of the merged parcel and stores its five entries.
/// @param shift    from the centre to the merged position
/// @param members  function that returns the star's members, centre first; called only where double precision does not
/// suffice
inline void store_shape(const Images& images, const ShapeSum& sum, const Vec3& shift, std::size_t sources,
                        double volume, double* b5, const auto& members) {
  const double abc = semi_axes_product(volume);
  const double det = det3(sum.s);
  if (!sum.is_plain(images, shift, det) || sources > kMaxPlainSources) [[unlikely]]
    if (wide_shape(images, members(), b5)) return;
  const double f = cube_root(abc * abc / det);
  b5[0] = f * sum.s.b11;
  b5[1] = f * sum.s.b12;
  b5[2] = f * sum.s.b13;
  b5[3] = f * sum.s.b22;
  b5[4] = f * sum.s.b23;
}

/// Merges the `sources` >= 1 sources of a star of EPIC's schema into the centre in place. source_site(i) and source_row(i) return
/// the i-th source in ascending id. The centre's volume becomes the sum.
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

  ShapeSum sum;
  sum.add(centre.volume * w, row + kEpicShape, centre.volume, {-shift[0], -shift[1], -shift[2]});
  for (std::size_t i = 0; i < sources; ++i) {
    const Site& s = source_site(i);
    const Vec3 d = images.displacement(s, centre);
    sum.add_distance(s, centre);
    sum.add(s.volume * w, source_row(i) + kEpicShape, s.volume, {d[0] - shift[0], d[1] - shift[1], d[2] - shift[2]});
  }

  centre_site = {wrap_or_clamp(images.box, 0, centre.x + shift[0]), wrap_or_clamp(images.box, 1, centre.y + shift[1]),
                 wrap_or_clamp(images.box, 2, centre.z + shift[2]), volume};
  for (std::size_t c = 0; c < kEpicMeans; ++c) row[1 + c] = mean[c] * w;
  const auto members = [&] {
    std::vector<ShapeMember> out{{centre, row + kEpicShape}};
    for (std::size_t i = 0; i < sources; ++i) out.push_back({source_site(i), source_row(i) + kEpicShape});
    return out;
  };
  store_shape(images, sum, shift, sources, volume, row + kEpicShape, members);
}

}  // namespace merganser::detail
