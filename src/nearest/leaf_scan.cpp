// Compiled once per vector target by Highway; see the end of the file for the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/leaf_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/nearest/leaf_scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

/// The canonical separation; an infinite period leaves |a - b|.
template <bool kPeriodic>
HWY_INLINE V separation(V a, V b, V period) {
  const V d = hn::Abs(hn::Sub(a, b));
  if constexpr (!kPeriodic) return d;
  return hn::Min(hn::Abs(hn::Sub(period, d)), d);
}

HWY_INLINE V square_sum(V x, V y, V z) { return hn::Add(hn::Add(hn::Mul(x, x), hn::Mul(y, y)), hn::Mul(z, z)); }

/// Lower bound of the separation to anything in lower .. upper.
template <bool kPeriodic>
HWY_INLINE V gap(V p, V lower, V upper, V period) {
  const V zero = hn::Zero(D());
  const V direct = hn::Max(hn::Max(hn::Sub(lower, p), hn::Sub(p, upper)), zero);
  if constexpr (!kPeriodic) return direct;
  const V far = hn::Max(hn::Sub(upper, p), hn::Sub(p, lower));
  return hn::Min(direct, hn::Max(hn::Sub(period, far), zero));
}

/// Puts a point into a list if it is among the best; of equal distances the lower id is better.
HWY_INLINE void insert_by_id(const LeafPoints& points, const LeafLists& lists, std::uint32_t q, std::uint64_t point,
                             double distance2) {
  double* const d = lists.distance2 + static_cast<std::size_t>(q) * lists.keep;
  std::uint64_t* const p = lists.point + static_cast<std::size_t>(q) * lists.keep;
  const auto worse = [&](std::uint32_t at) {
    return d[at] > distance2 || (d[at] == distance2 && points.ids[p[at]] > points.ids[point]);
  };
  std::uint32_t at = lists.keep - 1;
  if (!worse(at)) return;
  for (; at > 0 && worse(at - 1); --at) {
    d[at] = d[at - 1];
    p[at] = p[at - 1];
  }
  d[at] = distance2;
  p[at] = point;
}

/// The lanes of a vector moved up by one, `first` in the lowest.
template <class Tag, class T>
HWY_INLINE hn::Vec<Tag> moved_up(Tag tag, hn::Vec<Tag> v, T first) {
  const hn::RebindToUnsigned<D> u;
  const auto lane = hn::Iota(u, 0);
  const auto below =
      hn::Max(hn::BitCast(hn::RebindToSigned<D>(), hn::Sub(lane, hn::Set(u, 1))), hn::Zero(hn::RebindToSigned<D>()));
  const auto up = hn::TableLookupLanes(v, hn::IndicesFromVec(tag, below));
  return hn::IfThenElse(hn::FirstN(tag, 1), hn::Set(tag, first), up);
}

using U = hn::RebindToUnsigned<D>;

/// A list in a vector, or the part of one between two others.
struct Row {
  V distance2;
  hn::Vec<U> point;

  HWY_INLINE bool holds(V d2) const { return !hn::AllFalse(D(), hn::Eq(distance2, d2)); }
  /// Puts in a distance that is not there, without a branch on the outcome; larger ones change nothing. What is before
  /// this part ends with `before`.
  HWY_INLINE void insert(V d2, std::uint64_t number, double before, std::uint64_t point_before) {
    const D d;
    const U u;
    const V below = moved_up(d, distance2, before);
    const auto shift = hn::RebindMask(u, hn::Lt(d2, below));
    const auto here = hn::RebindMask(u, hn::Lt(d2, distance2));
    distance2 = hn::Min(distance2, hn::Max(below, d2));
    point = hn::IfThenElse(shift, moved_up(u, point, point_before), hn::IfThenElse(here, hn::Set(u, number), point));
  }
};

/// The list of one point: in a vector if kOne, else in memory.
template <bool kOne>
struct List {
  const LeafPoints& points;
  const LeafLists& lists;
  std::uint32_t q;
  double* d2;
  std::uint64_t* point;
  Row row;

  HWY_INLINE List(const LeafPoints& p, const LeafLists& l, std::uint32_t number)
      : points(p),
        lists(l),
        q(number),
        d2(l.distance2 + static_cast<std::size_t>(number) * l.keep),
        point(l.point + static_cast<std::size_t>(number) * l.keep),
        row(at(0)) {}
  HWY_INLINE Row at(std::uint32_t first) const { return {hn::Load(D(), d2 + first), hn::Load(U(), point + first)}; }
  HWY_INLINE void keep(const Row& r, std::uint32_t first) const {
    hn::Store(r.distance2, D(), d2 + first);
    hn::Store(r.point, U(), point + first);
  }
  HWY_INLINE double last() const { return d2[lists.keep - 1]; }

  HWY_INLINE void insert(double distance, std::uint64_t number) {
    const V x = hn::Set(D(), distance);
    if constexpr (kOne) {
      if (!row.holds(x)) return row.insert(x, number, -1.0, 0);
      keep(row, 0);
      insert_by_id(points, lists, q, number, distance);
      row = at(0);
      return;
    }
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(D()));
    bool held = false;
    for (std::uint32_t first = 0; first < lists.keep; first += lanes) held |= at(first).holds(x);
    if (held) return insert_by_id(points, lists, q, number, distance);
    for (std::uint32_t first = lists.keep; first > 0;) {
      first -= lanes;
      Row part = at(first);
      part.insert(x, number, first > 0 ? d2[first - 1] : -1.0, first > 0 ? point[first - 1] : 0);
      keep(part, first);
    }
  }
  HWY_INLINE void close() const {
    if constexpr (kOne) keep(row, 0);
  }
};

struct Run {
  std::uint32_t begin;
  std::uint32_t end;
};

template <bool kPeriodic, bool kCore, bool kOne>
HWY_INLINE void scan_for(const LeafPoints& points, const LeafLists& lists, std::uint32_t q, const Run& run) {
  const D d;
  alignas(64) double found[8];
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const std::uint32_t self = lists.first + q;
  List<kOne> list(points, lists, q);
  const V x = hn::Set(d, points.x[self]);
  const V y = hn::Set(d, points.y[self]);
  const V z = hn::Set(d, points.z[self]);
  const V px = hn::Set(d, points.period[0]);
  const V py = hn::Set(d, points.period[1]);
  const V pz = hn::Set(d, points.period[2]);
  V last = hn::Set(d, list.last());
  for (std::uint32_t at = run.begin; at < run.end; at += lanes) {
    V d2 = square_sum(separation<kPeriodic>(x, hn::LoadU(d, points.x + at), px),
                      separation<kPeriodic>(y, hn::LoadU(d, points.y + at), py),
                      separation<kPeriodic>(z, hn::LoadU(d, points.z + at), pz));
    if constexpr (kCore) {
      d2 = hn::Max(hn::Max(d2, hn::Set(d, points.core[self])), hn::LoadU(d, points.core + at));
    }
    const auto near = hn::And(hn::Le(d2, last), hn::FirstN(d, run.end - at));
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, near, bytes);
    if (bytes[0] == 0) continue;
    hn::Store(d2, d, found);
    for (unsigned bits = bytes[0]; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
      if (at + lane != self) list.insert(found[lane], at + lane);
    }
    list.close();
    last = hn::Set(d, list.last());
  }
  lists.limit[q] = list.last();
}

template <bool kPeriodic, bool kCore, bool kOne>
HWY_INLINE double scan_box(const LeafPoints& points, const LeafLists& lists, const Vec3& lower, const Vec3& upper,
                           const Run& run) {
  const D d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  V worst = hn::Set(d, -1.0);
  for (std::uint32_t q = 0; q < lists.count; q += lanes) {
    const std::size_t self = lists.first + q;
    const V b2 = square_sum(gap<kPeriodic>(hn::LoadU(d, points.x + self), hn::Set(d, lower[0]), hn::Set(d, upper[0]),
                                           hn::Set(d, points.period[0])),
                            gap<kPeriodic>(hn::LoadU(d, points.y + self), hn::Set(d, lower[1]), hn::Set(d, upper[1]),
                                           hn::Set(d, points.period[1])),
                            gap<kPeriodic>(hn::LoadU(d, points.z + self), hn::Set(d, lower[2]), hn::Set(d, upper[2]),
                                           hn::Set(d, points.period[2])));
    const auto near = hn::Le(b2, hn::LoadU(d, lists.limit + q));
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, near, bytes);
    for (unsigned bits = bytes[0]; bits != 0; bits &= bits - 1)
      scan_for<kPeriodic, kCore, kOne>(points, lists, q + static_cast<std::uint32_t>(__builtin_ctz(bits)), run);
    worst = hn::Max(worst, hn::LoadU(d, lists.limit + q));
  }
  return hn::GetLane(hn::MaxOfLanes(d, worst));
}

double ScanLeaf(const LeafPoints& points, const LeafLists& lists, const Vec3& lower, const Vec3& upper,
                std::uint32_t begin, std::uint32_t end) {
  const Run run{begin, end};
  const bool one = !points.periodic && lists.keep == hn::Lanes(D());
  if (points.core != nullptr) {
    return one               ? scan_box<false, true, true>(points, lists, lower, upper, run)
           : points.periodic ? scan_box<true, true, false>(points, lists, lower, upper, run)
                             : scan_box<false, true, false>(points, lists, lower, upper, run);
  }
  return one               ? scan_box<false, false, true>(points, lists, lower, upper, run)
         : points.periodic ? scan_box<true, false, false>(points, lists, lower, upper, run)
                           : scan_box<false, false, false>(points, lists, lower, upper, run);
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(ScanLeaf);

double scan_leaf(const LeafPoints& points, const LeafLists& lists, const Vec3& lower, const Vec3& upper,
                 std::uint32_t begin, std::uint32_t end) {
  return HWY_DYNAMIC_DISPATCH(ScanLeaf)(points, lists, lower, upper, begin, end);
}

}  // namespace merganser::nearest
#endif
