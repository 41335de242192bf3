// Cells of parcels and the four points of each ellipsoid, eight parcels at a time. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: every operation is rounded as IEEE 754
// says, fused ones included (fused.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/placement_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/groups.hpp"
#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using I = hn::Rebind<std::int32_t, D>;

HWY_INLINE V set(double x) { return hn::Set(D(), x); }

// ---- cells ----

/// Converts a coordinate of parcels, m, to units of grid cells from the lower corner of the box. Near a face of a cell the
/// product with 1 / spacing could round into another cell than the quotient that Grid::cell() computes, so there it is divided
/// too.
HWY_INLINE V to_cell_units(V x, const Cells& cells, int axis) {
  const V from_lower = hn::Sub(x, set(cells.lower[axis]));
  const V g = hn::Mul(from_lower, set(cells.inverse[axis]));
  const auto doubtful = hn::Le(hn::Abs(hn::Sub(g, hn::Round(g))), set(1e-9));
  if (hn::AllFalse(D(), doubtful)) return g;
  return hn::IfThenElse(doubtful, hn::Div(from_lower, set(cells.spacing[axis])), g);
}
/// Returns the index along an axis of the grid cell that contains a coordinate in units of cells, the topmost for the upper face.
HWY_INLINE V cell_index(V g, const Cells& cells, int axis) {
  return hn::Min(hn::Max(hn::Floor(g), hn::Zero(D())), set(cells.all[axis] - 1));
}
/// Returns the lanes, parcels of a batch, with low <= x <= high.
HWY_INLINE hn::Mask<D> is_between(V low, V x, V high) { return hn::And(hn::Ge(x, low), hn::Le(x, high)); }

/// Body of find_cells(): computes the cell of each parcel. @return true if all parcels are in the rank's block
bool FindCells(const Site* sites, std::size_t n, const Cells& given, std::int32_t* cell) {
  const D d;
  const Cells cells = given;  // a copy, which stores to `cell` cannot change
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
    const V gx = to_cell_units(x, cells, 0);
    const V gy = to_cell_units(y, cells, 1);
    const V gz = to_cell_units(z, cells, 2);
    const V cx = hn::Sub(cell_index(gx, cells, 0), set(cells.first[0]));
    const V cy = hn::Sub(cell_index(gy, cells, 1), set(cells.first[1]));
    const V cz = cell_index(gz, cells, 2);
    const V zero = hn::Zero(d);
    auto fine = hn::And(is_between(zero, gx, set(cells.all[0])), is_between(zero, gy, set(cells.all[1])));
    fine = hn::And(fine, is_between(set(-1), gz, set(cells.all[2] + 1)));
    fine = hn::And(fine, is_between(zero, cx, set(cells.own[0] - 1)));
    fine = hn::And(fine, is_between(zero, cy, set(cells.own[1] - 1)));
    good = good && hn::AllTrue(d, fine);
    // Exact, fused or not: whole numbers below 2^31.
    const V number = hn::MulAdd(hn::MulAdd(cx, set(cells.own[1]), cy), set(cells.own[2]), cz);
    const V safe = hn::IfThenElseZero(fine, number);
    std::int32_t* const to = whole ? cell + i : last_cell;
    hn::StoreU(hn::DemoteTo(I(), safe), I(), to);
    if (!whole) std::copy_n(last_cell, n - i, cell + i);
  }
  return good;
}

// ---- points ----

// Two vectors at a time: the operations on one are a long dependent chain, and two chains hide its latency.
/// Two vectors of doubles, parcels of two batches, processed side by side.
struct T {
  V a, b;
};
/// Masks of two vectors of lanes that are processed side by side.
struct M {
  hn::Mask<D> a, b;
};
/// Broadcasts x to both vectors of lanes.
HWY_INLINE T set_both(double x) { return {set(x), set(x)}; }
namespace tw {
HWY_INLINE T Add(T x, T y) { return {hn::Add(x.a, y.a), hn::Add(x.b, y.b)}; }
HWY_INLINE T Sub(T x, T y) { return {hn::Sub(x.a, y.a), hn::Sub(x.b, y.b)}; }
HWY_INLINE T Mul(T x, T y) { return {hn::Mul(x.a, y.a), hn::Mul(x.b, y.b)}; }
HWY_INLINE T MulAdd(T x, T y, T z) { return {fused_add(x.a, y.a, z.a), fused_add(x.b, y.b, z.b)}; }
HWY_INLINE T MulSub(T x, T y, T z) { return {fused_subtract(x.a, y.a, z.a), fused_subtract(x.b, y.b, z.b)}; }
HWY_INLINE T NegMulAdd(T x, T y, T z) {
  return {fused_subtract_from(x.a, y.a, z.a), fused_subtract_from(x.b, y.b, z.b)};
}
HWY_INLINE T Neg(T x) { return {hn::Neg(x.a), hn::Neg(x.b)}; }
HWY_INLINE T Abs(T x) { return {hn::Abs(x.a), hn::Abs(x.b)}; }
HWY_INLINE T Min(T x, T y) { return {hn::Min(x.a, y.a), hn::Min(x.b, y.b)}; }
HWY_INLINE T Max(T x, T y) { return {hn::Max(x.a, y.a), hn::Max(x.b, y.b)}; }
HWY_INLINE T CopySign(T x, T y) { return {hn::CopySign(x.a, y.a), hn::CopySign(x.b, y.b)}; }
HWY_INLINE M Ge(T x, T y) { return {hn::Ge(x.a, y.a), hn::Ge(x.b, y.b)}; }
HWY_INLINE M Gt(T x, T y) { return {hn::Gt(x.a, y.a), hn::Gt(x.b, y.b)}; }
HWY_INLINE M Le(T x, T y) { return {hn::Le(x.a, y.a), hn::Le(x.b, y.b)}; }
HWY_INLINE T IfThenElse(M m, T x, T y) { return {hn::IfThenElse(m.a, x.a, y.a), hn::IfThenElse(m.b, x.b, y.b)}; }
HWY_INLINE T IfThenElseZero(M m, T x) { return {hn::IfThenElseZero(m.a, x.a), hn::IfThenElseZero(m.b, x.b)}; }
HWY_INLINE T IfThenZeroElse(M m, T x) { return {hn::IfThenZeroElse(m.a, x.a), hn::IfThenZeroElse(m.b, x.b)}; }
}  // namespace tw

// Quotients and roots are rounded to nearest on every instruction set; approximations of a processor, refined by Newton's method,
// would take a third of the time there, and have bits of their own.
/// Return 1 / x and 1 / sqrt(x) of two vectors.
HWY_INLINE T inverse(T x) { return {hn::Div(set(1), x.a), hn::Div(set(1), x.b)}; }
HWY_INLINE T inverse_root(T x) { return {hn::Div(set(1), hn::Sqrt(x.a)), hn::Div(set(1), hn::Sqrt(x.b))}; }
/// Returns the square root of numbers above 1e-290 or so; 0 below, where its reciprocal would overflow.
HWY_INLINE T root(T x) { return tw::IfThenElseZero(tw::Gt(x, set_both(1e-290)), tw::Mul(x, inverse_root(x))); }

struct Vector {
  T x, y, z;
};
HWY_INLINE T dot(const Vector& a, const Vector& b) {
  return tw::MulAdd(a.x, b.x, tw::MulAdd(a.y, b.y, tw::Mul(a.z, b.z)));
}
HWY_INLINE Vector combine(T s, const Vector& a, T t, const Vector& b) {
  return {tw::MulAdd(s, a.x, tw::Mul(t, b.x)), tw::MulAdd(s, a.y, tw::Mul(t, b.y)),
          tw::MulAdd(s, a.z, tw::Mul(t, b.z))};
}
HWY_INLINE Vector choose(M m, const Vector& a, const Vector& b) {
  return {tw::IfThenElse(m, a.x, b.x), tw::IfThenElse(m, a.y, b.y), tw::IfThenElse(m, a.z, b.z)};
}
/// Computes a b - c d lane by lane, a minor of the ellipsoids' 3 x 3 matrices.
HWY_INLINE T cross(T a, T b, T c, T d) { return tw::MulSub(a, b, tw::Mul(c, d)); }

/// Symmetric 3 x 3 matrix B of each lane's parcel ellipsoid; of trace 0 where it is the deviator of B.
struct Deviator {
  T xx, xy, xz, yy, yz, zz;
};

/// Evaluates the polynomial c[0] + c[1] r + ... by Horner's rule, for the eigenvalues of parcel ellipsoids.
template <std::size_t kTerms>
HWY_INLINE T polynomial(const double (&c)[kTerms], T r) {
  T sum = set_both(c[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) sum = tw::MulAdd(sum, r, set_both(c[i]));
  return sum;
}

/// Returns the root x in [sqrt 3, 2] of x^3 - 3 x = 2 r, r in [0, 1]: a polynomial (error 7e-11) and one step of Newton's
/// method, with 1 / (3 x^2 - 3) by another polynomial (error 3e-6).
HWY_INLINE T separated_root(T r) {
  constexpr double root[11] = {0x1.bb67ae85d08cbp+0,  0x1.5555542d0ed0bp-2,  -0x1.8a2284c3c52d3p-4,
                               0x1.947244f59ec3ep-5,  -0x1.fd42c67791d33p-6, 0x1.5f1dbb24202f7p-6,
                               -0x1.e52e9c19ad327p-7, 0x1.2c1505d53300ap-7,  -0x1.211bf3bf7dca1p-8,
                               0x1.6c151b62de6a6p-10, -0x1.b1ecbfeaf7986p-13};
  constexpr double inverse[7] = {0x1.555523b143a3ep-3,  -0x1.89faf772195ddp-4, 0x1.2cacac96fa49cp-4,
                                 -0x1.d9f9f11f95c68p-5, 0x1.424c29bda87ebp-5,  -0x1.2aceecb2ba66cp-6,
                                 0x1.04b5bd55d73d1p-8};
  const T x = polynomial(root, r);
  const T f = tw::MulSub(x, tw::MulSub(x, x, set_both(3)), tw::Add(r, r));
  return tw::NegMulAdd(f, polynomial(inverse, r), x);
}

/// Returns the unit vector in the null space of m, a symmetric matrix of rank 2: the longest column of its adjugate.
HWY_INLINE Vector null_vector(const Deviator& m) {
  const T xx = cross(m.yy, m.zz, m.yz, m.yz);
  const T yy = cross(m.xx, m.zz, m.xz, m.xz);
  const T zz = cross(m.xx, m.yy, m.xy, m.xy);
  const T xy = cross(m.xz, m.yz, m.xy, m.zz);
  const T xz = cross(m.xy, m.yz, m.xz, m.yy);
  const T yz = cross(m.xy, m.xz, m.xx, m.yz);
  Vector n = choose(tw::Ge(tw::Abs(xx), tw::Abs(yy)), Vector{xx, xy, xz}, Vector{xy, yy, yz});
  const T longest = tw::Max(tw::Abs(xx), tw::Abs(yy));
  n = choose(tw::Ge(longest, tw::Abs(zz)), n, Vector{xz, yz, zz});
  const T scale = inverse_root(dot(n, n));
  return {tw::Mul(n.x, scale), tw::Mul(n.y, scale), tw::Mul(n.z, scale)};
}

/// Computes the vectors of a parcel's four points from its ellipsoid B: sqrt((a^2 - c^2) / 5) v1 and sqrt((b^2 - c^2) / 5) v2.
/// One eigenvalue is separated from the others by at least sqrt(3) times the scale of the deviator, so it and its vector are
/// found first; the rest is a 2 x 2 matrix.
HWY_INLINE void half_axes(const Deviator& b, Vector& major, Vector& middle) {
  const T mean = tw::Mul(tw::Add(tw::Add(b.xx, b.yy), b.zz), set_both(1.0 / 3));
  const Deviator d{tw::Sub(b.xx, mean), b.xy, b.xz, tw::Sub(b.yy, mean), b.yz, tw::Sub(b.zz, mean)};
  const T off = tw::MulAdd(d.xy, d.xy, tw::MulAdd(d.xz, d.xz, tw::Mul(d.yz, d.yz)));
  const T diagonal = tw::MulAdd(d.xx, d.xx, tw::MulAdd(d.yy, d.yy, tw::Mul(d.zz, d.zz)));
  const T p = tw::Mul(tw::MulAdd(set_both(2), off, diagonal), set_both(1.0 / 6));
  const T round = tw::Mul(mean, set_both(0x1p-48));
  const auto sphere = tw::Le(p, tw::Mul(round, round));
  const T inverse_s = inverse_root(p);
  const T det =
      tw::MulAdd(d.xx, cross(d.yy, d.zz, d.yz, d.yz),
                 tw::MulSub(d.xz, cross(d.xy, d.yz, d.yy, d.xz), tw::Mul(d.xy, cross(d.xy, d.zz, d.yz, d.xz))));
  const T r = tw::Mul(tw::Mul(tw::Mul(set_both(0.5), det), inverse_s), tw::Mul(inverse_s, inverse_s));
  const T size = tw::Mul(tw::Mul(p, inverse_s), separated_root(tw::Min(tw::Abs(r), set_both(1))));
  const T isolated = tw::CopySign(size, r);
  const Vector n =
      null_vector({tw::Sub(d.xx, isolated), d.xy, d.xz, tw::Sub(d.yy, isolated), d.yz, tw::Sub(d.zz, isolated)});
  // Two unit vectors perpendicular to n [duff2017].
  const T sign = tw::CopySign(set_both(1), n.z);
  const T a = tw::Neg(inverse(tw::Add(sign, n.z)));
  const T xy = tw::Mul(tw::Mul(n.x, n.y), a);
  const T sx = tw::Mul(sign, n.x);
  const Vector u{tw::MulAdd(tw::Mul(sx, n.x), a, set_both(1)), tw::Mul(sign, xy), tw::Neg(sx)};
  const Vector w{xy, tw::MulAdd(tw::Mul(n.y, n.y), a, sign), tw::Neg(n.y)};
  const Vector du{tw::MulAdd(d.xx, u.x, tw::MulAdd(d.xy, u.y, tw::Mul(d.xz, u.z))),
                  tw::MulAdd(d.xy, u.x, tw::MulAdd(d.yy, u.y, tw::Mul(d.yz, u.z))),
                  tw::MulAdd(d.xz, u.x, tw::MulAdd(d.yz, u.y, tw::Mul(d.zz, u.z)))};
  // In that plane the matrix is [-isolated/2 + deviation, off_diagonal; off_diagonal, -isolated/2 - deviation].
  const T deviation = tw::MulAdd(set_both(0.5), isolated, dot(u, du));
  const T off_diagonal = dot(w, du);
  const T half = root(tw::MulAdd(deviation, deviation, tw::Mul(off_diagonal, off_diagonal)));
  const T g = tw::Add(half, tw::Abs(deviation));
  const T norm2 = tw::Mul(tw::Add(half, half), g);
  const T scale = inverse_root(norm2);
  const auto turned = tw::Gt(norm2, set_both(1e-280));  // else any two axes will do
  const auto positive = tw::Ge(deviation, set_both(0));
  const T cosine = tw::IfThenElse(turned, tw::Mul(scale, tw::IfThenElse(positive, g, off_diagonal)), set_both(1));
  const T sine = tw::IfThenElseZero(turned, tw::Mul(scale, tw::IfThenElse(positive, off_diagonal, g)));
  const Vector first = combine(cosine, u, sine, w);
  const Vector second = combine(cosine, w, tw::Neg(sine), u);
  // a^2 - c^2 and b^2 - c^2: the isolated eigenvalue belongs to a^2 (positive) or c^2.
  const auto is_long = tw::Ge(isolated, set_both(0));
  const T three_halves = tw::Mul(set_both(1.5), tw::Abs(isolated));
  const T longest = tw::Add(three_halves, half);
  const T between = tw::IfThenElse(is_long, tw::Add(half, half), tw::Max(tw::Sub(three_halves, half), set_both(0)));
  const T one = tw::IfThenZeroElse(sphere, root(tw::Mul(longest, set_both(0.2))));
  const T two = tw::IfThenZeroElse(sphere, root(tw::Mul(between, set_both(0.2))));
  const Vector v1 = choose(is_long, n, first);
  const Vector v2 = choose(is_long, first, second);
  const auto scaled = [&](T factor, T x) { return tw::IfThenZeroElse(sphere, tw::Mul(factor, x)); };
  major = {scaled(one, v1.x), scaled(one, v1.y), scaled(one, v1.z)};
  middle = {scaled(two, v2.x), scaled(two, v2.y), scaled(two, v2.z)};
}

/// Vector in space, one per lane, of one vector of lanes.
struct OneVector {
  V x, y, z;
};

/// Stores one coordinate of centre and point offsets of a batch of parcels, in units of cells. @return true where the points are
/// in the cells beside the centre's own in x and y, at most one cell beyond a wall in z
HWY_INLINE hn::Mask<D> store_coordinate(V g, V first, V second, const Cells& cells, int axis, std::size_t at,
                                        Batch& batch) {
  const D d;
  hn::Store(g, d, batch.centre[axis] + at);
  hn::Store(first, d, batch.first[axis] + at);
  hn::Store(second, d, batch.second[axis] + at);
  const V reach = hn::Max(hn::Abs(first), hn::Abs(second));
  const V low = hn::Sub(g, reach);
  const V high = hn::Add(g, reach);
  if (axis == 2) return hn::And(hn::Ge(low, set(-1)), hn::Lt(high, set(cells.all[2] + 1)));
  const V cell = cell_index(g, cells, axis);
  return hn::And(hn::Ge(low, hn::Sub(cell, set(1))), hn::Lt(high, hn::Add(cell, set(2))));
}

/// Input of a batch of parcels for their points: x y z volume, B; or x y z, stored offsets of the points.
struct alignas(64) BatchInput {
  double value[9][kBatch];
};
/// Stores `count` vectors of a group, parcels k .. of a batch, as input `first` and the following.
HWY_INLINE void store_input(const W* from, std::size_t count, std::size_t first, std::size_t k, BatchInput& given) {
  for (std::size_t i = 0; i < count; ++i) hn::Store(from[i], G(), given.value[first + i] + k);
}
/// Gathers position, volume and shape of a batch of parcels.
HWY_INLINE void gather_input(const Site* sites, const double* rows, const std::uint32_t* index, BatchInput& given) {
  static_assert(Row::shape == 5);
  for (std::size_t k = 0; k < kBatch; k += kGroup) {
    const GroupRows from(sites, rows, index + k);
    Four site, b;
    W rest[2];
    load_four(from.site, 0, site);
    load_four(from.row, 4, b);
    load_two(from.row, 8, rest);
    store_input(site.v, 4, 0, k, given);
    store_input(b.v + 1, 3, 4, k, given);
    store_input(rest, 2, 7, k, given);
  }
}

/// Lanes at .. at + Lanes - 1 of a batch of parcels: the input of their points, and the batch that gets these.
struct BatchLanes {
  const BatchInput& given;
  Batch& batch;
  std::size_t at;
  [[nodiscard]] HWY_INLINE V load(std::size_t i) const { return hn::Load(D(), given.value[i] + at); }
};

/// Stores the four points of the parcels of one vector of lanes, offsets major + middle and major - middle. @return true if all are
/// near enough to their centres
/// @param fine  lanes whose volume and B are an ellipsoid's
HWY_INLINE bool store_points(const BatchLanes& part, const Cells& cells, const OneVector& major,
                             const OneVector& middle, hn::Mask<D> fine) {
  for (int a = 0; a < 3; ++a) {
    const V g = to_cell_units(part.load(static_cast<std::size_t>(a)), cells, a);
    const V along_major = a == 0 ? major.x : a == 1 ? major.y : major.z;
    const V along_middle = a == 0 ? middle.x : a == 1 ? middle.y : middle.z;
    const V scale = set(cells.inverse[a]);
    const V first = hn::Mul(hn::Add(along_major, along_middle), scale);
    const V second = hn::Mul(hn::Sub(along_major, along_middle), scale);
    fine = hn::And(fine, store_coordinate(g, first, second, cells, a, part.at, part.batch));
  }
  return hn::AllTrue(D(), fine);
}

/// Computes the four points of the parcels of two vectors of lanes, B33 first, which follows from the volume. @return true for each
/// vector whose parcels are all ellipsoids with points near enough
HWY_INLINE std::array<bool, 2> compute_points(const BatchLanes& one, const BatchLanes& two, const Cells& cells) {
  const auto load = [&](std::size_t i) { return T{one.load(i), two.load(i)}; };
  Deviator b{load(4), load(5), load(6), load(7), load(8), set_both(0)};
  const T abc = tw::Mul(load(3), set_both(0.75 / std::numbers::pi));
  const T rest = tw::MulAdd(b.yz, tw::MulSub(b.xx, b.yz, tw::Mul(set_both(2), tw::Mul(b.xy, b.xz))),
                            tw::Mul(b.xz, tw::Mul(b.xz, b.yy)));
  b.zz = tw::Mul(tw::MulAdd(abc, abc, rest), inverse(cross(b.xx, b.yy, b.xy, b.xy)));
  // Initialised, since implicit constructors are compiled without the options of the target.
  Vector major{set_both(0), set_both(0), set_both(0)};
  Vector middle = major;
  half_axes(b, major, middle);
  // An ellipsoid has B11 > 0 and B33 > 0; not a number fails the comparison too.
  const M zz = tw::Gt(b.zz, set_both(0));
  const M xx = tw::Gt(b.xx, set_both(0));
  return {store_points(one, cells, {major.x.a, major.y.a, major.z.a}, {middle.x.a, middle.y.a, middle.z.a},
                       hn::And(zz.a, xx.a)),
          store_points(two, cells, {major.x.b, major.y.b, major.z.b}, {middle.x.b, middle.y.b, middle.z.b},
                       hn::And(zz.b, xx.b))};
}

/// Prefetches the site and the shape B of a parcel.
HWY_INLINE void prefetch(const Site* sites, const double* rows, std::uint32_t index) {
  const double* const row = rows + index * Row::width;
  __builtin_prefetch(sites + index, 0, 2);
  __builtin_prefetch(row, 0, 2);
  __builtin_prefetch(row + Row::shape + 4, 0, 2);
}

/// Body of find_points(): computes the four points of each parcel from the half axes of its ellipsoid B.
std::size_t FindPoints(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                       const Cells& of_rank, Batch* batches) {
  const Cells cells = of_rank;  // a copy, which stores to the batches cannot change
  // All input is gathered first: a vector load right after scalar stores to its memory would stall on store forwarding.
  BatchInput given[kMaxBatches];
  for (std::size_t b = 0; b < count; ++b) gather_input(sites, rows, index.order + b * kBatch, given[b]);
  std::size_t good = count;
  for (std::size_t b = 0; b < count; b += 2) {
    const std::size_t other = std::min(b + 1, count - 1);
    // Memory for the next call is prefetched a little at a time, beside the arithmetic.
    for (std::size_t n = (count + b) * kBatch; n < std::min((count + b + 2) * kBatch, index.size); ++n)
      prefetch(sites, rows, index.order[n]);
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
      const std::array<bool, 2> fine =
          compute_points({given[b], batches[b], k}, {given[other], batches[other], k}, cells);
      if (!fine[0]) good = std::min(good, b);
      if (!fine[1]) good = std::min(good, other);
    }
  }
  return good;
}

/// Gathers positions and stored point offsets of a batch of parcels. @return false if an offset is not a number, so that the
/// points are to be computed from B
HWY_INLINE bool read_offsets(const Site* sites, const double* rows, const std::uint32_t* index, BatchInput& given) {
  bool known = true;
  for (std::size_t k = 0; k < kBatch; k += kGroup) {
    const GroupRows from(sites, rows, index + k);
    Four site, offsets;
    W rest[2];
    load_four(from.site, 0, site);
    load_four(from.row, Row::offsets, offsets);
    load_two(from.row, Row::offsets + 4, rest);
    store_input(site.v, 3, 0, k, given);
    store_input(offsets.v, 4, 3, k, given);
    store_input(rest, 2, 7, k, given);
    known = known && hn::AllTrue(G(), hn::Eq(offsets.v[0], offsets.v[0]));
  }
  return known;
}

/// Body of place_points(): computes the four points of each parcel ellipsoid from the offsets stored in its row.
std::size_t PlacePoints(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& of_rank, Batch* batches) {
  const Cells cells = of_rank;  // a copy, which stores to the batches cannot change
  // All input is gathered first, as in FindPoints: scalar stores must have completed before the vector loads.
  BatchInput given[kMaxBatches];
  bool known[kMaxBatches];
  for (std::size_t b = 0; b < count; ++b) known[b] = read_offsets(sites, rows, index.order + b * kBatch, given[b]);
  for (std::size_t b = 0; b < count; ++b) {
    for (std::size_t n = (count + b) * kBatch; n < std::min((count + b + 1) * kBatch, index.size); ++n) {
      __builtin_prefetch(sites + index.order[n], 0, 2);
      __builtin_prefetch(rows + index.order[n] * Row::width, 0, 2);
      __builtin_prefetch(rows + index.order[n] * Row::width + Row::offsets + 5, 0, 2);
    }
    if (!known[b]) {
      const Upcoming these{index.order + b * kBatch, kBatch};
      if (FindPoints(sites, rows, these, 1, of_rank, batches + b) == 0) return b;
      continue;
    }
    for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) {
      const BatchLanes part{given[b], batches[b], k};
      auto fine = hn::Eq(part.load(0), part.load(0));
      for (std::size_t a = 0; a < 3; ++a) {
        const V g = to_cell_units(part.load(a), cells, static_cast<int>(a));
        fine = hn::And(
            fine, store_coordinate(g, part.load(3 + a), part.load(6 + a), cells, static_cast<int>(a), k, batches[b]));
      }
      if (!hn::AllTrue(D(), fine)) return b;
    }
  }
  return count;
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {

HWY_EXPORT(FindCells);
HWY_EXPORT(FindPoints);
HWY_EXPORT(PlacePoints);

bool find_cells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell) {
  return MERGANSER_DISPATCH(FindCells)(sites, n, cells, cell);
}
std::size_t find_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& cells, Batch* batches) {
  return MERGANSER_DISPATCH(FindPoints)(sites, rows, index, count, cells, batches);
}
std::size_t place_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                         const Cells& cells, Batch* batches) {
  return MERGANSER_DISPATCH(PlacePoints)(sites, rows, index, count, cells, batches);
}

}  // namespace merganser::flow
#endif
