// Single-precision filter of the search for nearest neighbours among points. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/filter_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
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
  return merganser::detail::mask_bits_of(bytes);
}

/// Writes the queries whose limits the box of a leaf is within to `near`. @return their number
HWY_INLINE std::uint32_t select_queries(const FilterQueries& lists, int axes, double scale, const double* lower,
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

/// Least filtered distances of a query, ascending over the lanes of vectors that hold `keep` or more together.
template <std::uint32_t kVectors>
struct LeastDistances {
  VF part[kVectors];

  HWY_INLINE explicit LeastDistances(const float* from) {
    for (std::uint32_t i = 0; i < kVectors; ++i) part[i] = hn::Load(F(), from + i * hn::Lanes(F()));
  }
  HWY_INLINE void store(float* to) const {
    for (std::uint32_t i = 0; i < kVectors; ++i) hn::Store(part[i], F(), to + i * hn::Lanes(F()));
  }
  /// Inserts a distance; the last one drops out. Without branches: those above it move up by a lane.
  HWY_INLINE void insert(float d2) {
    const F f;
    const hn::RebindToSigned<F> i;
    const auto lane = hn::Iota(i, 0);
    const auto below = hn::IndicesFromVec(f, hn::Max(hn::Sub(lane, hn::Set(i, 1)), hn::Zero(i)));
    const auto last = hn::IndicesFromVec(f, hn::Set(i, static_cast<std::int32_t>(hn::Lanes(f)) - 1));
    const VF x = hn::Set(f, d2);
    for (std::uint32_t p = kVectors; p-- > 0;) {
      const VF before = p > 0 ? hn::TableLookupLanes(part[p - (p > 0)], last) : hn::Zero(f);
      const VF up = hn::IfThenElse(hn::FirstN(f, 1), before, hn::TableLookupLanes(part[p], below));
      part[p] = hn::Min(part[p], hn::Max(up, x));
    }
  }
};

/// Leaf that filter_leaf() adds, with the coordinates of its points.
struct AddedLeaf {
  const FilterPoints::Leaf& leaf;
  const float* axis;  // coordinates of the first axis; those of others follow every leaf.room
};

/// Appends those of a vector of points, from `at` of the leaf on, that are within the limit to the candidates of query q.
template <std::uint32_t kVectors>
HWY_INLINE void append_near(FilterLists& lists, std::uint32_t q, const AddedLeaf& from, std::uint32_t at,
                            VF distances) {
  const F f;
  std::uint32_t bits = mask_bits(hn::Le(distances, hn::Set(f, lists.limit[q])));
  // Neither padding nor the query itself: only its own leaf has it.
  if (from.leaf.count - at < hn::Lanes(f)) bits &= (1U << (from.leaf.count - at)) - 1;
  const std::uint32_t first = from.leaf.begin + at;
  const std::uint32_t self = lists.first + q - first;
  if (self < hn::Lanes(f)) bits &= ~(1U << self);
  if (bits == 0) return;
  if (lists.size[q] + hn::Lanes(f) > kFilterRoom && lists.remove_far(q) + hn::Lanes(f) > kFilterRoom) {
    lists.full = true;
    return;
  }
  alignas(64) float d2[16];
  hn::Store(distances, f, d2);
  LeastDistances<kVectors> least(lists.best[q]);
  Candidate* to = lists.candidates[q] + lists.size[q];
  for (; bits != 0; bits &= bits - 1) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
    *to++ = {d2[lane], first + lane};
    least.insert(d2[lane]);
  }
  least.store(lists.best[q]);
  lists.size[q] = static_cast<std::uint32_t>(to - lists.candidates[q]);
  lists.limit[q] = lists.limit_above(lists.best[q][lists.keep - 1]);
}

/// Filter coordinates of a group of queries relative to the leaf that is added, by axis.
struct QueryGroup {
  std::uint32_t query[4];
  float place[LeafPoints::kMaxAxes][4];
};

/// Compares four queries with the points of a leaf, and calls take(query, position in the leaf, distances) for vectors of points of
/// which one is within a limit of the four.
HWY_INLINE void compare_four(const FilterQueries& lists, int axes, const QueryGroup& group, const AddedLeaf& from,
                             const auto& take) {
  const F f;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(f));
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
    take(group.query[0], at, d0);
    take(group.query[1], at, d1);
    take(group.query[2], at, d2);
    take(group.query[3], at, d3);
  }
}

/// Compares the queries that the box of a leaf is near enough to with its points: take() as in compare_four().
HWY_INLINE void compare_leaf(const FilterPoints& copy, std::size_t number, const FilterQueries& lists,
                             const std::uint8_t* near, std::uint32_t count, const auto& take) {
  const int axes = copy.axes();
  const double scale = copy.scale();
  const FilterPoints::Leaf& leaf = copy.leaf(number);
  const AddedLeaf from{leaf, copy.coordinates(leaf)};
  const double* const centre = copy.centre(number);
  QueryGroup group;
  for (std::uint32_t i = 0; i < count; i += 4) {
    for (std::uint32_t j = 0; j < 4; ++j) {
      // Where queries are missing, there is a limit of -1, below all distances.
      const bool missing = i + j >= count;
      group.query[j] = missing ? static_cast<std::uint32_t>(kMaxLeafPoints) : near[i + j];
      const double* const place = lists.place[missing ? near[i] : near[i + j]];
      for (int a = 0; a < axes; ++a) group.place[a][j] = static_cast<float>((place[a] - centre[a]) * scale);
    }
    compare_four(lists, axes, group, from, take);
  }
}

/// Returns the greatest limit of all queries.
HWY_INLINE float greatest_limit(const FilterQueries& lists) {
  const F f;
  VF worst = hn::Set(f, -1.0F);
  for (std::uint32_t q = 0; q < lists.count; q += static_cast<std::uint32_t>(hn::Lanes(f)))
    worst = hn::Max(worst, hn::LoadU(f, lists.limit + q));
  return hn::GetLane(hn::MaxOfLanes(f, worst));
}

/// Body of filter_leaf(), the leaf step of the filtered search for nearest neighbours.
void FilterLeaf(const FilterPoints& copy, std::size_t number, const double* lower, const double* upper,
                FilterLists& lists) {
  std::uint8_t near[kMaxLeafPoints + 4];
  const std::uint32_t count = select_queries(lists, copy.axes(), copy.scale(), lower, upper, near);
  if (count == 0) return;
  const FilterPoints::Leaf& leaf = copy.leaf(number);
  if (leaf.slack > lists.slack) {
    lists.slack = leaf.slack;
    for (std::uint32_t q = 0; q < lists.count; ++q) lists.limit[q] = lists.limit_above(lists.best[q][lists.keep - 1]);
  }
  const AddedLeaf from{leaf, copy.coordinates(leaf)};
  const auto compare = [&](auto vectors) HWY_ATTR {
    compare_leaf(copy, number, lists, near, count, [&](std::uint32_t q, std::uint32_t at, VF distances) HWY_ATTR {
      append_near<decltype(vectors)::value>(lists, q, from, at, distances);
    });
  };
  constexpr auto kAll = static_cast<std::uint32_t>(kMaxFilterKeep / hn::MaxLanes(F()));
  constexpr std::uint32_t kHalf = kAll > 1 ? kAll / 2 : 1;
  if (lists.keep <= kHalf * hn::Lanes(F()))
    compare(std::integral_constant<std::uint32_t, kHalf>());
  else
    compare(std::integral_constant<std::uint32_t, kAll>());
  lists.worst = greatest_limit(lists);
}

/// Body of OutsideSearch::visit(), the leaf step of the filtered search for nearest points of other components.
void VisitOutside(const FilterPoints& copy, std::size_t number, const double* lower, const double* upper,
                  OutsideSearch& search) {
  std::uint8_t near[kMaxLeafPoints + 4];
  FilterQueries& queries = search.queries;
  const std::uint32_t count = select_queries(queries, copy.axes(), copy.scale(), lower, upper, near);
  if (count == 0) return;
  const FilterPoints::Leaf& leaf = copy.leaf(number);
  if (leaf.slack > queries.slack) {
    queries.slack = leaf.slack;
    for (std::uint32_t q = 0; q < queries.count; ++q)
      if (queries.limit[q] >= 0) queries.limit[q] = search.base[q] + queries.slack;
  }
  compare_leaf(copy, number, queries, near, count, [&](std::uint32_t q, std::uint32_t at, VF distances) HWY_ATTR {
    const F f;
    alignas(64) float d2[16];
    std::uint32_t bits = mask_bits(hn::Le(distances, hn::Set(f, queries.limit[q])));
    if (bits == 0) return;
    hn::Store(distances, f, d2);
    const std::uint32_t own = search.component[queries.first + q];
    for (; bits != 0; bits &= bits - 1) {
      const auto lane = static_cast<std::uint32_t>(__builtin_ctz(bits));
      const std::uint32_t point = leaf.begin + at + lane;
      if (at + lane < leaf.count && d2[lane] <= queries.limit[q] && search.component[point] != own)
        search.offer(q, point);
    }
  });
  queries.worst = greatest_limit(queries);
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(FilterLeaf);
HWY_EXPORT(VisitOutside);

void FilterPoints::begin(int axes, double extent) {
  axes_ = axes;
  scale_ = std::ldexp(1.0, -std::ilogb(extent));
}

void FilterPoints::add(const LeafPoints& points, const double* lower, const double* upper, std::uint32_t begin,
                       std::uint32_t end) {
  constexpr float kFarAway = 1e18F;  // coordinate of no point, whose square is finite
  Leaf leaf{
      coordinates_.size(), begin, end - begin, (end - begin + kFilterGroup - 1) / kFilterGroup * kFilterGroup, 0, 0};
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
  leaf.corner2 = static_cast<float>(corner2);
  leaves_.push_back(leaf);
}

void FilterQueries::begin(const LeafPoints& points, const FilterPoints& copy, const FilterPoints::Leaf& leaf,
                          const double* centre_of_leaf) {
  first = leaf.begin;
  count = leaf.count;
  slack = leaf.slack;
  harmless = leaf.corner2 * 0x1p-12F;
  std::copy_n(centre_of_leaf, copy.axes(), centre);
  const float* from = copy.coordinates(leaf);
  for (int a = 0; a < copy.axes(); ++a, from += leaf.room) {
    std::copy_n(from, leaf.room, axis[a]);
    const double* const at = points.axis[static_cast<std::size_t>(a)] + first;
    for (std::uint32_t q = 0; q < count; ++q) place[q][a] = at[q];
  }
  std::fill_n(limit, kMaxLeafPoints + 16, -1.0F);
  worst = -1;
}

void begin_filter(const LeafPoints& points, const FilterPoints& copy, std::size_t leaf, std::uint32_t keep,
                  FilterLists& lists) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  lists.begin(points, copy, copy.leaf(leaf), copy.centre(leaf));
  lists.keep = keep;
  std::fill_n(lists.limit, lists.count, kInfinite);
  lists.worst = kInfinite;
  std::fill_n(lists.best[0], lists.count * kMaxFilterKeep, kInfinite);
  std::fill_n(lists.size, lists.count, 0U);
  lists.full = false;
}

void OutsideSearch::begin(const LeafPoints& points, const FilterPoints& copy, std::uint32_t leaf,
                          const std::uint32_t* components) {
  copy_ = &copy;
  component = components;
  queries.begin(points, copy, copy.leaf(leaf), copy.centre(leaf));
  reach_ = -1;
}

void OutsideSearch::set_limit(std::uint32_t q, double d2) {
  constexpr double kMax = 1e37;  // beyond, single precision has no room for products
  const double scaled = d2 * copy_->scale() * copy_->scale();
  base[q] = scaled < kMax ? static_cast<float>(scaled * (1 + 0x1p-12)) : std::numeric_limits<float>::infinity();
  queries.limit[q] = base[q] + queries.slack;
  queries.worst = std::max(queries.worst, queries.limit[q]);
  reach_ = std::max(reach_, d2);
}

void OutsideSearch::visit(std::uint32_t leaf, const double* lower, const double* upper) {
  MERGANSER_DISPATCH(VisitOutside)(*copy_, leaf, lower, upper, *this);
  reach_ = static_cast<double>(queries.worst) / copy_->scale() / copy_->scale();
}

void filter_leaf(const FilterPoints& copy, std::size_t leaf, const double* lower, const double* upper,
                 FilterLists& lists) {
  MERGANSER_DISPATCH(FilterLeaf)(copy, leaf, lower, upper, lists);
}

}  // namespace merganser::nearest
#endif
