// Single-precision filter of the search for nearest neighbours among points. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/filter_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "merganser/base/detail/highway.hpp"
#include "src/nearest/filter_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, 16>;
using U = hn::RebindToUnsigned<F>;
using VF = hn::Vec<F>;

/// Returns the bits of a mask of the filter, the lowest lane first.
HWY_INLINE std::uint32_t mask_bits(hn::Mask<F> mask) {
  std::uint8_t bytes[8] = {0};
  hn::StoreMaskBits(F(), mask, bytes);
  std::uint32_t bits;
  std::memcpy(&bits, bytes, sizeof bits);
  return bits;
}

/// Writes the queries whose limits the box of a leaf is within to `near`. @return their number
HWY_INLINE std::uint32_t select_queries(const FilterLists& lists, int axes, double scale, const double* lower,
                                        const double* upper, std::uint8_t* near) {
  const F f;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  float low[LeafPoints::kMaxAxes];
  float high[LeafPoints::kMaxAxes];
  for (int a = 0; a < axes; ++a) {
    low[a] = static_cast<float>((lower[a] - lists.centre[a]) * scale);
    high[a] = static_cast<float>((upper[a] - lists.centre[a]) * scale);
  }
  std::uint32_t count = 0;
  for (std::uint32_t q = 0; q < lists.count; q += lanes) {
    VF sum = hn::Zero(f);
    for (int a = 0; a < axes; ++a) {
      const VF x = hn::LoadU(f, lists.axis[a] + q);
      const VF gap = hn::Max(hn::Max(hn::Sub(hn::Set(f, low[a]), x), hn::Sub(x, hn::Set(f, high[a]))), hn::Zero(f));
      sum = hn::MulAdd(gap, gap, sum);
    }
    for (std::uint32_t bits = mask_bits(hn::Le(sum, hn::LoadU(f, lists.limit + q))); bits != 0; bits &= bits - 1)
      near[count++] = static_cast<std::uint8_t>(q + static_cast<std::uint32_t>(__builtin_ctz(bits)));
  }
  return count;
}

/// Returns a vector moved up by one lane, with `first` in the lowest.
template <class Tag, class T>
HWY_INLINE hn::Vec<Tag> shift_up(Tag tag, hn::Vec<Tag> v, T first) {
  const hn::RebindToSigned<Tag> i;
  const auto below = hn::Max(hn::Sub(hn::Iota(i, 0), hn::Set(i, 1)), hn::Zero(i));
  return hn::IfThenElse(hn::FirstN(tag, 1), hn::Set(tag, first),
                        hn::TableLookupLanes(v, hn::IndicesFromVec(tag, below)));
}

/// Inserts a candidate into the ascending list of a query; the last one drops out.
HWY_INLINE void insert(float* distance2, std::uint32_t* point, float d2, std::uint32_t number) {
  // From the last vector to the first, without branches: entries above d2 move up by a lane.
  const F f;
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  const VF x = hn::Set(f, d2);
  for (std::uint32_t at = kFilterSlots; at > 0;) {
    at -= lanes;
    const VF here = hn::Load(f, distance2 + at);
    const auto old = hn::Load(u, point + at);
    const VF below = shift_up(f, here, at > 0 ? distance2[at - 1] : -1.0F);
    const auto old_below = shift_up(u, old, at > 0 ? point[at - 1] : 0U);
    const auto moves = hn::RebindMask(u, hn::Lt(x, below));
    const auto stays = hn::RebindMask(u, hn::Le(here, x));
    hn::Store(hn::Min(here, hn::Max(below, x)), f, distance2 + at);
    hn::Store(hn::IfThenElse(stays, old, hn::IfThenElse(moves, old_below, hn::Set(u, number))), u, point + at);
  }
}

/// Leaf that filter_leaf() adds, with the coordinates of its points.
struct AddedLeaf {
  const FilterPoints::Leaf& leaf;
  const float* axis;  // coordinates of the first axis; those of others follow every leaf.room
};

/// Inserts those of a vector of candidates, from `at` of the leaf on, that are within the limit into the list of query q.
HWY_INLINE void insert_near(FilterLists& lists, std::uint32_t q, const AddedLeaf& from, std::uint32_t at,
                            VF distances) {
  const F f;
  alignas(64) float d2[16];
  float limit = lists.limit[q];
  std::uint32_t bits = mask_bits(hn::Le(distances, hn::Set(f, limit)));
  if (bits == 0) return;
  hn::Store(distances, f, d2);
  float* const list = lists.distance2[q];
  for (; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
    const std::uint32_t number = from.leaf.begin + at + lane;
    if (at + lane >= from.leaf.count || !(d2[lane] <= limit) || number == lists.first + q) continue;
    insert(list, lists.point[q], d2[lane], number);
    limit = lists.limit_above(list[lists.keep - 1]);
  }
  lists.limit[q] = limit;
}

/// Filter coordinates of a group of queries relative to the leaf that is added, by axis.
struct QueryGroup {
  std::uint32_t query[4];
  float place[LeafPoints::kMaxAxes][4];
};

/// Compares four queries with the points of a leaf.
template <int kAxes>
HWY_INLINE void compare_four(FilterLists& lists, int runtime_axes, const QueryGroup& group, const AddedLeaf& from) {
  const F f;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  const int axes = kAxes > 0 ? kAxes : runtime_axes;
  const std::size_t room = from.leaf.room;
  for (std::uint32_t at = 0; at < from.leaf.count; at += lanes) {
    VF d0 = hn::Zero(f);
    VF d1 = d0;
    VF d2 = d0;
    VF d3 = d0;
    const float* axis = from.axis + at;
    for (int a = 0; a < axes; ++a, axis += room) {
      const VF x = hn::LoadU(f, axis);
      const VF s0 = hn::Sub(x, hn::Set(f, group.place[a][0]));
      const VF s1 = hn::Sub(x, hn::Set(f, group.place[a][1]));
      const VF s2 = hn::Sub(x, hn::Set(f, group.place[a][2]));
      const VF s3 = hn::Sub(x, hn::Set(f, group.place[a][3]));
      d0 = hn::MulAdd(s0, s0, d0);
      d1 = hn::MulAdd(s1, s1, d1);
      d2 = hn::MulAdd(s2, s2, d2);
      d3 = hn::MulAdd(s3, s3, d3);
    }
    const auto near = [&](std::uint32_t i, VF d)
                          HWY_ATTR { return hn::Le(d, hn::Set(f, lists.limit[group.query[i]])); };
    const auto some = hn::Or(hn::Or(near(0, d0), near(1, d1)), hn::Or(near(2, d2), near(3, d3)));
    if (hn::AllFalse(f, some)) continue;
    insert_near(lists, group.query[0], from, at, d0);
    insert_near(lists, group.query[1], from, at, d1);
    insert_near(lists, group.query[2], from, at, d2);
    insert_near(lists, group.query[3], from, at, d3);
  }
}

/// Body of filter_leaf(), the leaf step of the filtered search for nearest neighbours.
void FilterLeaf(const FilterPoints& copy, std::size_t number, const double* lower, const double* upper,
                FilterLists& lists) {
  std::uint8_t near[kFilterQueries + 4];
  const int axes = copy.axes();
  const double scale = copy.scale();
  const std::uint32_t count = select_queries(lists, axes, scale, lower, upper, near);
  if (count == 0) return;
  const FilterPoints::Leaf& leaf = copy.leaf(number);
  if (leaf.slack > lists.slack) {
    lists.slack = leaf.slack;
    for (std::uint32_t q = 0; q < lists.count; ++q)
      lists.limit[q] = lists.limit_above(lists.distance2[q][lists.keep - 1]);
  }
  const AddedLeaf from{leaf, copy.coordinates(leaf)};
  const double* const centre = copy.centre(number);
  QueryGroup group;
  for (std::uint32_t i = 0; i < count; i += 4) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      // Where queries are missing, there is a limit of -1, below all distances.
      const bool missing = i + j >= count;
      group.query[j] = missing ? kFilterQueries : near[i + j];
      const double* const place = lists.place[missing ? near[i] : near[i + j]];
      for (int a = 0; a < axes; ++a) group.place[a][j] = static_cast<float>((place[a] - centre[a]) * scale);
    }
    if (axes == 8)
      compare_four<8>(lists, axes, group, from);
    else
      compare_four<0>(lists, axes, group, from);
  }
  const F f;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
  VF worst = hn::Set(f, -1.0F);
  for (std::uint32_t q = 0; q < lists.count; q += lanes) worst = hn::Max(worst, hn::LoadU(f, lists.limit + q));
  lists.worst = hn::GetLane(hn::MaxOfLanes(f, worst));
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(FilterLeaf);

FilterPoints::FilterPoints(int axes, double extent) : axes_(axes), scale_(std::ldexp(1.0, -std::ilogb(extent))) {}

void FilterPoints::add(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
                       std::uint32_t end) {
  constexpr float kFarAway = 1e18F;  // coordinate of no point, whose square is finite
  Leaf leaf{coordinates_.size(), begin, end - begin, (end - begin + kFilterGroup - 1) / kFilterGroup * kFilterGroup, 0};
  coordinates_.resize(leaf.offset + static_cast<std::size_t>(axes_) * leaf.room, kFarAway);
  float* to = coordinates_.data() + leaf.offset;
  double corner2 = 0;
  for (int a = 0; a < axes_; ++a, to += leaf.room) {
    const double centre = lower[a] + (upper[a] - lower[a]) / 2;
    centres_.push_back(centre);
    const double half = std::max(upper[a] - centre, centre - lower[a]) * scale_;
    corner2 += half * half;
    for (std::uint32_t i = 0; i < leaf.count; ++i)
      to[i] = static_cast<float>((points.axis[static_cast<std::size_t>(a)][begin + i] - centre) * scale_);
  }
  leaf.slack = static_cast<float>(corner2 * 0x1p-29) + 1e-35F;  // the latter for squares below the least normal number
  leaves_.push_back(leaf);
}

void begin_filter(const LeafPoints& points, const FilterPoints& copy, std::size_t leaf, std::uint32_t keep,
                  FilterLists& lists) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const FilterPoints::Leaf& from = copy.leaf(leaf);
  lists.first = from.begin;
  lists.count = from.count;
  lists.keep = keep;
  lists.slack = from.slack;
  std::copy_n(copy.centre(leaf), copy.axes(), lists.centre);
  const float* axis = copy.coordinates(from);
  for (int a = 0; a < copy.axes(); ++a, axis += from.room) {
    std::copy_n(axis, from.room, lists.axis[a]);
    const double* const at = points.axis[static_cast<std::size_t>(a)] + from.begin;
    for (std::uint32_t q = 0; q < from.count; ++q) lists.place[q][a] = at[q];
  }
  std::fill_n(lists.limit, kFilterQueries + 16, -1.0F);
  std::fill_n(lists.limit, lists.count, kInfinite);
  lists.worst = kInfinite;
  std::fill_n(lists.distance2[0], lists.count * kFilterSlots, kInfinite);
  std::fill_n(lists.point[0], lists.count * kFilterSlots, 0U);
}

void filter_leaf(const FilterPoints& copy, std::size_t leaf, const double* lower, const double* upper,
                 FilterLists& lists) {
  MERGANSER_DISPATCH(FilterLeaf)(copy, leaf, lower, upper, lists);
}

}  // namespace merganser::nearest
#endif
