// Compiled once per vector target by Highway; see the end of the file for the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/placement_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <numbers>

#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;

HWY_INLINE V set(double x) { return hn::Set(D(), x); }

// ---- cells ----

/// Coordinate in cells of the whole grid. Where its cell could be another than that of Grid::cell(), which divides, it is
/// divided here too.
HWY_INLINE V in_cells(V x, const Cells& cells, int axis) {
  const V from_lower = hn::Sub(x, set(cells.lower[axis]));
  const V g = hn::Mul(from_lower, set(1 / cells.spacing[axis]));
  const auto doubtful = hn::Le(hn::Abs(hn::Sub(g, hn::Round(g))), set(1e-9));
  if (hn::AllFalse(D(), doubtful)) return g;
  return hn::IfThenElse(doubtful, hn::Div(from_lower, set(cells.spacing[axis])), g);
}
/// The cell that a coordinate is in, the topmost for one on the upper face.
HWY_INLINE V cell_of(V g, const Cells& cells, int axis) {
  return hn::Min(hn::Max(hn::Floor(g), hn::Zero(D())), set(cells.all[axis] - 1));
}
HWY_INLINE hn::Mask<D> between(V low, V x, V high) { return hn::And(hn::Ge(x, low), hn::Le(x, high)); }

bool FindCells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  alignas(64) Site last[kBatch];
  alignas(64) std::int32_t last_cell[kBatch];
  bool good = true;
  for (std::size_t i = 0; i < n; i += lanes) {
    const bool whole = i + lanes <= n;
    const Site* from = sites + i;
    if (!whole) {
      for (std::size_t k = 0; k < lanes; ++k) last[k] = sites[std::min(i + k, n - 1)];
      from = last;
    }
    V x, y, z, volume;
    hn::LoadInterleaved4(d, &from->x, x, y, z, volume);
    const V gx = in_cells(x, cells, 0);
    const V gy = in_cells(y, cells, 1);
    const V gz = in_cells(z, cells, 2);
    const V cx = hn::Sub(cell_of(gx, cells, 0), set(cells.first[0]));
    const V cy = hn::Sub(cell_of(gy, cells, 1), set(cells.first[1]));
    const V cz = cell_of(gz, cells, 2);
    const V zero = hn::Zero(d);
    auto fine = hn::And(between(zero, gx, set(cells.all[0])), between(zero, gy, set(cells.all[1])));
    fine = hn::And(fine, between(set(-1), gz, set(cells.all[2] + 1)));
    fine = hn::And(fine, between(zero, cx, set(cells.own[0] - 1)));
    fine = hn::And(fine, between(zero, cy, set(cells.own[1] - 1)));
    good = good && hn::AllTrue(d, fine);
    const V number = hn::MulAdd(hn::MulAdd(cx, set(cells.own[1]), cy), set(cells.own[2]), cz);
    const V safe = hn::IfThenElseZero(fine, number);
    std::int32_t* const to = whole ? cell + i : last_cell;
    hn::StoreU(hn::DemoteTo(I(), safe), I(), to);
    if (!whole) std::copy_n(last_cell, n - i, cell + i);
  }
  return good;
}

// ---- points ----

// Roots and quotients from the processor's approximations (14 bits) and two steps of Newton's, where it has them: a third of
// the time.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE V inverse(V x) {
  V y{_mm512_rcp14_pd(x.raw)};
  for (int step = 0; step < 2; ++step) y = hn::MulAdd(y, hn::NegMulAdd(x, y, set(1)), y);
  return y;
}
HWY_INLINE V inverse_root(V x) {
  V y{_mm512_rsqrt14_pd(x.raw)};
  const V half = hn::Mul(x, set(0.5));
  for (int step = 0; step < 2; ++step) y = hn::MulAdd(y, hn::NegMulAdd(hn::Mul(half, y), y, set(0.5)), y);
  return y;
}
#else
HWY_INLINE V inverse(V x) { return hn::Div(set(1), x); }
HWY_INLINE V inverse_root(V x) { return hn::Div(set(1), hn::Sqrt(x)); }
#endif
/// Of numbers above 1e-290 or so; 0 below.
HWY_INLINE V root(V x) { return hn::IfThenElseZero(hn::Gt(x, set(1e-290)), hn::Mul(x, inverse_root(x))); }

struct Vector {
  V x, y, z;
};
HWY_INLINE V dot(const Vector& a, const Vector& b) {
  return hn::MulAdd(a.x, b.x, hn::MulAdd(a.y, b.y, hn::Mul(a.z, b.z)));
}
HWY_INLINE Vector combine(V s, const Vector& a, V t, const Vector& b) {
  return {hn::MulAdd(s, a.x, hn::Mul(t, b.x)), hn::MulAdd(s, a.y, hn::Mul(t, b.y)),
          hn::MulAdd(s, a.z, hn::Mul(t, b.z))};
}
HWY_INLINE Vector choose(hn::Mask<D> m, const Vector& a, const Vector& b) {
  return {hn::IfThenElse(m, a.x, b.x), hn::IfThenElse(m, a.y, b.y), hn::IfThenElse(m, a.z, b.z)};
}
/// a b - c d
HWY_INLINE V cross(V a, V b, V c, V d) { return hn::MulSub(a, b, hn::Mul(c, d)); }

/// A symmetric matrix without trace.
struct Deviator {
  V xx, xy, xz, yy, yz, zz;
};

/// A polynomial, c[0] + c[1] r + ...
template <std::size_t kTerms>
HWY_INLINE V polynomial(const double (&c)[kTerms], V r) {
  V sum = set(c[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) sum = hn::MulAdd(sum, r, set(c[i]));
  return sum;
}

/// The root x in [sqrt 3, 2] of x^3 - 3 x = 2 r, r in [0, 1]: a polynomial (error 7e-11) and one step of Newton's, with
/// 1 / (3 x^2 - 3) by another polynomial (error 3e-6).
HWY_INLINE V separated_root(V r) {
  constexpr double root[11] = {0x1.bb67ae85d08cbp+0,  0x1.5555542d0ed0bp-2,  -0x1.8a2284c3c52d3p-4,
                               0x1.947244f59ec3ep-5,  -0x1.fd42c67791d33p-6, 0x1.5f1dbb24202f7p-6,
                               -0x1.e52e9c19ad327p-7, 0x1.2c1505d53300ap-7,  -0x1.211bf3bf7dca1p-8,
                               0x1.6c151b62de6a6p-10, -0x1.b1ecbfeaf7986p-13};
  constexpr double inverse[7] = {0x1.555523b143a3ep-3,  -0x1.89faf772195ddp-4, 0x1.2cacac96fa49cp-4,
                                 -0x1.d9f9f11f95c68p-5, 0x1.424c29bda87ebp-5,  -0x1.2aceecb2ba66cp-6,
                                 0x1.04b5bd55d73d1p-8};
  const V x = polynomial(root, r);
  const V f = hn::MulSub(x, hn::MulSub(x, x, set(3)), hn::Add(r, r));
  return hn::NegMulAdd(f, polynomial(inverse, r), x);
}

/// Unit vector in the kernel of m, a symmetric matrix of rank 2: the longest column of its adjugate.
HWY_INLINE Vector kernel_of(const Deviator& m) {
  const V xx = cross(m.yy, m.zz, m.yz, m.yz);
  const V yy = cross(m.xx, m.zz, m.xz, m.xz);
  const V zz = cross(m.xx, m.yy, m.xy, m.xy);
  const V xy = cross(m.xz, m.yz, m.xy, m.zz);
  const V xz = cross(m.xy, m.yz, m.xz, m.yy);
  const V yz = cross(m.xy, m.xz, m.xx, m.yz);
  Vector n = choose(hn::Ge(hn::Abs(xx), hn::Abs(yy)), Vector{xx, xy, xz}, Vector{xy, yy, yz});
  const V longest = hn::Max(hn::Abs(xx), hn::Abs(yy));
  n = choose(hn::Ge(longest, hn::Abs(zz)), n, Vector{xz, yz, zz});
  const V scale = inverse_root(dot(n, n));
  return {hn::Mul(n.x, scale), hn::Mul(n.y, scale), hn::Mul(n.z, scale)};
}

/// sqrt((a^2 - c^2) / 5) v1 and sqrt((b^2 - c^2) / 5) v2 of ellipsoids B. One eigenvalue is apart from the others by at least
/// sqrt(3) times the scale of the deviator, so it and its vector are found first; what is left is a 2 x 2 matrix.
HWY_INLINE void half_axes(const Deviator& b, Vector& major, Vector& middle) {
  const V mean = hn::Mul(hn::Add(hn::Add(b.xx, b.yy), b.zz), set(1.0 / 3));
  const Deviator d{hn::Sub(b.xx, mean), b.xy, b.xz, hn::Sub(b.yy, mean), b.yz, hn::Sub(b.zz, mean)};
  const V off = hn::MulAdd(d.xy, d.xy, hn::MulAdd(d.xz, d.xz, hn::Mul(d.yz, d.yz)));
  const V diagonal = hn::MulAdd(d.xx, d.xx, hn::MulAdd(d.yy, d.yy, hn::Mul(d.zz, d.zz)));
  const V p = hn::Mul(hn::MulAdd(set(2), off, diagonal), set(1.0 / 6));
  const V round = hn::Mul(mean, set(0x1p-48));
  const auto sphere = hn::Le(p, hn::Mul(round, round));
  const V inverse_s = inverse_root(p);
  const V det =
      hn::MulAdd(d.xx, cross(d.yy, d.zz, d.yz, d.yz),
                 hn::MulSub(d.xz, cross(d.xy, d.yz, d.yy, d.xz), hn::Mul(d.xy, cross(d.xy, d.zz, d.yz, d.xz))));
  const V r = hn::Mul(hn::Mul(hn::Mul(set(0.5), det), inverse_s), hn::Mul(inverse_s, inverse_s));
  const V size = hn::Mul(hn::Mul(p, inverse_s), separated_root(hn::Min(hn::Abs(r), set(1))));
  const V apart = hn::CopySign(size, r);
  const Vector n = kernel_of({hn::Sub(d.xx, apart), d.xy, d.xz, hn::Sub(d.yy, apart), d.yz, hn::Sub(d.zz, apart)});
  // Two unit vectors across n [duff2017].
  const V sign = hn::CopySign(set(1), n.z);
  const V a = hn::Neg(inverse(hn::Add(sign, n.z)));
  const V xy = hn::Mul(hn::Mul(n.x, n.y), a);
  const V sx = hn::Mul(sign, n.x);
  const Vector u{hn::MulAdd(hn::Mul(sx, n.x), a, set(1)), hn::Mul(sign, xy), hn::Neg(sx)};
  const Vector w{xy, hn::MulAdd(hn::Mul(n.y, n.y), a, sign), hn::Neg(n.y)};
  const Vector du{hn::MulAdd(d.xx, u.x, hn::MulAdd(d.xy, u.y, hn::Mul(d.xz, u.z))),
                  hn::MulAdd(d.xy, u.x, hn::MulAdd(d.yy, u.y, hn::Mul(d.yz, u.z))),
                  hn::MulAdd(d.xz, u.x, hn::MulAdd(d.yz, u.y, hn::Mul(d.zz, u.z)))};
  // In that plane the matrix is [-apart/2 + across, along; along, -apart/2 - across].
  const V across = hn::MulAdd(set(0.5), apart, dot(u, du));
  const V along = dot(w, du);
  const V half = root(hn::MulAdd(across, across, hn::Mul(along, along)));
  const V g = hn::Add(half, hn::Abs(across));
  const V norm2 = hn::Mul(hn::Add(half, half), g);
  const V scale = inverse_root(norm2);
  const auto turned = hn::Gt(norm2, set(1e-280));  // else any two axes will do
  const auto positive = hn::Ge(across, hn::Zero(D()));
  const V cosine = hn::IfThenElse(turned, hn::Mul(scale, hn::IfThenElse(positive, g, along)), set(1));
  const V sine = hn::IfThenElseZero(turned, hn::Mul(scale, hn::IfThenElse(positive, along, g)));
  const Vector first = combine(cosine, u, sine, w);
  const Vector second = combine(cosine, w, hn::Neg(sine), u);
  // a^2 - c^2 and b^2 - c^2: what is apart is a^2 (positive) or c^2.
  const auto is_long = hn::Ge(apart, hn::Zero(D()));
  const V three_halves = hn::Mul(set(1.5), hn::Abs(apart));
  const V longest = hn::Add(three_halves, half);
  const V between = hn::IfThenElse(is_long, hn::Add(half, half), hn::Max(hn::Sub(three_halves, half), hn::Zero(D())));
  const V one = hn::IfThenZeroElse(sphere, root(hn::Mul(longest, set(0.2))));
  const V two = hn::IfThenZeroElse(sphere, root(hn::Mul(between, set(0.2))));
  const Vector v1 = choose(is_long, n, first);
  const Vector v2 = choose(is_long, first, second);
  const auto scaled = [&](V factor, V x) { return hn::IfThenZeroElse(sphere, hn::Mul(factor, x)); };
  major = {scaled(one, v1.x), scaled(one, v1.y), scaled(one, v1.z)};
  middle = {scaled(two, v2.x), scaled(two, v2.y), scaled(two, v2.z)};
}

/// One coordinate of the points; true where they are near enough.
HWY_INLINE hn::Mask<D> place_points(V g, V major, V middle, const Cells& cells, int axis, std::size_t at,
                                    Batch& batch) {
  const D d;
  const V scale = set(1 / cells.spacing[axis]);
  const V first = hn::Mul(hn::Add(major, middle), scale);
  const V second = hn::Mul(hn::Sub(major, middle), scale);
  hn::Store(g, d, batch.centre[axis] + at);
  hn::Store(first, d, batch.first[axis] + at);
  hn::Store(second, d, batch.second[axis] + at);
  const V reach = hn::Max(hn::Abs(first), hn::Abs(second));
  const V low = hn::Sub(g, reach);
  const V high = hn::Add(g, reach);
  if (axis == 2) return hn::And(hn::Ge(low, set(-1)), hn::Lt(high, set(cells.all[2] + 1)));
  const V cell = cell_of(g, cells, axis);
  return hn::And(hn::Ge(low, hn::Sub(cell, set(1))), hn::Lt(high, hn::Add(cell, set(2))));
}

/// What is read of the parcels of a batch: x y z volume, B.
struct alignas(64) Given {
  double value[9][kBatch];
};
HWY_INLINE void read(const Site* sites, const double* rows, const std::uint32_t* index, Given& given) {
  for (std::size_t k = 0; k < kBatch; ++k) {
    const Site& site = sites[index[k]];
    const double* const b5 = rows + index[k] * Row::width + Row::shape;
    given.value[0][k] = site.x;
    given.value[1][k] = site.y;
    given.value[2][k] = site.z;
    given.value[3][k] = site.volume;
    for (std::size_t c = 0; c < 5; ++c) given.value[4 + c][k] = b5[c];
  }
}

HWY_INLINE bool find(const Given& given, const Cells& cells, Batch& batch) {
  const D d;
  bool good = true;
  for (std::size_t k = 0; k < kBatch; k += hn::Lanes(d)) {
    const auto load = [&](int i) { return hn::Load(d, given.value[i] + k); };
    Deviator b{load(4), load(5), load(6), load(7), load(8), hn::Zero(d)};
    const V abc = hn::Mul(load(3), set(0.75 / std::numbers::pi));
    const V rest = hn::MulAdd(b.yz, hn::MulSub(b.xx, b.yz, hn::Mul(set(2), hn::Mul(b.xy, b.xz))),
                              hn::Mul(b.xz, hn::Mul(b.xz, b.yy)));
    b.zz = hn::Mul(hn::MulAdd(abc, abc, rest), inverse(cross(b.xx, b.yy, b.xy, b.xy)));
    Vector major;
    Vector middle;
    half_axes(b, major, middle);
    auto fine = place_points(in_cells(load(0), cells, 0), major.x, middle.x, cells, 0, k, batch);
    fine = hn::And(fine, place_points(in_cells(load(1), cells, 1), major.y, middle.y, cells, 1, k, batch));
    fine = hn::And(fine, place_points(in_cells(load(2), cells, 2), major.z, middle.z, cells, 2, k, batch));
    // No ellipsoid has B33 <= 0; what is no number fails too.
    fine = hn::And(fine, hn::And(hn::Gt(b.zz, hn::Zero(d)), hn::Gt(b.xx, hn::Zero(d))));
    good = good && hn::AllTrue(d, fine);
  }
  return good;
}

/// Asks for what is read of a parcel.
HWY_INLINE void prefetch(const Site* sites, const double* rows, std::uint32_t index) {
  const double* const row = rows + index * Row::width;
  __builtin_prefetch(sites + index, 0, 2);
  __builtin_prefetch(row, 0, 2);
  __builtin_prefetch(row + Row::shape + 4, 0, 2);
}

std::size_t FindPoints(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                       const Cells& cells, Batch* batches) {
  // Read first: a vector of numbers that have just been stored one by one would have to wait for them.
  Given given[kMostBatches];
  for (std::size_t b = 0; b < count; ++b) read(sites, rows, index.order + b * kBatch, given[b]);
  std::size_t good = count;
  for (std::size_t b = count; b-- > 0;) {
    // Memory for the next call, a little at a time beside the arithmetic.
    for (std::size_t n = (count + b) * kBatch; n < std::min((count + b + 1) * kBatch, index.size); ++n)
      prefetch(sites, rows, index.order[n]);
    if (!find(given[b], cells, batches[b])) good = b;
  }
  return good;
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(FindCells);
HWY_EXPORT(FindPoints);

bool find_cells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell) {
  return HWY_DYNAMIC_DISPATCH(FindCells)(sites, n, cells, cell);
}
std::size_t find_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& cells, Batch* batches) {
  return HWY_DYNAMIC_DISPATCH(FindPoints)(sites, rows, index, count, cells, batches);
}

}  // namespace merganser::flow
#endif
