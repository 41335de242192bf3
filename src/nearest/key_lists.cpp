// Vectorised scan of the points of a leaf for lists of keys: a lane is a query. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/key_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "merganser/base/detail/highway.hpp"
#include "src/nearest/key_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using U = hn::RebindToUnsigned<D>;
using V = hn::Vec<D>;

constexpr std::uint64_t kNumberBits = 0xffffffff;  // bits of a key that hold the number of a point

/// Points of a leaf that a scan adds to lists of keys.
struct KeyLeaf {
  const LeafPoints& points;
  const double* lower;
  const double* upper;
  std::uint32_t begin;
  std::uint32_t end;
};

/// Returns the squared distance of separations on kAxes axes, added from the left without fused operations.
template <int kAxes>
HWY_INLINE V add_squares(const auto& separation) {
  V sum = hn::Mul(separation(0), separation(0));
  for (int a = 1; a < kAxes; ++a) sum = hn::Add(sum, hn::Mul(separation(a), separation(a)));
  return sum;
}

/// Adds the points of a leaf to the lists of the group of queries that begins with q. @tparam kOwn  the leaf is that of the queries
template <std::uint32_t kSlots, int kAxes, bool kOwn>
HWY_INLINE void scan_group(const KeyLeaf& leaf, KeyLists& lists, std::uint32_t q) {
  const D d;
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const auto number_bits = hn::Set(u, kNumberBits);
  double* const keys = lists.keys + static_cast<std::size_t>(q) * (kSlots + 1);
  V list[kSlots];
  for (std::uint32_t i = 0; i < kSlots; ++i) list[i] = hn::Load(d, keys + i * lanes);
  V left_out = hn::Load(d, keys + kSlots * lanes);
  V limit = hn::Load(d, lists.limit + q);
  V place[kAxes];
  for (int a = 0; a < kAxes; ++a) place[a] = hn::Load(d, lists.place[a] + q);
  auto number = hn::Set(u, leaf.begin);
  const auto self = hn::Iota(u, lists.first + q);
  for (std::uint32_t at = leaf.begin; at < leaf.end; ++at) {
    V separation[kAxes];
    for (int a = 0; a < kAxes; ++a) separation[a] = hn::Sub(place[a], hn::Set(d, leaf.points.axis[a][at]));
    const V d2 = add_squares<kAxes>([&](int a) HWY_ATTR { return separation[a]; });
    auto near = hn::Le(d2, limit);
    if constexpr (kOwn) near = hn::And(near, hn::RebindMask(d, hn::Ne(number, self)));
    if (!hn::AllFalse(d, near)) {
      V key = hn::BitCast(d, hn::Or(hn::AndNot(number_bits, hn::BitCast(u, d2)), number));
      if constexpr (kOwn) key = hn::IfThenElse(near, key, hn::Set(d, kNoKey));
      for (std::uint32_t i = 0; i < kSlots; ++i) {
        const V less = hn::Min(list[i], key);
        key = hn::Max(list[i], key);
        list[i] = less;
      }
      left_out = hn::Min(left_out, key);
      limit = hn::BitCast(d, hn::Or(hn::BitCast(u, list[kSlots - 1]), number_bits));
    }
    number = hn::Add(number, hn::Set(u, std::uint64_t{1}));
  }
  for (std::uint32_t i = 0; i < kSlots; ++i) hn::Store(list[i], d, keys + i * lanes);
  hn::Store(left_out, d, keys + kSlots * lanes);
  hn::Store(limit, d, lists.limit + q);
}

/// Adds the points of a leaf to all lists that its box is near enough to.
template <std::uint32_t kSlots, int kAxes>
void scan_groups(const KeyLeaf& leaf, KeyLists& lists) {
  const D d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  if (leaf.begin == lists.first) {
    for (std::uint32_t q = 0; q < lists.count; q += lanes) scan_group<kSlots, kAxes, true>(leaf, lists, q);
  } else {
    for (std::uint32_t q = 0; q < lists.count; q += lanes) {
      V gap[kAxes];
      for (int a = 0; a < kAxes; ++a) {
        const V place = hn::Load(d, lists.place[a] + q);
        gap[a] = hn::Max(hn::Max(hn::Sub(hn::Set(d, leaf.lower[a]), place), hn::Sub(place, hn::Set(d, leaf.upper[a]))),
                         hn::Zero(d));
      }
      const V d2 = add_squares<kAxes>([&](int a) HWY_ATTR { return gap[a]; });
      if (!hn::AllFalse(d, hn::Le(d2, hn::Load(d, lists.limit + q)))) scan_group<kSlots, kAxes, false>(leaf, lists, q);
    }
  }
  V worst = hn::Load(d, lists.limit);
  for (std::uint32_t q = lanes; q < lists.count; q += lanes) worst = hn::Max(worst, hn::Load(d, lists.limit + q));
  lists.worst = hn::GetLane(hn::MaxOfLanes(d, worst));
}

/// Calls body with the constant number of entries of a list that has room for `keep`.
HWY_INLINE void with_slots(std::uint32_t keep, const auto& body) {
  if (keep <= 4) return body(std::integral_constant<std::uint32_t, 4>());
  if (keep <= 8) return body(std::integral_constant<std::uint32_t, 8>());
  if (keep <= 13) return body(std::integral_constant<std::uint32_t, 13>());
  body(std::integral_constant<std::uint32_t, kMaxKeySlots>());
}

/// Adds the points of a leaf to all lists, by the loop for their length and number of axes (scan_keys()).
void ScanKeys(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
              std::uint32_t end, KeyLists& lists) {
  const KeyLeaf leaf{points, lower, upper, begin, end};
  with_slots(lists.slots, [&](auto slots) HWY_ATTR {
    if (lists.flat)
      scan_groups<decltype(slots)::value, 2>(leaf, lists);
    else
      scan_groups<decltype(slots)::value, 3>(leaf, lists);
  });
}

/// Sets the queries of a group and the entries of a list, by the vectors of the instruction set (begin_keys()).
void BeginKeys(std::uint32_t keep, KeyLists& lists) {
  lists.lanes = static_cast<std::uint32_t>(hn::Lanes(D()));
  with_slots(keep, [&](auto slots) { lists.slots = decltype(slots)::value; });
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(ScanKeys);
HWY_EXPORT(BeginKeys);

void begin_keys(const LeafPoints& points, bool flat, std::uint32_t keep, std::uint32_t begin, std::uint32_t end,
                KeyLists& lists) {
  MERGANSER_DISPATCH(BeginKeys)(keep, lists);
  lists.first = begin;
  lists.count = end - begin;
  lists.flat = flat;
  lists.worst = kNoKey;
  const std::uint32_t all = (lists.count + lists.lanes - 1) / lists.lanes * lists.lanes;
  for (std::size_t a = 0; a < 3; ++a) {
    std::copy_n(points.axis[a] + begin, lists.count, lists.place[a]);
    std::fill(lists.place[a] + lists.count, lists.place[a] + all, lists.place[a][lists.count - 1]);
  }
  std::fill_n(lists.limit, all, kNoKey);
  std::fill_n(lists.keys, static_cast<std::size_t>(all) * (lists.slots + 1), kNoKey);
}

void scan_keys(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
               std::uint32_t end, KeyLists& lists) {
  MERGANSER_DISPATCH(ScanKeys)(points, lower, upper, begin, end, lists);
}

}  // namespace merganser::nearest
#endif
