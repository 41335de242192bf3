// Cells of parcels and the four points of each ellipsoid, eight parcels at a time. Compiled once per vector target by
// Highway; see the end of the file for the dispatch. The bits do not depend on the target: every operation is rounded as IEEE 754
// says, fused ones included (fused.hpp).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/placement_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fused.hpp"
#include "src/flow/groups.hpp"
#include "src/flow/kernels.hpp"
#include "src/flow/weights.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// ---- cells ----

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
    fine = hn::And(fine, hn::And(hn::Ge(gz, set(-1)), hn::Lt(gz, set(cells.all[2] + 1))));  // levels -1 .. cells + 1
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

// Quotients and roots are rounded to nearest on every instruction set; approximations of a processor, refined by Newton's method,
// would take a third of the time there, and have bits of their own.
/// Return 1 / x and 1 / sqrt(x).
HWY_INLINE V inverse(V x) { return hn::Div(set(1), x); }
HWY_INLINE V inverse_root(V x) { return hn::Div(set(1), hn::Sqrt(x)); }
/// Returns the square root of numbers above 1e-290 or so; 0 below, where its reciprocal would overflow.
HWY_INLINE V root(V x) { return hn::IfThenElseZero(hn::Gt(x, set(1e-290)), hn::Mul(x, inverse_root(x))); }

HWY_INLINE V dot(const Vector& a, const Vector& b) {
  return fused_add(a.x, b.x, fused_add(a.y, b.y, hn::Mul(a.z, b.z)));
}
HWY_INLINE Vector combine(V s, const Vector& a, V t, const Vector& b) {
  return {fused_add(s, a.x, hn::Mul(t, b.x)), fused_add(s, a.y, hn::Mul(t, b.y)), fused_add(s, a.z, hn::Mul(t, b.z))};
}
HWY_INLINE Vector choose(hn::Mask<D> m, const Vector& a, const Vector& b) {
  return {hn::IfThenElse(m, a.x, b.x), hn::IfThenElse(m, a.y, b.y), hn::IfThenElse(m, a.z, b.z)};
}
/// Computes a b - c d lane by lane, a minor of the ellipsoids' 3 x 3 matrices.
HWY_INLINE V cross(V a, V b, V c, V d) { return fused_subtract(a, b, hn::Mul(c, d)); }

/// Symmetric 3 x 3 matrix B of each lane's parcel ellipsoid; of trace 0 where it is the deviator of B.
struct Deviator {
  V xx, xy, xz, yy, yz, zz;
};

/// Evaluates the polynomial c[0] + c[1] r + ... by Horner's rule, for the eigenvalues of parcel ellipsoids.
template <std::size_t kTerms>
HWY_INLINE V polynomial(const double (&c)[kTerms], V r) {
  V sum = set(c[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) sum = fused_add(sum, r, set(c[i]));
  return sum;
}

/// Returns the root x in [sqrt 3, 2] of x^3 - 3 x = 2 r, r in [0, 1]: a polynomial (error 7e-11) and one step of Newton's
/// method, with 1 / (3 x^2 - 3) by another polynomial (error 3e-6).
HWY_INLINE V separated_root(V r) {
  constexpr double root[11] = {0x1.bb67ae85d08cbp+0,  0x1.5555542d0ed0bp-2,  -0x1.8a2284c3c52d3p-4,
                               0x1.947244f59ec3ep-5,  -0x1.fd42c67791d33p-6, 0x1.5f1dbb24202f7p-6,
                               -0x1.e52e9c19ad327p-7, 0x1.2c1505d53300ap-7,  -0x1.211bf3bf7dca1p-8,
                               0x1.6c151b62de6a6p-10, -0x1.b1ecbfeaf7986p-13};
  constexpr double inverse[7] = {0x1.555523b143a3ep-3,  -0x1.89faf772195ddp-4, 0x1.2cacac96fa49cp-4,
                                 -0x1.d9f9f11f95c68p-5, 0x1.424c29bda87ebp-5,  -0x1.2aceecb2ba66cp-6,
                                 0x1.04b5bd55d73d1p-8};
  const V x = polynomial(root, r);
  const V f = fused_subtract(x, fused_subtract(x, x, set(3)), hn::Add(r, r));
  return fused_subtract_from(f, polynomial(inverse, r), x);
}

/// Returns a vector in the null space of m, a symmetric matrix of rank 2: the longest column of its adjugate.
HWY_INLINE Vector null_vector(const Deviator& m) {
  const V xx = cross(m.yy, m.zz, m.yz, m.yz);
  const V yy = cross(m.xx, m.zz, m.xz, m.xz);
  const V zz = cross(m.xx, m.yy, m.xy, m.xy);
  const V xy = cross(m.xz, m.yz, m.xy, m.zz);
  const V xz = cross(m.xy, m.yz, m.xz, m.yy);
  const V yz = cross(m.xy, m.xz, m.xx, m.yz);
  const Vector n = choose(hn::Ge(hn::Abs(xx), hn::Abs(yy)), Vector{xx, xy, xz}, Vector{xy, yy, yz});
  const V longest = hn::Max(hn::Abs(xx), hn::Abs(yy));
  return choose(hn::Ge(longest, hn::Abs(zz)), n, Vector{xz, yz, zz});
}

/// Numbers of the parcels of up to kMaxBatches batches, from one part of the way to their points to the next: the way is one long
/// dependent chain of quotients and roots, and the processor works on several vectors side by side only if a part of it is short.
class Numbers {
 public:
  /// Deviator of B, its scale squared, below which it is a sphere's, B33; the isolated eigenvalue, its vector, that vector's square;
  /// two unit vectors perpendicular to it, and the deviator in their plane.
  enum : std::size_t {
    p = 6,  // behind the deviator
    round2,
    b33,
    isolated,
    n,
    n2 = n + 3,
    u,
    w = u + 3,
    deviation = w + 3,
    mixed,
    count
  };
  [[nodiscard]] HWY_INLINE V get(std::size_t which, std::size_t at) const { return hn::Load(D(), value_[which] + at); }
  [[nodiscard]] HWY_INLINE Vector vector(std::size_t which, std::size_t at) const {
    return {get(which, at), get(which + 1, at), get(which + 2, at)};
  }
  [[nodiscard]] HWY_INLINE Deviator matrix(std::size_t at) const {
    return {get(0, at), get(1, at), get(2, at), get(3, at), get(4, at), get(5, at)};
  }
  HWY_INLINE void put(std::size_t which, std::size_t at, V x) { hn::Store(x, D(), value_[which] + at); }
  HWY_INLINE void put(std::size_t which, std::size_t at, const Vector& v) {
    put(which, at, v.x);
    put(which + 1, at, v.y);
    put(which + 2, at, v.z);
  }
  HWY_INLINE void put(std::size_t at, const Deviator& m) {
    put(0, at, Vector{m.xx, m.xy, m.xz});
    put(3, at, Vector{m.yy, m.yz, m.zz});
  }

 private:
  alignas(64) double value_[count][kMaxBatches * kBatch];
};

// The vectors of a parcel's four points follow from its ellipsoid B: sqrt((a^2 - c^2) / 5) v1 and sqrt((b^2 - c^2) / 5) v2. One
// eigenvalue is separated from the others by at least sqrt(3) times the scale of the deviator, so it and its vector are found
// first; the rest is a 2 x 2 matrix.
/// Finds B33, which follows from the volume, the deviator of B and its scale.
HWY_INLINE void find_deviator(Deviator b, V volume, std::size_t at, Numbers& to) {
  const V abc = hn::Mul(volume, set(0.75 / std::numbers::pi));
  const V rest = fused_add(b.yz, fused_subtract(b.xx, b.yz, hn::Mul(set(2), hn::Mul(b.xy, b.xz))),
                           hn::Mul(b.xz, hn::Mul(b.xz, b.yy)));
  b.zz = hn::Mul(fused_add(abc, abc, rest), inverse(cross(b.xx, b.yy, b.xy, b.xy)));
  const V mean = hn::Mul(hn::Add(hn::Add(b.xx, b.yy), b.zz), set(1.0 / 3));
  const Deviator d{hn::Sub(b.xx, mean), b.xy, b.xz, hn::Sub(b.yy, mean), b.yz, hn::Sub(b.zz, mean)};
  const V off = fused_add(d.xy, d.xy, fused_add(d.xz, d.xz, hn::Mul(d.yz, d.yz)));
  const V diagonal = fused_add(d.xx, d.xx, fused_add(d.yy, d.yy, hn::Mul(d.zz, d.zz)));
  const V round = hn::Mul(mean, set(0x1p-48));
  to.put(at, d);
  to.put(Numbers::p, at, hn::Mul(fused_add(set(2), off, diagonal), set(1.0 / 6)));
  to.put(Numbers::round2, at, hn::Mul(round, round));
  to.put(Numbers::b33, at, b.zz);
}
/// Finds the isolated eigenvalue and its vector.
HWY_INLINE void find_isolated(std::size_t at, Numbers& of) {
  const Deviator d = of.matrix(at);
  const V p = of.get(Numbers::p, at);
  const V inverse_s = inverse_root(p);
  const V det =
      fused_add(d.xx, cross(d.yy, d.zz, d.yz, d.yz),
                fused_subtract(d.xz, cross(d.xy, d.yz, d.yy, d.xz), hn::Mul(d.xy, cross(d.xy, d.zz, d.yz, d.xz))));
  const V r = hn::Mul(hn::Mul(hn::Mul(set(0.5), det), inverse_s), hn::Mul(inverse_s, inverse_s));
  const V size = hn::Mul(hn::Mul(p, inverse_s), separated_root(hn::Min(hn::Abs(r), set(1))));
  const V isolated = hn::CopySign(size, r);
  const Vector n =
      null_vector({hn::Sub(d.xx, isolated), d.xy, d.xz, hn::Sub(d.yy, isolated), d.yz, hn::Sub(d.zz, isolated)});
  of.put(Numbers::isolated, at, isolated);
  of.put(Numbers::n, at, n);
  of.put(Numbers::n2, at, dot(n, n));
}
/// Finds two unit vectors perpendicular to the isolated one [duff2017], in whose plane the matrix is
/// [-isolated/2 + deviation, mixed; mixed, -isolated/2 - deviation].
HWY_INLINE void find_plane(std::size_t at, Numbers& of) {
  const Deviator d = of.matrix(at);
  const V scale = inverse_root(of.get(Numbers::n2, at));
  const Vector longest = of.vector(Numbers::n, at);
  const Vector n{hn::Mul(longest.x, scale), hn::Mul(longest.y, scale), hn::Mul(longest.z, scale)};
  const V sign = hn::CopySign(set(1), n.z);
  const V a = hn::Neg(inverse(hn::Add(sign, n.z)));
  const V xy = hn::Mul(hn::Mul(n.x, n.y), a);
  const V sx = hn::Mul(sign, n.x);
  const Vector u{fused_add(hn::Mul(sx, n.x), a, set(1)), hn::Mul(sign, xy), hn::Neg(sx)};
  const Vector w{xy, fused_add(hn::Mul(n.y, n.y), a, sign), hn::Neg(n.y)};
  const Vector du{fused_add(d.xx, u.x, fused_add(d.xy, u.y, hn::Mul(d.xz, u.z))),
                  fused_add(d.xy, u.x, fused_add(d.yy, u.y, hn::Mul(d.yz, u.z))),
                  fused_add(d.xz, u.x, fused_add(d.yz, u.y, hn::Mul(d.zz, u.z)))};
  of.put(Numbers::n, at, n);
  of.put(Numbers::u, at, u);
  of.put(Numbers::w, at, w);
  of.put(Numbers::deviation, at, fused_add(set(0.5), of.get(Numbers::isolated, at), dot(u, du)));
  of.put(Numbers::mixed, at, dot(w, du));
}
/// Finds the vectors of the four points.
HWY_INLINE void find_half_axes(std::size_t at, const Numbers& of, Vector& major, Vector& middle) {
  const V isolated = of.get(Numbers::isolated, at);
  const V deviation = of.get(Numbers::deviation, at);
  const V mixed = of.get(Numbers::mixed, at);
  const Vector n = of.vector(Numbers::n, at);
  const Vector u = of.vector(Numbers::u, at);
  const Vector w = of.vector(Numbers::w, at);
  const V half = root(fused_add(deviation, deviation, hn::Mul(mixed, mixed)));
  const V g = hn::Add(half, hn::Abs(deviation));
  const V norm2 = hn::Mul(hn::Add(half, half), g);
  const V scale = inverse_root(norm2);
  const auto turned = hn::Gt(norm2, set(1e-280));  // else any two axes will do
  const auto positive = hn::Ge(deviation, set(0));
  const V cosine = hn::IfThenElse(turned, hn::Mul(scale, hn::IfThenElse(positive, g, mixed)), set(1));
  const V sine = hn::IfThenElseZero(turned, hn::Mul(scale, hn::IfThenElse(positive, mixed, g)));
  const Vector first = combine(cosine, u, sine, w);
  const Vector second = combine(cosine, w, hn::Neg(sine), u);
  // a^2 - c^2 and b^2 - c^2: the isolated eigenvalue belongs to a^2 (positive) or c^2.
  const auto is_long = hn::Ge(isolated, set(0));
  const V three_halves = hn::Mul(set(1.5), hn::Abs(isolated));
  const V longest = hn::Add(three_halves, half);
  const V between = hn::IfThenElse(is_long, hn::Add(half, half), hn::Max(hn::Sub(three_halves, half), set(0)));
  const auto sphere = hn::Le(of.get(Numbers::p, at), of.get(Numbers::round2, at));
  const V one = hn::IfThenZeroElse(sphere, root(hn::Mul(longest, set(0.2))));
  const V two = hn::IfThenZeroElse(sphere, root(hn::Mul(between, set(0.2))));
  const Vector v1 = choose(is_long, n, first);
  const Vector v2 = choose(is_long, first, second);
  const auto scaled = [&](V factor, V x) HWY_ATTR { return hn::IfThenZeroElse(sphere, hn::Mul(factor, x)); };
  major = {scaled(one, v1.x), scaled(one, v1.y), scaled(one, v1.z)};
  middle = {scaled(two, v2.x), scaled(two, v2.y), scaled(two, v2.z)};
}

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
HWY_INLINE bool store_points(const BatchLanes& part, const Cells& cells, const Vector& major, const Vector& middle,
                             hn::Mask<D> fine) {
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

/// Body of find_points(): computes the four points of each parcel from the half axes of its ellipsoid B.
std::size_t FindPoints(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                       const Cells& of_rank, Batch* batches) {
  const Cells cells = of_rank;  // a copy, which stores to the batches cannot change
  // All input is gathered first: a vector load right after scalar stores to its memory would stall on store forwarding.
  BatchInput given[kMaxBatches];
  for (std::size_t b = 0; b < count; ++b) gather_input(sites, rows, index.order + b * kBatch, given[b]);
  Numbers numbers;
  // Memory for the next call, from position `count` on, is prefetched a little at a time, beside the arithmetic: one line of
  // each parcel, at `first` and its index times `stride`.
  const auto for_lanes = [&](const void* first, std::size_t stride, const auto& work) HWY_ATTR {
    for (std::size_t b = 0; b < count; ++b) {
      for (std::size_t n = (count + b) * kBatch; n < std::min((count + b + 1) * kBatch, index.size); ++n)
        __builtin_prefetch(static_cast<const char*>(first) + index.order[n] * stride, 0, 2);
      for (std::size_t k = 0; k < kBatch; k += hn::Lanes(D())) work(b, k);
    }
  };
  constexpr std::size_t kRow = Row::width * sizeof(double);
  for_lanes(rows, kRow, [&](std::size_t b, std::size_t k) HWY_ATTR {
    const BatchLanes from{given[b], batches[b], k};
    find_deviator({from.load(4), from.load(5), from.load(6), from.load(7), from.load(8), set(0)}, from.load(3),
                  b * kBatch + k, numbers);
  });
  for_lanes(sites, sizeof(Site),
            [&](std::size_t b, std::size_t k) HWY_ATTR { find_isolated(b * kBatch + k, numbers); });
  for (std::size_t at = 0; at < count * kBatch; at += hn::Lanes(D())) find_plane(at, numbers);
  std::size_t good = count;
  for_lanes(rows + Row::shape + 4, kRow, [&](std::size_t b, std::size_t k) HWY_ATTR {
    const BatchLanes part{given[b], batches[b], k};
    // Initialised, since implicit constructors are compiled without the options of the target.
    Vector major{set(0), set(0), set(0)};
    Vector middle = major;
    find_half_axes(b * kBatch + k, numbers, major, middle);
    // An ellipsoid has B11 > 0 and B33 > 0; not a number fails the comparison too.
    const auto fine = hn::And(hn::Gt(numbers.get(Numbers::b33, b * kBatch + k), set(0)), hn::Gt(part.load(4), set(0)));
    if (!store_points(part, cells, major, middle, fine)) good = std::min(good, b);
  });
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
      __builtin_prefetch(rows + index.order[n] * Row::width + Row::offsets, 0, 2);
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
