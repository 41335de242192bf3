// Vectorised scan of the points of a tree leaf for k-nearest lists. Compiled once per vector target by Highway; the end
// of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/leaf_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "merganser/nearest/leaf_scan.hpp"
#include "src/nearest/leaf_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the canonical separation of points on one axis, by lane; an infinite period leaves |a - b|.
template <bool kPeriodic>
HWY_INLINE V separation(V a, V b, V period) {
  const V d = hn::Abs(hn::Sub(a, b));
  if constexpr (!kPeriodic) return d;
  return hn::Min(hn::Abs(hn::Sub(period, d)), d);
}

/// Returns the squared distance from three separations, added from the left as the canonical distance is, without fused operations.
HWY_INLINE V square_sum(V x, V y, V z) { return hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z)); }

/// Returns a lower bound of the separation, on one axis, of query points p from anything in the interval lower .. upper of a box.
template <bool kPeriodic>
HWY_INLINE V gap(V p, V lower, V upper, V period) {
  const V zero = hn::Zero(D());
  const V direct = hn::Max(hn::Max(hn::Sub(lower, p), hn::Sub(p, upper)), zero);
  if constexpr (!kPeriodic) return direct;
  const V far = hn::Max(hn::Sub(upper, p), hn::Sub(p, lower));
  return hn::Min(direct, hn::Max(hn::Sub(period, far), zero));
}

/// Range of the points of a tree leaf, begin .. end - 1.
struct PointRange {
  std::uint32_t begin;
  std::uint32_t end;
};

using Norm = merganser::nearest::Norm;

/// Distance policy of leaf scans: three axes with the sum of squares, unrolled. A policy gives the distances of one position to
/// points (operator()) and their lower bounds to a box (gaps).
template <bool kPeriodic>
struct ThreeAxes {
  /// Returns lower bounds of the distances from a vector of query points, from index `at` on, to the box of a tree leaf.
  static HWY_INLINE V gaps(const LeafPoints& points, const double* lower, const double* upper, std::size_t at) {
    const D d;
    const auto one = [&](std::size_t a) HWY_ATTR {
      return gap<kPeriodic>(hn::LoadU(d, points.axis[a] + at), hn::Set(d, lower[a]), hn::Set(d, upper[a]),
                            hn::Set(d, points.period[a]));
    };
    return square_sum(one(0), one(1), one(2));
  }

  const LeafPoints& points;
  V x, y, z, px, py, pz;

  HWY_INLINE ThreeAxes(const LeafPoints& p, std::uint32_t self)
      : points(p),
        x(hn::Set(D(), p.axis[0][self])),
        y(hn::Set(D(), p.axis[1][self])),
        z(hn::Set(D(), p.axis[2][self])),
        px(hn::Set(D(), p.period[0])),
        py(hn::Set(D(), p.period[1])),
        pz(hn::Set(D(), p.period[2])) {}
  /// Returns the distances of the position to a vector of points from index `at` on.
  HWY_INLINE V operator()(std::uint32_t at, V /*most*/) const {
    const D d;
    return square_sum(separation<kPeriodic>(x, hn::LoadU(d, points.axis[0] + at), px),
                      separation<kPeriodic>(y, hn::LoadU(d, points.axis[1] + at), py),
                      separation<kPeriodic>(z, hn::LoadU(d, points.axis[2] + at), pz));
  }
};

/// Returns the term of the first axis of a distance between points in a norm (squares, sum or greatest).
template <Norm kNorm>
HWY_INLINE V first_term(V s) {
  return kNorm == Norm::squares ? hn::Mul(s, s) : s;
}
/// Adds the term of a further axis to a distance between points in a norm (squares, sum or greatest).
template <Norm kNorm>
HWY_INLINE V add_term(V sum, V s) {
  if constexpr (kNorm == Norm::squares) return hn::Add(sum, hn::Mul(s, s));
  return kNorm == Norm::sum ? hn::Add(sum, s) : hn::Max(sum, s);
}

/// Distance policy of leaf scans: any number of axes, any norm. A sum whose first terms are beyond `most` in all lanes is not
/// completed, since any number above it will do.
template <bool kPeriodic, Norm kNorm>
struct ManyAxes {
  static constexpr int kLook = 4;  // axes between two comparisons with the limit

  /// Returns lower bounds of the distances from a vector of query points, from index `at` on, to the box of a tree leaf.
  static HWY_INLINE V gaps(const LeafPoints& points, const double* lower, const double* upper, std::size_t at) {
    const D d;
    const auto one = [&](int a) HWY_ATTR {
      return gap<kPeriodic>(hn::LoadU(d, points.axis[a] + at), hn::Set(d, lower[a]), hn::Set(d, upper[a]),
                            hn::Set(d, points.period[a]));
    };
    V sum = first_term<kNorm>(one(0));
    for (int a = 1; a < points.axes; ++a) sum = add_term<kNorm>(sum, one(a));
    return sum;
  }

  const LeafPoints& points;
  double place[LeafPoints::kMaxAxes];

  HWY_INLINE ManyAxes(const LeafPoints& p, std::uint32_t self) : points(p) {
    for (int a = 0; a < p.axes; ++a) place[a] = p.axis[a][self];
  }
  HWY_INLINE ManyAxes(const LeafPoints& p, const double* at) : points(p) {
    for (int a = 0; a < p.axes; ++a) place[a] = at[a];
  }
  /// Returns the separation, on axis a, of the position from a vector of points from index `at` on.
  HWY_INLINE V term(int a, std::uint32_t at) const {
    const D d;
    return separation<kPeriodic>(hn::Set(d, place[a]), hn::LoadU(d, points.axis[a] + at), hn::Set(d, points.period[a]));
  }
  /// Returns the distances of the position to a vector of points from index `at` on; any number above `most` if all are beyond.
  HWY_INLINE V operator()(std::uint32_t at, V most) const {
    V sum = first_term<kNorm>(term(0, at));
    const int first = points.axes < kLook ? points.axes : kLook;
    for (int a = 1; a < first; ++a) sum = add_term<kNorm>(sum, term(a, at));
    for (int a = first; a < points.axes;) {
      if (hn::AllFalse(D(), hn::Le(sum, most))) return sum;
      const int end = a + kLook < points.axes ? a + kLook : points.axes;
      for (; a < end; ++a) sum = add_term<kNorm>(sum, term(a, at));
    }
    return sum;
  }
};

/// Distance policy of leaf scans: points of the unit sphere, by squared chords and, beyond kFarChord2, by 4 - |a + b|.
struct UnitSphere {
  /// Returns lower bounds, in the chord measure of UnitSphere, of the distances from a vector of query points of a leaf scan, from
  /// index `at` on, to the box of a tree leaf of the k-nearest search.
  static HWY_INLINE V gaps(const LeafPoints& points, const double* lower, const double* upper, std::size_t at) {
    const D d;
    const V chord2 = ThreeAxes<false>::gaps(points, lower, upper, at);
    const auto far = hn::Gt(chord2, hn::Set(d, kFarChord2));
    if (hn::AllFalse(d, far)) return chord2;
    alignas(64) double bound[8];
    hn::Store(chord2, d, bound);
    for (std::size_t i = 0; i < hn::Lanes(d); ++i) bound[i] = sphere_lower_bound(bound[i]);
    return hn::Load(d, bound);
  }

  const LeafPoints& points;
  double place[3];

  HWY_INLINE UnitSphere(const LeafPoints& p, std::uint32_t self)
      : points(p), place{p.axis[0][self], p.axis[1][self], p.axis[2][self]} {}
  HWY_INLINE UnitSphere(const LeafPoints& p, const double* at) : points(p), place{at[0], at[1], at[2]} {}
  /// Returns the distances of the position to a vector of points from index `at` on.
  HWY_INLINE V operator()(std::uint32_t at, V /*most*/) const {
    const D d;
    const V ax = hn::Set(d, place[0]);
    const V ay = hn::Set(d, place[1]);
    const V az = hn::Set(d, place[2]);
    const V x = hn::LoadU(d, points.axis[0] + at);
    const V y = hn::LoadU(d, points.axis[1] + at);
    const V z = hn::LoadU(d, points.axis[2] + at);
    const V chord2 = square_sum(hn::Sub(ax, x), hn::Sub(ay, y), hn::Sub(az, z));
    const auto far = hn::Gt(chord2, hn::Set(d, kFarChord2));
    if (hn::AllFalse(d, far)) return chord2;
    const V sum = hn::Sqrt(square_sum(hn::Add(ax, x), hn::Add(ay, y), hn::Add(az, z)));
    return hn::IfThenElse(far, hn::Max(hn::Sub(hn::Set(d, 4.0), sum), hn::Set(d, kFarChord2)), chord2);
  }
};

/// Vectorised step of scan_leaf() for one query q: inserts the points of a tree leaf that are near enough into its k-nearest list,
/// and updates its limit.
template <class Space, bool kCore, bool kOne>
HWY_INLINE void scan_for(const LeafPoints& points, const LeafLists& lists, std::uint32_t q, const PointRange& run) {
  const D d;
  alignas(64) double found[8];
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const std::uint32_t self = lists.first + q;
  NearestList<kOne> list(points, lists, q);
  const Space space(points, self);
  V last = hn::Set(d, list.last());
  for (std::uint32_t at = run.begin; at < run.end; at += lanes) {
    V d2 = space(at, last);
    if constexpr (kCore) {
      d2 = hn::Max(hn::Max(d2, hn::Set(d, points.core[self])), hn::LoadU(d, points.core + at));
    }
    const auto near = hn::And(hn::Le(d2, last), hn::FirstN(d, run.end - at));
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, near, bytes);
    if (bytes[0] == 0) continue;
    hn::Store(d2, d, found);
    // Few lanes are within the last distance of the list: these are inserted one by one.
    for (unsigned bits = bytes[0]; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
      if (at + lane != self) list.insert(found[lane], at + lane);
    }
    list.store_vector();
    last = hn::Set(d, list.last());
  }
  lists.limit[q] = list.last();
}

/// Vectorised step of scan_leaf(): inserts the points of a tree leaf into the k-nearest lists of all queries to which the leaf's
/// bounding box is near enough.
/// @return the greatest limit of all lists
template <class Space, bool kCore, bool kOne>
HWY_INLINE double scan_box(const LeafPoints& points, const LeafLists& lists, const double* lower, const double* upper,
                           const PointRange& run) {
  const D d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  V worst = hn::Set(d, -1.0);
  for (std::uint32_t q = 0; q < lists.count; q += lanes) {
    const V b2 = Space::gaps(points, lower, upper, lists.first + q);
    const auto near = hn::Le(b2, hn::LoadU(d, lists.limit + q));
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, near, bytes);
    for (unsigned bits = bytes[0]; bits != 0; bits &= bits - 1)
      scan_for<Space, kCore, kOne>(points, lists, q + static_cast<std::uint32_t>(__builtin_ctz(bits)), run);
    worst = hn::Max(worst, hn::LoadU(d, lists.limit + q));
  }
  return hn::GetLane(hn::MaxOfLanes(d, worst));
}

/// Points of a tree leaf and their bounding box, the leaf of one call of scan_leaf().
struct ScanBox {
  const double* lower;  // lower corner of the leaf's box, one number per axis
  const double* upper;  // upper corner of the leaf's box, one number per axis
  PointRange run;
};
/// Part of the body of scan_leaf(): selects the scan of a tree leaf with or without core distances.
template <class Space, bool kOne>
double scan_cores(const LeafPoints& points, const LeafLists& lists, const ScanBox& box) {
  return points.core != nullptr ? scan_box<Space, true, kOne>(points, lists, box.lower, box.upper, box.run)
                                : scan_box<Space, false, kOne>(points, lists, box.lower, box.upper, box.run);
}

/// Body of scan_leaf(), the leaf step of a k-nearest search in a tree: selects the distance policy by metric and axes.
double ScanLeaf(const LeafPoints& points, const LeafLists& lists, const double* lower, const double* upper,
                std::uint32_t begin, std::uint32_t end) {
  const ScanBox box{lower, upper, {begin, end}};
  const bool one = !points.periodic && lists.keep == hn::Lanes(D());
  if (points.sphere) return scan_cores<UnitSphere, false>(points, lists, box);
  if (points.norm == Norm::sum) return scan_cores<ManyAxes<true, Norm::sum>, false>(points, lists, box);
  if (points.norm == Norm::most) return scan_cores<ManyAxes<true, Norm::most>, false>(points, lists, box);
  if (points.axes > 3) {
    return one               ? scan_cores<ManyAxes<false, Norm::squares>, true>(points, lists, box)
           : points.periodic ? scan_cores<ManyAxes<true, Norm::squares>, false>(points, lists, box)
                             : scan_cores<ManyAxes<false, Norm::squares>, false>(points, lists, box);
  }
  return one               ? scan_cores<ThreeAxes<false>, true>(points, lists, box)
         : points.periodic ? scan_cores<ThreeAxes<true>, false>(points, lists, box)
                           : scan_cores<ThreeAxes<false>, false>(points, lists, box);
}

/// Vectorised step of leaf_distances(): computes the distances of a position to the points of a tree leaf; beyond `most`, any
/// number above it.
template <class Space>
HWY_INLINE void distances_in(const LeafPoints& points, const double* place, double most, const PointRange& run,
                             double* to) {
  const D d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const Space space(points, place);
  const V limit = hn::Set(d, most);
  for (std::uint32_t at = run.begin; at < run.end; at += lanes) hn::StoreU(space(at, limit), d, to + (at - run.begin));
}

/// Body of leaf_distances(): selects the distance policy by metric.
void LeafDistances(const LeafPoints& points, const double* place, double most, std::uint32_t begin, std::uint32_t end,
                   double* to) {
  const PointRange run{begin, end};
  if (points.sphere) return distances_in<UnitSphere>(points, place, most, run, to);
  if (points.norm == Norm::sum) return distances_in<ManyAxes<true, Norm::sum>>(points, place, most, run, to);
  if (points.norm == Norm::most) return distances_in<ManyAxes<true, Norm::most>>(points, place, most, run, to);
  if (points.periodic) return distances_in<ManyAxes<true, Norm::squares>>(points, place, most, run, to);
  return distances_in<ManyAxes<false, Norm::squares>>(points, place, most, run, to);
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(ScanLeaf);
HWY_EXPORT(LeafDistances);

double scan_leaf(const LeafPoints& points, const LeafLists& lists, const double* lower, const double* upper,
                 std::uint32_t begin, std::uint32_t end) {
  return MERGANSER_DISPATCH(ScanLeaf)(points, lists, lower, upper, begin, end);
}

void leaf_distances(const LeafPoints& points, const double* place, double most, std::uint32_t begin, std::uint32_t end,
                    double* to) {
  MERGANSER_DISPATCH(LeafDistances)(points, place, most, begin, end, to);
}

}  // namespace merganser::nearest
#endif
