// Insertion into the k-nearest lists of scan_leaf(), for kernels that Highway compiles once per vector target; private to the module.
#if defined(MERGANSER_NEAREST_LEAF_LISTS) == defined(HWY_TARGET_TOGGLE)
#ifdef MERGANSER_NEAREST_LEAF_LISTS
#undef MERGANSER_NEAREST_LEAF_LISTS
#else
#define MERGANSER_NEAREST_LEAF_LISTS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "merganser/nearest/leaf_scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;

/// Inserts a point into the k-nearest list of query q if the point is among the k best; of equal distances the lower id
/// is better.
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

/// Returns the entries of a k-nearest list in a vector moved up by one lane, with `first` in the lowest.
template <class Tag, class T>
HWY_INLINE hn::Vec<Tag> shift_up(Tag tag, hn::Vec<Tag> v, T first) {
  const hn::RebindToUnsigned<D> u;
  const auto lane = hn::Iota(u, 0);
  const auto below =
      hn::Max(hn::BitCast(hn::RebindToSigned<D>(), hn::Sub(lane, hn::Set(u, 1))), hn::Zero(hn::RebindToSigned<D>()));
  const auto up = hn::TableLookupLanes(v, hn::IndicesFromVec(tag, below));
  return hn::IfThenElse(hn::FirstN(tag, 1), hn::Set(tag, first), up);
}

using U = hn::RebindToUnsigned<D>;

/// k-nearest list in a vector, or a part of a longer list: distances ascend over the lanes.
struct ListVector {
  V distance2;       // distances of the entries, in the measure of the norm
  hn::Vec<U> point;  // point numbers of the entries

  /// Returns whether the list contains this distance already: a tie, which ids decide.
  HWY_INLINE bool holds(V d2) const { return !hn::AllFalse(D(), hn::Eq(distance2, d2)); }
  /// Inserts a distance that is not in the list, without a branch on the outcome; larger ones change nothing. The part
  /// before this one ends with `before`.
  HWY_INLINE void insert(V d2, std::uint64_t number, double before, std::uint64_t point_before) {
    const D d;
    const U u;
    const V below = shift_up(d, distance2, before);
    const auto shift = hn::RebindMask(u, hn::Lt(d2, below));
    const auto here = hn::RebindMask(u, hn::Lt(d2, distance2));
    distance2 = hn::Min(distance2, hn::Max(below, d2));
    point = hn::IfThenElse(shift, shift_up(u, point, point_before), hn::IfThenElse(here, hn::Set(u, number), point));
  }
};

/// k-nearest list of one query point: in a vector if kOne (as many entries as lanes), else in memory.
template <bool kOne>
struct NearestList {
  const LeafPoints& points;
  const LeafLists& lists;
  std::uint32_t q;
  double* d2;
  std::uint64_t* point;
  ListVector row;

  /// Makes the view of the list of query `number` of scan_leaf(), loaded if it fits a vector.
  HWY_INLINE NearestList(const LeafPoints& p, const LeafLists& l, std::uint32_t number)
      : points(p),
        lists(l),
        q(number),
        d2(l.distance2 + static_cast<std::size_t>(number) * l.keep),
        point(l.point + static_cast<std::size_t>(number) * l.keep),
        row(load(0)) {}
  /// Loads a vector of entries of the k-nearest list from memory, from entry `first` on.
  HWY_INLINE ListVector load(std::uint32_t first) const {
    return {hn::Load(D(), d2 + first), hn::Load(U(), point + first)};
  }
  /// Stores a vector of entries of the k-nearest list to memory, from entry `first` on.
  HWY_INLINE void store(const ListVector& r, std::uint32_t first) const {
    hn::Store(r.distance2, D(), d2 + first);
    hn::Store(r.point, U(), point + first);
  }
  /// Returns the distance of the last entry of the k-nearest list: the limit for further points.
  HWY_INLINE double last() const { return d2[lists.keep - 1]; }

  /// Inserts a point into the k-nearest list; distances above last() change nothing. Ties go through memory by insert_by_id(),
  /// since ids are not in the vector.
  HWY_INLINE void insert(double distance, std::uint64_t number) {
    const V x = hn::Set(D(), distance);
    if constexpr (kOne) {
      if (!row.holds(x)) return row.insert(x, number, -1.0, 0);
      store(row, 0);
      insert_by_id(points, lists, q, number, distance);
      row = load(0);
      return;
    }
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(D()));
    bool held = false;
    for (std::uint32_t first = 0; first < lists.keep; first += lanes) held |= load(first).holds(x);
    if (held) return insert_by_id(points, lists, q, number, distance);
    for (std::uint32_t first = lists.keep; first > 0;) {
      first -= lanes;
      ListVector part = load(first);
      part.insert(x, number, first > 0 ? d2[first - 1] : -1.0, first > 0 ? point[first - 1] : 0);
      store(part, first);
    }
  }
  /// Writes a k-nearest list that is in a vector to memory.
  HWY_INLINE void store_vector() const {
    if constexpr (kOne) store(row, 0);
  }
};

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
