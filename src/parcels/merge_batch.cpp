// Compiled once per vector target by Highway; see the end of the file for the dispatch. The order of operations is that
// of detail/merge_epic.hpp, and nothing is fused.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/parcels/merge_batch.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <numbers>

#include "merganser/parcels/detail/merge_epic.hpp"
#include "merganser/parcels/merge_batch.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, EpicMergeBatch::kLanes>;
using V = hn::Vec<D>;

struct Vectors {
  V b11, b12, b13, b22, b23, b33;
};

HWY_INLINE V rest33(V b11, V b12, V b13, V b22, V b23) {
  const D d;
  const V inner = hn::Sub(hn::Mul(b11, b23), hn::Mul(hn::Set(d, 2.0), hn::Mul(b12, b13)));
  return hn::Add(hn::Mul(b23, inner), hn::Mul(b13, hn::Mul(b13, b22)));
}
HWY_INLINE V minor33(V b11, V b12, V b22) { return hn::Sub(hn::Mul(b11, b22), hn::Mul(b12, b12)); }
HWY_INLINE V product_of_axes(V volume) { return hn::Mul(volume, hn::Set(D(), 0.75 / std::numbers::pi)); }

HWY_INLINE void add_moment(Vectors& sum, V share, const double (*m)[EpicMergeBatch::kLanes], V volume, V x, V y, V z) {
  const D d;
  const V b11 = hn::Load(d, m[8]);
  const V b12 = hn::Load(d, m[9]);
  const V b13 = hn::Load(d, m[10]);
  const V b22 = hn::Load(d, m[11]);
  const V b23 = hn::Load(d, m[12]);
  const V abc = product_of_axes(volume);
  const V b33 = hn::Div(hn::Add(hn::Mul(abc, abc), rest33(b11, b12, b13, b22, b23)), minor33(b11, b12, b22));
  const V five = hn::Set(d, 5.0);
  const V x5 = hn::Mul(five, x);
  const V y5 = hn::Mul(five, y);
  const V z5 = hn::Mul(five, z);
  sum.b11 = hn::Add(sum.b11, hn::Mul(share, hn::Add(b11, hn::Mul(x5, x))));
  sum.b12 = hn::Add(sum.b12, hn::Mul(share, hn::Add(b12, hn::Mul(x5, y))));
  sum.b13 = hn::Add(sum.b13, hn::Mul(share, hn::Add(b13, hn::Mul(x5, z))));
  sum.b22 = hn::Add(sum.b22, hn::Mul(share, hn::Add(b22, hn::Mul(y5, y))));
  sum.b23 = hn::Add(sum.b23, hn::Mul(share, hn::Add(b23, hn::Mul(y5, z))));
  sum.b33 = hn::Add(sum.b33, hn::Mul(share, hn::Add(b33, hn::Mul(z5, z))));
}

/// Box::displacement along one axis.
struct Axis {
  V half;
  V minus_half;
  V extent;
  HWY_INLINE Axis(const detail::Images& images, int axis)
      : half(hn::Set(D(), images.half[axis])),
        minus_half(hn::Set(D(), -images.half[axis])),
        extent(hn::Set(D(), images.box.extent[axis])) {}
  HWY_INLINE V displacement(V a, V b) const {
    const V d = hn::Sub(a, b);
    const V below = hn::IfThenElse(hn::Lt(d, minus_half), hn::Add(d, extent), d);
    return hn::IfThenElse(hn::Gt(d, half), hn::Sub(d, extent), below);
  }
};

/// cube_root for lanes known to be in its first range, the first guess given.
HWY_INLINE V cube_root_from(V x, V y) {
  const D d;
  const auto c = [&](double v) { return hn::Set(d, v); };
  const V inverse = hn::Div(c(1), x);
  const V e = hn::Sub(hn::Mul(hn::Mul(hn::Mul(y, y), y), inverse), c(1));
  const V e2 = hn::Mul(e, e);
  const auto& p = detail::kCubeRoot;
  const V low = hn::Add(hn::Sub(c(p[0]), hn::Mul(c(p[1]), e)), hn::Mul(hn::Sub(c(p[2]), hn::Mul(c(p[3]), e)), e2));
  const V high = hn::Add(hn::Sub(c(p[4]), hn::Mul(c(p[5]), e)), hn::Mul(c(p[6]), e2));
  const V z = hn::Mul(y, hn::Add(low, hn::Mul(high, hn::Mul(e2, e2))));
  return hn::Sub(z, hn::Mul(hn::Sub(hn::Mul(hn::Mul(z, z), z), x), hn::Mul(z, hn::Mul(inverse, c(1.0 / 3)))));
}

void MergeLot(EpicMergeBatch::Lot& lot, std::size_t sources, const Box& box) {
  const D d;
  constexpr std::size_t kLanes = EpicMergeBatch::kLanes;
  const detail::Images images(box);
  const Axis ax(images, 0);
  const Axis ay(images, 1);
  const Axis az(images, 2);
  auto& m = lot.member;
  alignas(64) double out[EpicMergeBatch::kFields][kLanes];
  alignas(64) double ratio[kLanes];
  alignas(64) double guess[kLanes];
  for (std::size_t at = 0; at < kLanes; at += hn::Lanes(d)) {
    const auto load = [&](std::size_t i, std::size_t f) { return hn::Load(d, &m[i][f][at]); };
    const auto column = [&](std::size_t i) { return reinterpret_cast<const double(*)[kLanes]>(&m[i][0][at]); };
    const V cx = load(0, 0);
    const V cy = load(0, 1);
    const V cz = load(0, 2);
    const V cv = load(0, 3);
    V dx[EpicMergeBatch::kMaxSources + 1];
    V dy[EpicMergeBatch::kMaxSources + 1];
    V dz[EpicMergeBatch::kMaxSources + 1];
    V volume = cv;
    V mean[detail::kEpicMeans];
    for (std::size_t c = 0; c < detail::kEpicMeans; ++c) mean[c] = hn::Mul(cv, load(0, 4 + c));
    V sx = hn::Zero(d);
    V sy = sx;
    V sz = sx;
    for (std::size_t i = 1; i <= sources; ++i) {
      const V v = load(i, 3);
      dx[i] = ax.displacement(load(i, 0), cx);
      dy[i] = ay.displacement(load(i, 1), cy);
      dz[i] = az.displacement(load(i, 2), cz);
      volume = hn::Add(volume, v);
      sx = i == 1 ? hn::Mul(v, dx[i]) : hn::Add(sx, hn::Mul(v, dx[i]));
      sy = i == 1 ? hn::Mul(v, dy[i]) : hn::Add(sy, hn::Mul(v, dy[i]));
      sz = i == 1 ? hn::Mul(v, dz[i]) : hn::Add(sz, hn::Mul(v, dz[i]));
      for (std::size_t c = 0; c < detail::kEpicMeans; ++c) mean[c] = hn::Add(mean[c], hn::Mul(v, load(i, 4 + c)));
    }
    const V w = hn::Div(hn::Set(d, 1.0), volume);
    sx = hn::Mul(sx, w);
    sy = hn::Mul(sy, w);
    sz = hn::Mul(sz, w);
    const V zero = hn::Zero(d);
    Vectors sum{zero, zero, zero, zero, zero, zero};
    add_moment(sum, hn::Mul(cv, w), column(0), cv, hn::Neg(sx), hn::Neg(sy), hn::Neg(sz));
    for (std::size_t i = 1; i <= sources; ++i) {
      const V v = load(i, 3);
      add_moment(sum, hn::Mul(v, w), column(i), v, hn::Sub(dx[i], sx), hn::Sub(dy[i], sy), hn::Sub(dz[i], sz));
    }
    hn::Store(hn::Add(cx, sx), d, &out[0][at]);
    hn::Store(hn::Add(cy, sy), d, &out[1][at]);
    hn::Store(hn::Add(cz, sz), d, &out[2][at]);
    hn::Store(volume, d, &out[3][at]);
    for (std::size_t c = 0; c < detail::kEpicMeans; ++c) hn::Store(hn::Mul(mean[c], w), d, &out[4 + c][at]);
    const V abc = product_of_axes(volume);
    const V det = hn::Sub(hn::Mul(sum.b33, minor33(sum.b11, sum.b12, sum.b22)),
                          rest33(sum.b11, sum.b12, sum.b13, sum.b22, sum.b23));
    const V q = hn::Div(hn::Mul(abc, abc), det);
    hn::Store(q, d, &ratio[at]);
    for (std::size_t lane = at; lane < at + hn::Lanes(d); ++lane) guess[lane] = detail::cube_root_guess(ratio[lane]);
    V root = cube_root_from(q, hn::Load(d, &guess[at]));
    const auto ordinary = hn::And(hn::Ge(q, hn::Set(d, 0x1p-960)), hn::Le(q, hn::Set(d, 0x1p960)));
    if (!hn::AllTrue(d, ordinary)) {
      for (std::size_t lane = at; lane < at + hn::Lanes(d); ++lane) guess[lane] = cube_root(ratio[lane]);
      root = hn::Load(d, &guess[at]);
    }
    hn::Store(hn::Mul(root, sum.b11), d, &out[8][at]);
    hn::Store(hn::Mul(root, sum.b12), d, &out[9][at]);
    hn::Store(hn::Mul(root, sum.b13), d, &out[10][at]);
    hn::Store(hn::Mul(root, sum.b22), d, &out[11][at]);
    hn::Store(hn::Mul(root, sum.b23), d, &out[12][at]);
  }
  for (std::size_t lane = 0; lane < lot.count; ++lane) {
    *lot.site[lane] = {detail::settle(box, 0, out[0][lane]), detail::settle(box, 1, out[1][lane]),
                       detail::settle(box, 2, out[2][lane]), out[3][lane]};
    for (std::size_t f = 4; f < EpicMergeBatch::kFields; ++f) lot.row[lane][f - 3] = out[f][lane];
  }
  lot.count = 0;
}

}  // namespace merganser::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser {

HWY_EXPORT(MergeLot);

void EpicMergeBatch::merge(Lot& lot, std::size_t sources) { HWY_DYNAMIC_DISPATCH(MergeLot)(lot, sources, box_); }

}  // namespace merganser
#endif
