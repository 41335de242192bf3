// Vectorised merge of stars of EPIC's schema, one star per lane. Compiled once per vector target by Highway; the end of
// the file has the dispatch. The order of operations is that of detail/merge_epic.hpp, and nothing is fused, so that
// the bits are the same. Vectors of SVE have no size: they are neither members nor elements of arrays here, and values
// that outlive a block are stored to memory.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/parcels/merge_batch.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstring>
#include <numbers>

#include "merganser/base/detail/highway.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "merganser/parcels/merge_batch.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, EpicMergeBatch::kLanes>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

constexpr std::size_t kLanes = EpicMergeBatch::kLanes;
/// One number for each lane of a batch, that is for each star.
using LaneValues = double[kLanes];

/// Returns, for the star of every lane, the part of det B that does not contain B33 (detail::rest33()).
HWY_INLINE V rest33(V m11, V m12, V m13, V m22, V m23) {
  const D d;
  const V inner = hn::Sub(hn::Mul(m11, m23), hn::Mul(hn::Set(d, 2.0), hn::Mul(m12, m13)));
  return hn::Add(hn::Mul(m23, inner), hn::Mul(m13, hn::Mul(m13, m22)));
}
/// Returns, for the star of every lane, the product of the semi-axes of an ellipsoid (detail::semi_axes_product()).
HWY_INLINE V semi_axes_product(V volume) { return hn::Mul(volume, hn::Set(D(), 0.75 / std::numbers::pi)); }

/// Adds the term (V_i w) (B_i + 5 r r^T) of one member to the second moments of the stars of all lanes, m being its fields. @return
/// whether the member's minor has kept its digits
HWY_INLINE M add_moment(V& s11, V& s12, V& s13, V& s22, V& s23, V& s33, std::size_t at, V share, const LaneValues* m,
                        V volume, V x, V y, V z) {
  const D d;
  const V m11 = hn::Load(d, m[8] + at);
  const V m12 = hn::Load(d, m[9] + at);
  const V m13 = hn::Load(d, m[10] + at);
  const V m22 = hn::Load(d, m[11] + at);
  const V m23 = hn::Load(d, m[12] + at);
  const V product = hn::Mul(m11, m22);
  const V minor = hn::Sub(product, hn::Mul(m12, m12));
  const V abc = semi_axes_product(volume);
  const V m33 = hn::Div(hn::Add(hn::Mul(abc, abc), rest33(m11, m12, m13, m22, m23)), minor);
  const V five = hn::Set(d, 5.0);
  const V x5 = hn::Mul(five, x);
  const V y5 = hn::Mul(five, y);
  const V z5 = hn::Mul(five, z);
  s11 = hn::Add(s11, hn::Mul(share, hn::Add(m11, hn::Mul(x5, x))));
  s12 = hn::Add(s12, hn::Mul(share, hn::Add(m12, hn::Mul(x5, y))));
  s13 = hn::Add(s13, hn::Mul(share, hn::Add(m13, hn::Mul(x5, z))));
  s22 = hn::Add(s22, hn::Mul(share, hn::Add(m22, hn::Mul(y5, y))));
  s23 = hn::Add(s23, hn::Mul(share, hn::Add(m23, hn::Mul(y5, z))));
  s33 = hn::Add(s33, hn::Mul(share, hn::Add(m33, hn::Mul(z5, z))));
  return hn::Le(product, hn::Mul(hn::Set(d, detail::kMaxCancellation), minor));
}

/// Returns, for every lane, the displacement a - b of two parcels on one axis, as Images::along does; accumulates the greatest
/// distance in coordinates in `far`.
HWY_INLINE V displacement(const detail::Images& images, int axis, V a, V b, double* far) {
  const D d;
  const V half = hn::Set(d, images.half[axis]);
  const V extent = hn::Set(d, images.box.extent[axis]);
  const V plain = hn::Sub(a, b);
  hn::Store(hn::Max(hn::Load(d, far), hn::Abs(plain)), d, far);
  const V below = hn::IfThenElse(hn::Lt(plain, hn::Neg(half)), hn::Add(plain, extent), plain);
  return hn::IfThenElse(hn::Gt(plain, half), hn::Sub(plain, extent), below);
}

/// Returns, for every lane, whether displacements of a star's members along an axis have kept their digits across its edge and less
/// the shift of the centre, as ShapeSum::is_plain does.
HWY_INLINE M is_near(const detail::Images& images, int axis, const double* far, V shift, V spread) {
  const D d;
  const V reach = hn::Load(d, far);
  const V limit = hn::Mul(hn::Set(d, detail::kMaxSpreadSquared), spread);
  return hn::And(hn::Or(hn::Le(reach, hn::Set(d, images.half[axis])), hn::Le(hn::Mul(reach, reach), limit)),
                 hn::Le(hn::Mul(shift, shift), limit));
}

/// Returns cube_root() of lanes in its first range, from the given first guess.
HWY_INLINE V cube_root_from(V x, V y) {
  const D d;
  const auto& p = detail::kCubeRoot;
  const V one = hn::Set(d, 1.0);
  const V inverse = hn::Div(one, x);
  const V e = hn::Sub(hn::Mul(hn::Mul(hn::Mul(y, y), y), inverse), one);
  const V e2 = hn::Mul(e, e);
  const V low = hn::Add(hn::Sub(hn::Set(d, p[0]), hn::Mul(hn::Set(d, p[1]), e)),
                        hn::Mul(hn::Sub(hn::Set(d, p[2]), hn::Mul(hn::Set(d, p[3]), e)), e2));
  const V high = hn::Add(hn::Sub(hn::Set(d, p[4]), hn::Mul(hn::Set(d, p[5]), e)), hn::Mul(hn::Set(d, p[6]), e2));
  const V z = hn::Mul(y, hn::Add(low, hn::Mul(high, hn::Mul(e2, e2))));
  return hn::Sub(z, hn::Mul(hn::Sub(hn::Mul(hn::Mul(z, z), z), x), hn::Mul(z, hn::Mul(inverse, hn::Set(d, 1.0 / 3)))));
}

/// Intermediate results of the merge of a batch of stars, by lane.
struct LaneResults {
  /// Displacements of the sources from the centre: x y z, x y z
  alignas(64) LaneValues d[3 * EpicMergeBatch::kMaxSources];
  alignas(64) LaneValues far[3];  ///< greatest distance in coordinates of a source from the centre, by axis
  alignas(64) LaneValues out[EpicMergeBatch::kFields];  ///< fields of the merged parcels
  alignas(64) LaneValues ratio;                         ///< abc^2 / det
  alignas(64) LaneValues guess;                         ///< cube root of it: first guess, or the root itself
  alignas(64) LaneValues plain;                         ///< 1 where double precision suffices for the shape, else 0
};

/// Computes volumes, means and shifts of the merged parcels of the lanes from `at` on.
HWY_INLINE void merge_sites(const EpicMergeBatch::Lot& lot, std::size_t sources, const detail::Images& images,
                            std::size_t at, LaneResults& work) {
  const D d;
  const auto& m = lot.member;
  const V cx = hn::Load(d, m[0][0] + at);
  const V cy = hn::Load(d, m[0][1] + at);
  const V cz = hn::Load(d, m[0][2] + at);
  const V cv = hn::Load(d, m[0][3] + at);
  V volume = cv;
  V sx = hn::Zero(d);
  V sy = sx;
  V sz = sx;
  for (LaneValues& far : work.far) hn::Store(hn::Zero(d), d, far + at);
  for (std::size_t i = 1; i <= sources; ++i) {
    const V v = hn::Load(d, m[i][3] + at);
    const V dx = displacement(images, 0, hn::Load(d, m[i][0] + at), cx, work.far[0] + at);
    const V dy = displacement(images, 1, hn::Load(d, m[i][1] + at), cy, work.far[1] + at);
    const V dz = displacement(images, 2, hn::Load(d, m[i][2] + at), cz, work.far[2] + at);
    LaneValues* const kept = work.d + 3 * (i - 1);
    hn::Store(dx, d, kept[0] + at);
    hn::Store(dy, d, kept[1] + at);
    hn::Store(dz, d, kept[2] + at);
    volume = hn::Add(volume, v);
    if (i == 1) {  // not 0 + v d, which would lose the sign of a zero
      sx = hn::Mul(v, dx);
      sy = hn::Mul(v, dy);
      sz = hn::Mul(v, dz);
    } else {
      sx = hn::Add(sx, hn::Mul(v, dx));
      sy = hn::Add(sy, hn::Mul(v, dy));
      sz = hn::Add(sz, hn::Mul(v, dz));
    }
  }
  const V w = hn::Div(hn::Set(d, 1.0), volume);
  hn::Store(hn::Mul(sx, w), d, work.out[0] + at);  // the shift, for now
  hn::Store(hn::Mul(sy, w), d, work.out[1] + at);
  hn::Store(hn::Mul(sz, w), d, work.out[2] + at);
  hn::Store(volume, d, work.out[3] + at);
  for (std::size_t c = 4; c < 4 + detail::kEpicMeans; ++c) {
    V mean = hn::Mul(cv, hn::Load(d, m[0][c] + at));
    for (std::size_t i = 1; i <= sources; ++i)
      mean = hn::Add(mean, hn::Mul(hn::Load(d, m[i][3] + at), hn::Load(d, m[i][c] + at)));
    hn::Store(hn::Mul(mean, w), d, work.out[c] + at);
  }
}

/// Computes shapes and positions of the merged parcels of the lanes from `at` on. After merge_sites().
HWY_INLINE void merge_shapes(const EpicMergeBatch::Lot& lot, std::size_t sources, const detail::Images& images,
                             std::size_t at, LaneResults& work) {
  const D d;
  const auto& m = lot.member;
  const V sx = hn::Load(d, work.out[0] + at);
  const V sy = hn::Load(d, work.out[1] + at);
  const V sz = hn::Load(d, work.out[2] + at);
  const V cv = hn::Load(d, m[0][3] + at);
  const V volume = hn::Load(d, work.out[3] + at);
  const V w = hn::Div(hn::Set(d, 1.0), volume);
  V s11 = hn::Zero(d);
  V s12 = s11;
  V s13 = s11;
  V s22 = s11;
  V s23 = s11;
  V s33 = s11;
  M plain =
      add_moment(s11, s12, s13, s22, s23, s33, at, hn::Mul(cv, w), m[0], cv, hn::Neg(sx), hn::Neg(sy), hn::Neg(sz));
  for (std::size_t i = 1; i <= sources; ++i) {
    const V v = hn::Load(d, m[i][3] + at);
    const LaneValues* const kept = work.d + 3 * (i - 1);
    plain = hn::And(plain, add_moment(s11, s12, s13, s22, s23, s33, at, hn::Mul(v, w), m[i], v,
                                      hn::Sub(hn::Load(d, kept[0] + at), sx), hn::Sub(hn::Load(d, kept[1] + at), sy),
                                      hn::Sub(hn::Load(d, kept[2] + at), sz)));
  }
  hn::Store(hn::Add(hn::Load(d, m[0][0] + at), sx), d, work.out[0] + at);
  hn::Store(hn::Add(hn::Load(d, m[0][1] + at), sy), d, work.out[1] + at);
  hn::Store(hn::Add(hn::Load(d, m[0][2] + at), sz), d, work.out[2] + at);
  const V abc = semi_axes_product(volume);
  const V product = hn::Mul(s11, s22);
  const V det = hn::Sub(hn::Mul(s33, hn::Sub(product, hn::Mul(s12, s12))), rest33(s11, s12, s13, s22, s23));
  const V bound = hn::Mul(product, s33);
  plain = hn::And(plain, hn::Le(bound, hn::Mul(hn::Set(d, detail::kMaxCancellation), det)));
  plain = hn::And(plain, hn::And(hn::Ge(bound, hn::Set(d, detail::kMinDeterminant)),
                                 hn::Le(bound, hn::Set(d, detail::kMaxDeterminant))));
  plain = hn::And(plain, hn::And(is_near(images, 0, work.far[0] + at, sx, s11),
                                 hn::And(is_near(images, 1, work.far[1] + at, sy, s22),
                                         is_near(images, 2, work.far[2] + at, sz, s33))));
  hn::Store(hn::IfThenElseZero(plain, hn::Set(d, 1.0)), d, work.plain + at);
  const V q = hn::Div(hn::Mul(abc, abc), det);
  hn::Store(q, d, work.ratio + at);
  for (std::size_t lane = at; lane < at + hn::Lanes(d); ++lane)
    work.guess[lane] = detail::cube_root_guess(work.ratio[lane]);
  V root = cube_root_from(q, hn::Load(d, work.guess + at));
  const M ordinary = hn::And(hn::Ge(q, hn::Set(d, 0x1p-960)), hn::Le(q, hn::Set(d, 0x1p960)));
  if (!hn::AllTrue(d, ordinary)) {
    for (std::size_t lane = at; lane < at + hn::Lanes(d); ++lane) work.guess[lane] = cube_root(work.ratio[lane]);
    root = hn::Load(d, work.guess + at);
  }
  hn::Store(hn::Mul(root, s11), d, work.out[8] + at);
  hn::Store(hn::Mul(root, s12), d, work.out[9] + at);
  hn::Store(hn::Mul(root, s13), d, work.out[10] + at);
  hn::Store(hn::Mul(root, s22), d, work.out[11] + at);
  hn::Store(hn::Mul(root, s23), d, work.out[12] + at);
}

/// Recomputes the shape of the merged parcel of one star (a lane) in extended precision, where double precision does not suffice.
HWY_NOINLINE void recompute_shape(const EpicMergeBatch::Lot& lot, std::size_t sources, const detail::Images& images,
                                  std::size_t lane, LaneResults& work) {
  double b5[EpicMergeBatch::kMaxSources + 1][detail::kEpicShape];
  detail::ShapeMember members[EpicMergeBatch::kMaxSources + 1];
  for (std::size_t i = 0; i <= sources; ++i) {
    const LaneValues* const m = lot.member[i];
    for (std::size_t k = 0; k < detail::kEpicShape; ++k) b5[i][k] = m[8 + k][lane];
    members[i] = {{m[0][lane], m[1][lane], m[2][lane], m[3][lane]}, b5[i]};
  }
  double out[detail::kEpicShape];
  if (!detail::wide_shape(images, {members, sources + 1}, out)) return;
  for (std::size_t k = 0; k < detail::kEpicShape; ++k) work.out[8 + k][lane] = out[k];
}

/// Returns whether the merged positions of the lanes from `at` on are inside the box, so that neither wrapping nor clamping would
/// move them.
HWY_INLINE bool are_inside(const Box& box, std::size_t at, const LaneResults& work) {
  const D d;
  M inside = hn::FirstN(d, hn::Lanes(d));
  for (int a = 0; a < 3; ++a) {
    const V x = hn::Load(d, work.out[a] + at);
    inside = hn::And(inside,
                     hn::And(hn::Ge(x, hn::Set(d, box.lower[a])), hn::Lt(x, hn::Set(d, box.lower[a] + box.extent[a]))));
  }
  return hn::AllTrue(d, inside);
}

/// Writes the merged parcels of a batch whose positions are inside the box: fields are interleaved by vectors, then copied star by
/// star.
HWY_INLINE void write_inside(const EpicMergeBatch::Lot& lot, const LaneResults& work) {
  const D d;
  alignas(64) double site[4 * kLanes];
  alignas(64) double means[4 * kLanes];
  alignas(64) double shape[4 * kLanes];
  const auto& out = work.out;
  for (std::size_t at = 0; at < kLanes; at += hn::Lanes(d)) {
    const auto field = [&](std::size_t f) HWY_ATTR { return hn::Load(d, out[f] + at); };
    hn::StoreInterleaved4(field(0), field(1), field(2), field(3), d, site + 4 * at);
    hn::StoreInterleaved4(field(4), field(5), field(6), field(7), d, means + 4 * at);
    hn::StoreInterleaved4(field(8), field(9), field(10), field(11), d, shape + 4 * at);
  }
  static_assert(detail::kEpicMeans == 4 && detail::kEpicShape == 5 && EpicMergeBatch::kFields == 13);
  for (std::size_t lane = 0; lane < lot.count; ++lane) {
    double* const row = lot.row[lane];
    std::memcpy(&lot.site[lane]->x, site + 4 * lane, sizeof(Site));
    std::memcpy(row + 1, means + 4 * lane, 4 * sizeof(double));
    std::memcpy(row + 5, shape + 4 * lane, 4 * sizeof(double));
    row[9] = out[12][lane];
  }
}

/// Merges a batch of stars of EPIC's schema, writes the merged parcels to their sites and rows, and empties the batch. Lanes
/// without a star hold old members, whose results are not written.
void MergeLot(EpicMergeBatch::Lot& lot, std::size_t sources, const Box& box) {
  const D d;
  const detail::Images images(box);
  LaneResults work;
  bool inside = true;
  for (std::size_t at = 0; at < kLanes; at += hn::Lanes(d)) {
    merge_sites(lot, sources, images, at, work);
    merge_shapes(lot, sources, images, at, work);
    inside = are_inside(box, at, work) && inside;
  }
  // Cancellation in double precision: the shapes of these stars are evaluated with a wider mantissa.
  for (std::size_t lane = 0; lane < lot.count; ++lane)
    if (work.plain[lane] == 0) [[unlikely]]
      recompute_shape(lot, sources, images, lane, work);
  if (inside) {
    write_inside(lot, work);
  } else {
    for (std::size_t lane = 0; lane < lot.count; ++lane) {
      *lot.site[lane] = {detail::wrap_or_clamp(box, 0, work.out[0][lane]),
                         detail::wrap_or_clamp(box, 1, work.out[1][lane]),
                         detail::wrap_or_clamp(box, 2, work.out[2][lane]), work.out[3][lane]};
      for (std::size_t f = 4; f < EpicMergeBatch::kFields; ++f) lot.row[lane][f - 3] = work.out[f][lane];
    }
  }
  lot.count = 0;
}

}  // namespace merganser::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser {

HWY_EXPORT(MergeLot);

void EpicMergeBatch::merge(Lot& lot, std::size_t sources) { MERGANSER_DISPATCH(MergeLot)(lot, sources, box_); }

}  // namespace merganser
#endif
