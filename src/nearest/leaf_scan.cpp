// Compiled once per vector target by Highway; see the end of the file for the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nearest/leaf_scan.cpp"
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

/// The same without a branch on the outcome, for distances that are not in the list. Larger ones change nothing.
HWY_INLINE void insert(const LeafLists& lists, std::uint32_t q, std::uint64_t point, double distance2) {
  const D d;
  const hn::RebindToUnsigned<D> u;
  double* const row = lists.distance2 + static_cast<std::size_t>(q) * lists.keep;
  std::uint64_t* const points = lists.point + static_cast<std::size_t>(q) * lists.keep;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const V x = hn::Set(d, distance2);
  for (std::uint32_t at = lists.keep; at > 0;) {
    at -= lanes;
    const V old = hn::Load(d, row + at);
    const V below = moved_up(d, old, at > 0 ? row[at - 1] : -1.0);
    const auto old_point = hn::Load(u, points + at);
    const auto below_point = moved_up(u, old_point, at > 0 ? points[at - 1] : std::uint64_t{0});
    const auto shift = hn::RebindMask(u, hn::Lt(x, below));
    const auto here = hn::RebindMask(u, hn::Lt(x, old));
    hn::Store(hn::Min(old, hn::Max(below, x)), d, row + at);
    hn::Store(hn::IfThenElse(shift, below_point, hn::IfThenElse(here, hn::Set(u, point), old_point)), u, points + at);
  }
}

HWY_INLINE bool holds(const LeafLists& lists, std::uint32_t q, double distance2) {
  const D d;
  const double* const row = lists.distance2 + static_cast<std::size_t>(q) * lists.keep;
  auto equal = hn::Lt(hn::Zero(d), hn::Zero(d));
  for (std::uint32_t at = 0; at < lists.keep; at += static_cast<std::uint32_t>(hn::Lanes(d)))
    equal = hn::Or(equal, hn::Eq(hn::Load(d, row + at), hn::Set(d, distance2)));
  return !hn::AllFalse(d, equal);
}

struct Run {
  std::uint32_t begin;
  std::uint32_t end;
};

template <bool kPeriodic, bool kCore>
HWY_INLINE void scan_for(const LeafPoints& points, const LeafLists& lists, std::uint32_t q, const Run& run) {
  const D d;
  alignas(64) double found[8];
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const std::uint32_t self = lists.first + q;
  const double* const last = lists.distance2 + static_cast<std::size_t>(q) * lists.keep + lists.keep - 1;
  const V x = hn::Set(d, points.x[self]);
  const V y = hn::Set(d, points.y[self]);
  const V z = hn::Set(d, points.z[self]);
  const V px = hn::Set(d, points.period[0]);
  const V py = hn::Set(d, points.period[1]);
  const V pz = hn::Set(d, points.period[2]);
  for (std::uint32_t at = run.begin; at < run.end; at += lanes) {
    V d2 = square_sum(separation<kPeriodic>(x, hn::LoadU(d, points.x + at), px),
                      separation<kPeriodic>(y, hn::LoadU(d, points.y + at), py),
                      separation<kPeriodic>(z, hn::LoadU(d, points.z + at), pz));
    if constexpr (kCore) {
      d2 = hn::Max(hn::Max(d2, hn::Set(d, points.core[self])), hn::LoadU(d, points.core + at));
    }
    const auto near = hn::And(hn::Le(d2, hn::Set(d, *last)), hn::FirstN(d, run.end - at));
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, near, bytes);
    if (bytes[0] == 0) continue;
    hn::Store(d2, d, found);
    for (unsigned bits = bytes[0]; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
      if (at + lane == self) continue;
      if (holds(lists, q, found[lane]))
        insert_by_id(points, lists, q, at + lane, found[lane]);
      else
        insert(lists, q, at + lane, found[lane]);
    }
  }
  lists.limit[q] = *last;
}

template <bool kPeriodic, bool kCore>
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
      scan_for<kPeriodic, kCore>(points, lists, q + static_cast<std::uint32_t>(__builtin_ctz(bits)), run);
    worst = hn::Max(worst, hn::LoadU(d, lists.limit + q));
  }
  return hn::GetLane(hn::MaxOfLanes(d, worst));
}

double ScanLeaf(const LeafPoints& points, const LeafLists& lists, const Vec3& lower, const Vec3& upper,
                std::uint32_t begin, std::uint32_t end) {
  const Run run{begin, end};
  if (points.core == nullptr) {
    return points.periodic ? scan_box<true, false>(points, lists, lower, upper, run)
                           : scan_box<false, false>(points, lists, lower, upper, run);
  }
  return points.periodic ? scan_box<true, true>(points, lists, lower, upper, run)
                         : scan_box<false, true>(points, lists, lower, upper, run);
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
