// Vectorised scan of the points of a leaf for lists of keys: a lane is a query. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/key_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "merganser/base/detail/highway.hpp"
#include "src/nearest/key_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;
using U = hn::RebindToUnsigned<F>;
using V = hn::Vec<F>;

/// Points of a leaf that a scan adds to lists of keys, in the coordinates of the lists.
struct KeyLeaf {
  std::uint32_t begin;  ///< number of the first point
  std::uint32_t count;
  alignas(64) float axis[3][kMaxLeafPoints + 16];
};

/// Converts the coordinates of the points of a leaf to those of the lists.
template <int kAxes>
HWY_INLINE void convert(const LeafPoints& points, const KeyLists& lists, KeyLeaf& leaf) {
  const hn::CappedTag<double, 8> d;
  const hn::Rebind<float, decltype(d)> f;
  const auto scale = hn::Set(d, lists.scale);
  for (int a = 0; a < kAxes; ++a) {
    const auto centre = hn::Set(d, lists.centre[a]);
    for (std::uint32_t i = 0; i < leaf.count; i += static_cast<std::uint32_t>(hn::Lanes(d))) {
      const auto x = hn::LoadU(d, points.axis[a] + leaf.begin + i);
      hn::StoreU(hn::DemoteTo(f, hn::Mul(hn::Sub(x, centre), scale)), f, leaf.axis[a] + i);
    }
  }
}

/// Returns the squared length of a vector of kAxes components.
template <int kAxes>
HWY_INLINE V square(const V* component) {
  V sum = hn::Mul(component[0], component[0]);
  for (int a = 1; a < kAxes; ++a) sum = hn::MulAdd(component[a], component[a], sum);
  return sum;
}

/// Adds the points of a leaf to the lists of the group of queries that begins with q. @tparam kOwn  the leaf is that of the queries
template <std::uint32_t kSlots, int kAxes, bool kOwn>
HWY_INLINE void scan_group(const KeyLeaf& leaf, KeyLists& lists, std::uint32_t q) {
  const F f;
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  const auto candidate_bits = hn::Set(u, kCandidateBits);
  const auto prefix_step = hn::Set(u, kPrefixStep);
  std::uint32_t* const keys = lists.keys + static_cast<std::size_t>(q) * (kSlots + 1);
  hn::Vec<U> list[kSlots];
  for (std::uint32_t i = 0; i < kSlots; ++i) list[i] = hn::Load(u, keys + i * lanes);
  auto left_out = hn::Load(u, keys + kSlots * lanes);
  V limit = hn::Load(f, lists.limit + q);
  V place[kAxes];
  for (int a = 0; a < kAxes; ++a) place[a] = hn::Load(f, lists.place[a] + q);
  std::uint32_t* const candidate = lists.candidate + q / lanes * KeyLists::kCandidates;
  std::uint32_t candidates = lists.candidates[q / lanes];
  const auto self = hn::Iota(u, q);
  for (std::uint32_t i = 0; i < leaf.count; ++i) {
    V separation[kAxes];
    for (int a = 0; a < kAxes; ++a) separation[a] = hn::Sub(place[a], hn::Set(f, leaf.axis[a][i]));
    const V d2 = square<kAxes>(separation);
    auto near = hn::Le(d2, limit);
    if constexpr (kOwn) near = hn::And(near, hn::RebindMask(f, hn::Ne(self, hn::Set(u, i))));
    if (hn::AllFalse(f, near)) continue;
    const std::uint32_t number = std::min(candidates++, kCandidateBits);
    candidate[number] = leaf.begin + i;
    auto key = hn::Or(hn::AndNot(candidate_bits, hn::BitCast(u, d2)), hn::Set(u, number));
    if constexpr (kOwn) key = hn::IfThenElse(hn::RebindMask(u, near), key, hn::Set(u, kNoKey));
    for (std::uint32_t slot = 0; slot < kSlots; ++slot) {
      const auto less = hn::Min(list[slot], key);
      key = hn::Max(list[slot], key);
      list[slot] = less;
    }
    left_out = hn::Min(left_out, key);
    limit = hn::BitCast(f, hn::Add(hn::Or(list[kSlots - 1], candidate_bits), prefix_step));
  }
  lists.candidates[q / lanes] = candidates;
  for (std::uint32_t i = 0; i < kSlots; ++i) hn::Store(list[i], u, keys + i * lanes);
  hn::Store(left_out, u, keys + kSlots * lanes);
  hn::Store(limit, f, lists.limit + q);
}

/// Adds the points of a leaf to all lists that its box is near enough to.
template <std::uint32_t kSlots, int kAxes>
void scan_groups(const LeafPoints& points, const double* lower, const double* upper, KeyLeaf& leaf, KeyLists& lists) {
  const F f;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  if (leaf.begin == lists.first) {
    convert<kAxes>(points, lists, leaf);
    for (std::uint32_t q = 0; q < lists.count; q += lanes) scan_group<kSlots, kAxes, true>(leaf, lists, q);
  } else {
    V low[kAxes];
    V high[kAxes];
    for (int a = 0; a < kAxes; ++a) {
      low[a] = hn::Set(f, static_cast<float>((lower[a] - lists.centre[a]) * lists.scale));
      high[a] = hn::Set(f, static_cast<float>((upper[a] - lists.centre[a]) * lists.scale));
    }
    bool converted = false;
    for (std::uint32_t q = 0; q < lists.count; q += lanes) {
      V gap[kAxes];
      for (int a = 0; a < kAxes; ++a) {
        const V place = hn::Load(f, lists.place[a] + q);
        gap[a] = hn::Max(hn::Max(hn::Sub(low[a], place), hn::Sub(place, high[a])), hn::Zero(f));
      }
      if (hn::AllFalse(f, hn::Le(square<kAxes>(gap), hn::Load(f, lists.limit + q)))) continue;
      if (!converted) convert<kAxes>(points, lists, leaf);
      converted = true;
      scan_group<kSlots, kAxes, false>(leaf, lists, q);
    }
  }
  V worst = hn::Load(f, lists.limit);
  for (std::uint32_t q = lanes; q < lists.count; q += lanes) worst = hn::Max(worst, hn::Load(f, lists.limit + q));
  lists.worst = static_cast<double>(hn::GetLane(hn::MaxOfLanes(f, worst))) / lists.scale / lists.scale;
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
  KeyLeaf leaf;
  leaf.begin = begin;
  leaf.count = end - begin;
  with_slots(lists.slots, [&](auto slots) HWY_ATTR {
    if (lists.flat)
      scan_groups<decltype(slots)::value, 2>(points, lower, upper, leaf, lists);
    else
      scan_groups<decltype(slots)::value, 3>(points, lower, upper, leaf, lists);
  });
}

/// Sets the queries of a group and the entries of a list, by the vectors of the instruction set (begin_keys()).
void BeginKeys(std::uint32_t keep, KeyLists& lists) {
  lists.lanes = static_cast<std::uint32_t>(hn::Lanes(F()));
  with_slots(keep, [&](auto slots) { lists.slots = decltype(slots)::value; });
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(ScanKeys);
HWY_EXPORT(BeginKeys);

bool begin_keys(const LeafPoints& points, const double* lower, const double* upper, double extent, bool flat,
                std::uint32_t keep, std::uint32_t begin, std::uint32_t end, KeyLists& lists) {
  if (!(extent > 1e-100 && extent < 1e100))
    return false;  // squared distances, so scaled and as they are, are normal numbers
  MERGANSER_DISPATCH(BeginKeys)(keep, lists);
  lists.first = begin;
  lists.count = end - begin;
  lists.flat = flat;
  lists.worst = std::numeric_limits<double>::infinity();
  lists.scale = std::ldexp(1.0, -std::ilogb(extent));
  const std::uint32_t groups = (lists.count + lists.lanes - 1) / lists.lanes;
  const std::uint32_t all = groups * lists.lanes;
  double half2 = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const double half = upper[a] / 2 - lower[a] / 2;
    half2 += half * half;
    lists.centre[a] = lower[a] + half;
    for (std::uint32_t q = 0; q < lists.count; ++q)
      lists.place[a][q] = static_cast<float>((points.axis[a][begin + q] - lists.centre[a]) * lists.scale);
    std::fill(lists.place[a] + lists.count, lists.place[a] + all, lists.place[a][lists.count - 1]);
  }
  lists.slack = std::sqrt(half2) * lists.scale * 0x1p-22;
  std::fill_n(lists.limit, all, std::bit_cast<float>(kNoKey + kPrefixStep));
  std::fill_n(lists.keys, static_cast<std::size_t>(all) * (lists.slots + 1), kNoKey);
  std::fill_n(lists.candidates, groups, 0U);
  return true;
}

void scan_keys(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
               std::uint32_t end, KeyLists& lists) {
  MERGANSER_DISPATCH(ScanKeys)(points, lower, upper, begin, end, lists);
}

}  // namespace merganser::nearest
#endif
