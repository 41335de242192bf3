// Vectorised search of several nearest parcels: a filter in fixed point, then canonical distances. Compiled once per vector target by
// Highway; the end of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/several_search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <limits>

#include "merganser/base/detail/highway.hpp"
#include "src/nearest/candidate_row.hpp"
#include "src/nearest/several_search.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using L = hn::RebindToSigned<D>;
using VD = hn::Vec<D>;
using Candidates = CandidateRow<kMaxMoreFilter>;

constexpr std::uint32_t kPad = 16;  // entries beyond the last parcel listed, which vectors read and write
constexpr std::uint32_t kRoom = kMaxNear + kPad;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Parcels near one small parcel, itself included: those that the filter has left, and the nearest of them. How many they are is as good as
/// random, so loops take some at a time, and a processor more often predicts when they end; the entries beyond the last stand for the small
/// parcel, which is infinitely far.
struct NearLists {
  std::uint32_t count;
  std::uint32_t found;  // as many as are searched, or fewer if there are no more within the greatest distance
  alignas(64) std::int32_t vertex[kRoom];
  alignas(64) double distance2[kRoom];
  alignas(64) std::int64_t rank[kRoom];
  Near sorted[kRoom];  // the nearest first; of these `found` are valid
};

/// Lists the candidates of small parcel v whose filtered squared distances are at most `limit`. @return false if there are more than
/// kMaxNear
HWY_INLINE bool list_near(const BlockSearch& s, const Candidates& candidates, std::uint32_t v, std::uint32_t limit,
                          NearLists& to) {
  const U u;
  const I i;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  const VU px = hn::Set(u, s.x[v]);
  const VU py = hn::Set(u, s.y[v]);
  const VU pz = hn::Set(u, s.z[v]);
  const VU most = hn::Set(u, static_cast<std::uint16_t>(limit));
  const std::uint16_t* const x = candidates.x + candidates.first();
  const std::uint16_t* const y = candidates.y + candidates.first();
  const std::uint16_t* const z = candidates.z + candidates.first();
  const std::int32_t* const vertex = candidates.vertex + candidates.first();
  alignas(64) std::uint16_t distance2[kStep];
  std::uint32_t count = 0;
  for (std::uint32_t at = 0; at < candidates.size(); at += kStep) {
    for (std::uint32_t k = 0; k < kStep; k += lanes)
      hn::Store(filtered_distance2(px, py, pz, x + at + k, y + at + k, z + at + k), u, distance2 + k);
    std::uint32_t bits = near_bits(distance2, most);
    const auto more = static_cast<std::uint32_t>(std::popcount(bits));
    if (count + more > kMaxNear) [[unlikely]]
      return false;
#if HWY_TARGET <= HWY_AVX3
    // The near lanes of each vector go to the front; what follows overwrites the others.
    constexpr std::uint32_t kLanes = 16;
    static_assert(kPad >= kLanes && hn::MaxLanes(I()) == kLanes);
    for (std::uint32_t k = 0, begin = count; k < kStep; k += kLanes) {
      const std::uint64_t some = (bits >> k) & 0xffff;  // LoadMaskBits() may read eight bytes
      const auto mask = hn::LoadMaskBits(i, reinterpret_cast<const std::uint8_t*>(&some));
      hn::StoreU(hn::Compress(hn::LoadU(i, vertex + at + k), mask), i, to.vertex + begin);
      begin += static_cast<std::uint32_t>(std::popcount(some));
    }
#else
    constexpr std::uint32_t kUsual = 4;       // near ones in a step: more are rare
    const auto take = [&](std::uint32_t k) {  // behind the last bit, of a candidate behind the step
      to.vertex[count + k] = vertex[at + static_cast<std::uint32_t>(std::countr_zero(bits))];
      bits &= bits - 1;
    };
    for (std::uint32_t k = 0; k < kUsual; ++k) take(k);
    if (more > kUsual) [[unlikely]]
      for (std::uint32_t k = kUsual; k < more; ++k) take(k);
#endif
    count += more;
  }
  to.count = count;
  for (std::uint32_t k = 0; k < kPad; k += static_cast<std::uint32_t>(hn::Lanes(i)))
    hn::StoreU(hn::Set(i, static_cast<std::int32_t>(v)), i, to.vertex + count + k);
  return true;
}

/// Returns the number of entries that loops over the parcels listed take.
HWY_INLINE std::uint32_t entries(const NearLists& near) { return (near.count + 3) / 4 * 4; }

/// Returns |a - b|, or the rest of the period if that is less: Box::separation(). An infinite period leaves |a - b|.
HWY_INLINE VD separation(VD a, VD b, VD period) {
  const VD d = hn::Abs(hn::Sub(a, b));
  return hn::Min(hn::Abs(hn::Sub(period, d)), d);
}

/// Computes the squared distances of the parcels listed to a small parcel: Box::distance2(), and the squares of differences of the other
/// coordinates; infinite for itself and for positions that are too far.
HWY_INLINE void measure_near(const SeveralSearch& s, const VD* period, std::uint32_t v, NearLists& near) {
  const D d;
  const L l;
  const hn::Rebind<std::int32_t, D> numbers;
  static_assert(sizeof(Site) == 4 * sizeof(double));
  const double* const sites = &s.sites->x;
  const Site& at = s.sites[v];
  const VD x = hn::Set(d, at.x);
  const VD y = hn::Set(d, at.y);
  const VD z = hn::Set(d, at.z);
  const VD most2 = hn::Set(d, s.most2);
  const double* const more = s.more.values;
  const std::size_t axes = s.more.count;
  const double* const own = more + v * axes;
  const std::uint32_t n = entries(near);
  for (std::uint32_t k = 0; k < n; k += static_cast<std::uint32_t>(hn::Lanes(d))) {
    const auto vertex = hn::PromoteTo(l, hn::LoadU(numbers, near.vertex + k));
    const auto site = hn::ShiftLeft<2>(vertex);
    const VD dx = separation(x, hn::GatherIndex(d, sites, site), period[0]);
    const VD dy = separation(y, hn::GatherIndex(d, sites + 1, site), period[1]);
    const VD dz = separation(z, hn::GatherIndex(d, sites + 2, site), period[2]);
    VD sum = hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Mul(dz, dz));
    const auto near_enough =
        hn::And(hn::Le(sum, most2), hn::RebindMask(d, hn::Ne(vertex, hn::Set(l, std::int64_t{v}))));
    if (axes > 0) {
      auto row = vertex;
      for (std::size_t a = 1; a < axes; ++a) row = hn::Add(row, vertex);
      for (std::size_t a = 0; a < axes; ++a) {
        const VD difference = hn::Sub(hn::Set(d, own[a]), hn::GatherIndex(d, more + a, row));
        sum = hn::Add(sum, hn::Mul(difference, difference));
      }
    }
    hn::Store(hn::IfThenElse(near_enough, sum, hn::Set(d, kInfinity)), d, near.distance2 + k);
  }
}

/// Sorts the parcels listed by (distance2, id): each goes to the place that is the number of lesser distances; equal ones are left to
/// the sink.
HWY_INLINE void sort_near(const SeveralSearch& s, NearLists& near) {
  const D d;
  const L i;
  const std::uint32_t n = entries(near);
  auto sum = hn::Zero(i);
  std::uint64_t finite = 0;
  for (std::uint32_t k = 0; k < n; k += static_cast<std::uint32_t>(hn::Lanes(d))) {
    const VD own = hn::Load(d, near.distance2 + k);
    auto place = hn::Zero(i);
    const auto add = [&](double other) HWY_ATTR {
      place = hn::Sub(place, hn::BitCast(i, hn::VecFromMask(d, hn::Lt(hn::Set(d, other), own))));
    };
    for (std::uint32_t j = 0; j < n; j += 4) {
      add(near.distance2[j]);
      add(near.distance2[j + 1]);
      add(near.distance2[j + 2]);
      add(near.distance2[j + 3]);
    }
    hn::Store(place, i, near.rank + k);
    const auto is_finite = hn::Lt(own, hn::Set(d, kInfinity));
    finite += hn::CountTrue(d, is_finite);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::RebindMask(i, is_finite), place));
  }
  // Those infinitely far, of which there is one at least, go to the place behind the others.
  for (std::uint32_t k = 0; k < n; ++k)
    near.sorted[near.rank[k]] = {near.distance2[k], static_cast<std::uint32_t>(near.vertex[k])};
  if (static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(i, sum))) == finite * (finite - 1) / 2) [[likely]]
    return;
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < n; ++k)
    if (near.distance2[k] < kInfinity)
      near.sorted[count++] = {near.distance2[k], static_cast<std::uint32_t>(near.vertex[k])};
  s.sink->sort({near.sorted, count});
  near.sorted[count].distance2 = kInfinity;
}

/// Puts the least of the parcels listed, by (distance2, id), to the front; equal ones are left to the sink.
HWY_INLINE void choose_nearest(const SeveralSearch& s, NearLists& near) {
  const D d;
  const std::uint32_t n = entries(near);
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  VD lowest = hn::Set(d, kInfinity);
  for (std::uint32_t k = 0; k < n; k += lanes) lowest = hn::Min(lowest, hn::Load(d, near.distance2 + k));
  const VD least = hn::MinOfLanes(d, lowest);
  std::uint64_t equal = 0;
  for (std::uint32_t k = 0; k < n; k += lanes) {
    std::uint8_t bytes[8] = {0};
    hn::StoreMaskBits(d, hn::Eq(hn::Load(d, near.distance2 + k), least), bytes);
    equal |= std::uint64_t{bytes[0]} << k;
  }
  const double distance2 = hn::GetLane(least);
  std::uint32_t count = 0;
  do {
    const int k = std::countr_zero(equal);
    near.sorted[count++] = {distance2, static_cast<std::uint32_t>(near.vertex[k])};
    equal &= equal - 1;
  } while (equal != 0 && distance2 < kInfinity);
  if (count > 1) [[unlikely]]
    s.sink->sort({near.sorted, count});
}

/// Searches the nearest of small parcel v among the candidates of its node with filtered squared distances up to `limit`. @return
/// whether they are certain; they are at the front of near.sorted
HWY_INLINE bool search_within(const SeveralSearch& s, const VD* period, const Candidates& candidates, const Node& node,
                              std::uint32_t v, std::uint32_t limit, NearLists& near) {
  near.found = 0;
  if (!list_near(s.block, candidates, v, limit, near)) return false;
  if (near.count <= s.count && s.most2 * s.units >= limit) return false;
  measure_near(s, period, v, near);
  if (s.count == 1)
    choose_nearest(s, near);
  else
    sort_near(s, near);
  while (near.found < s.count && near.sorted[near.found].distance2 < kInfinity) ++near.found;
  const double reach2 = near.found == s.count ? std::min(near.sorted[s.count - 1].distance2, s.most2) : s.most2;
  const double filtered = reach2 * s.units;
  if (!(filtered < limit - (kError + 1))) return false;  // a parcel beyond the limit may be as near
  const auto distance2 = static_cast<std::uint32_t>(filtered) + 1;
  return static_cast<std::int32_t>(distance2) < node.sure ||
         is_within(node, {s.block.x[v], s.block.y[v], s.block.z[v]}, distance2);
}

/// Loads the coordinates of a vector of parcels.
template <std::uint32_t kMore>
HWY_INLINE void load_more(const double* from, VD (&x)[kMaxMoreFilter]) {
  const D d;
  if constexpr (kMore == 1)
    x[0] = hn::LoadU(d, from);
  else if constexpr (kMore == 2)
    hn::LoadInterleaved2(d, from, x[0], x[1]);
  else
    hn::LoadInterleaved3(d, from, x[0], x[1], x[2]);
}

/// Computes the coordinates of the filter beside the position (write_more_filter()).
template <std::uint32_t kMore>
HWY_INLINE bool write_more(const MoreAxes& more, std::size_t count, double units, std::uint16_t* const* to) {
  constexpr double kMaxDifference = 65000;  // in units
  const D d;
  const hn::Rebind<std::int32_t, D> numbers;
  const hn::Rebind<std::uint16_t, D> filter;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = count / lanes * lanes;
  VD x[kMaxMoreFilter];
  VD least[kMaxMoreFilter];
  VD most[kMaxMoreFilter];
  for (std::uint32_t a = 0; a < kMore; ++a) least[a] = most[a] = hn::Set(d, more.values[a]);
  for (std::size_t v = 0; v < whole; v += lanes) {
    load_more<kMore>(more.values + v * kMore, x);
    for (std::uint32_t a = 0; a < kMore; ++a) {
      least[a] = hn::Min(least[a], x[a]);
      most[a] = hn::Max(most[a], x[a]);
    }
  }
  double lower[kMaxMoreFilter];
  for (std::uint32_t a = 0; a < kMore; ++a) {
    lower[a] = hn::GetLane(hn::MinOfLanes(d, least[a]));
    double upper = hn::GetLane(hn::MaxOfLanes(d, most[a]));
    for (std::size_t v = whole; v < count; ++v) {
      lower[a] = std::min(lower[a], more.values[v * kMore + a]);
      upper = std::max(upper, more.values[v * kMore + a]);
    }
    if (!((upper - lower[a]) * units < kMaxDifference)) return false;
  }
  const VD factor = hn::Set(d, units);
  const VD half = hn::Set(d, 0.5);
  for (std::size_t v = 0; v < whole; v += lanes) {
    load_more<kMore>(more.values + v * kMore, x);
    for (std::uint32_t a = 0; a < kMore; ++a) {
      const VD at = hn::Add(hn::Mul(hn::Sub(x[a], hn::Set(d, lower[a])), factor), half);
      hn::StoreU(hn::DemoteTo(filter, hn::DemoteTo(numbers, at)), filter, to[a] + v);
    }
  }
  for (std::size_t v = whole; v < count; ++v)
    for (std::uint32_t a = 0; a < kMore; ++a)
      to[a][v] =
          static_cast<std::uint16_t>(static_cast<std::int32_t>((more.values[v * kMore + a] - lower[a]) * units + 0.5));
  return true;
}

/// Computes the coordinates of the filter beside the position, by their number (write_more_filter()).
bool WriteMore(const MoreAxes& more, std::size_t count, double units, std::uint16_t* const* to) {
  static_assert(kMaxMoreFilter == 3);
  if (more.count == 1) return write_more<1>(more, count, units, to);
  if (more.count == 2) return write_more<2>(more, count, units, to);
  return write_more<3>(more, count, units, to);
}

/// Finds the nearest of small parcel v among the candidates of its node by the filter, of position and kMore other coordinates. The filter
/// is wrong by less than (3 + kMore) 0.5 + 1.51 sqrt(3 + kMore), up to 6.8 (candidate_row.hpp). @return its vertex; links::kNone if another
/// may be as near, or one that is no candidate
template <std::uint32_t kMore>
HWY_INLINE std::uint32_t find_filtered(const BlockSearch& s, const Candidates& candidates, const Node& node,
                                       std::uint32_t v, Comparison& c) {
  constexpr std::uint32_t kMoreError = 3;   // beyond kError
  constexpr std::uint32_t kMoreDoubt = 14;  // as kDoubt
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  const std::uint32_t first = candidates.first();
  const std::uint32_t size = candidates.size();
  const VU px = hn::Set(u, s.x[v]);
  const VU py = hn::Set(u, s.y[v]);
  const VU pz = hn::Set(u, s.z[v]);
  const VU one = hn::Set(u, 1);
  VU minimum = hn::Set(u, 0xffff);
  for (std::uint32_t at = 0; at < size; at += kStep)
    for (std::uint32_t k = at; k < at + kStep; k += lanes) {
      const std::uint32_t from = first + k;
      VU distance2 = filtered_distance2(px, py, pz, candidates.x + from, candidates.y + from, candidates.z + from);
      for (std::uint32_t a = 0; a < kMore; ++a)
        distance2 = hn::SaturatedAdd(
            distance2, filtered_square_of_any(hn::Set(u, s.more[a][v]), hn::LoadU(u, candidates.more[a] + from)));
      hn::Store(distance2, u, c.distance2 + k);
      minimum = hn::Min(minimum, hn::Sub(distance2, one));  // 0, as of the parcel itself, becomes the greatest number
    }
  // Greater than the least by the error of one distance, so that rivals are listed up to 17 above it, where 14 would do.
  const std::uint32_t distance2 = least(u, minimum) + 1U + kMoreError;
  const VU most = hn::Set(u, static_cast<std::uint16_t>(std::min(distance2 + kMoreDoubt, 0xffffU)));
  std::uint64_t near[kCandidates / 64];
  const std::uint32_t words = (size + 63) / 64;
  int count = 0;
  std::uint32_t below = 0;  // as in block_search()
  std::uint32_t above = 0;
  for (std::uint32_t w = 0; w < words; ++w) {
    near[w] = near_bits(c.distance2 + 64 * w, most);
    if (64 * w + kStep < size)
      near[w] |= static_cast<std::uint64_t>(near_bits(c.distance2 + 64 * w + kStep, most)) << 32;
    count += std::popcount(near[w]);
    const auto none = static_cast<std::uint32_t>(near[w] == 0);
    above = static_cast<std::uint32_t>(std::countl_zero(near[w] | 1)) + ((above + 1) & (0U - none));
  }
  for (std::uint32_t w = words; w-- > 0;)
    below = static_cast<std::uint32_t>(std::countr_zero(near[w])) +
            (below & (0U - static_cast<std::uint32_t>(near[w] == 0)));
  const bool is_sure = static_cast<std::int32_t>(distance2) < node.sure ||
                       (distance2 < kNearest && is_within(node, {s.x[v], s.y[v], s.z[v]}, distance2));
  if (count != 2 || distance2 >= kNearest || !is_sure) return links::kNone;
  const auto one_end = static_cast<std::uint32_t>(candidates.vertex[first + below]);
  const auto other_end = static_cast<std::uint32_t>(candidates.vertex[first + 64 * words - 1 - above]);
  return one_end ^ other_end ^ v;  // one of them is the parcel itself
}

/// Does what find_filtered() does for the coordinates of the filter.
HWY_INLINE std::uint32_t find_filtered(const BlockSearch& s, const Candidates& candidates, const Node& node,
                                       std::uint32_t v, Comparison& c) {
  static_assert(kMaxMoreFilter == 3);
  if (s.more_axes == 1) return find_filtered<1>(s, candidates, node, v, c);
  if (s.more_axes == 2) return find_filtered<2>(s, candidates, node, v, c);
  return find_filtered<3>(s, candidates, node, v, c);
}

/// Returns the squared distance of two parcels, of positions and other coordinates.
HWY_INLINE double distance2_of(const SeveralSearch& s, std::uint32_t a, std::uint32_t b) {
  const Site& p = s.sites[a];
  const Site& q = s.sites[b];
  double sum = s.box.distance2({p.x, p.y, p.z}, {q.x, q.y, q.z});
  for (std::size_t i = 0; i < s.more.count; ++i) {
    const double d = s.more.values[a * s.more.count + i] - s.more.values[b * s.more.count + i];
    sum = sum + d * d;
  }
  return sum;
}

/// Finds the nearest parcels of the small parcels of every node, and hands over those that are certain (several_search()).
void SearchSeveral(const SeveralSearch& s) {
  const D d;
  constexpr std::uint32_t kMaxLimit = kNearest - 1;
  VD period[3];
  for (int a = 0; a < 3; ++a) period[a] = hn::Set(d, s.box.periodic[a] ? s.box.extent[a] : kInfinity);
  // Within a first limit there are by chance hardly fewer than are searched, and few more.
  const double wanted = s.count + 1.75 * std::sqrt(s.count);
  const double cubes = 8 * wanted * s.block.width[0] * s.block.width[1] * s.block.width[2] * 0.75 / 3.14159;
  std::uint16_t limits[kCandidates + 1];
  for (std::uint32_t n = 0; n <= kCandidates; ++n) {
    const double radius = std::cbrt(cubes / std::max(n, 1U));
    limits[n] = static_cast<std::uint16_t>(std::min<double>(radius * radius / kFilterUnits + kError + 1, kMaxLimit));
    if (s.more.count > 0) limits[n] = kMaxLimit;  // positions are nearer than the parcels
  }
  Candidates candidates{};
  NearLists near{};
  Comparison comparison{};
  // Positions of what it finds are nearer than kNearest and an error.
  const bool by_filter = s.block.more_axes > 0 && s.count == 1 && s.most2 * s.units > kNearest + kError;
  visit_nodes(s.block, candidates, [&](const Node& node, std::uint32_t begin, std::uint32_t end) HWY_ATTR {
    const bool many = candidates.size() > kCandidates;
    const std::uint32_t limit = many ? 0 : limits[candidates.size()];
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint32_t v = s.block.by_node[k];
      near.found = 0;
      if (by_filter && !many) {
        const std::uint32_t nearest = find_filtered(s.block, candidates, node, v, comparison);
        if (nearest != links::kNone) [[likely]] {
          near.sorted[0] = {distance2_of(s, v, nearest), nearest};
          s.sink->take(v, {near.sorted, 1});
          continue;
        }
      }
      if (!many && !s.sink->gives_up &&
          (search_within(s, period, candidates, node, v, limit, near) ||
           (limit < kMaxLimit && search_within(s, period, candidates, node, v, kMaxLimit, near)))) {
        s.sink->take(v, {near.sorted, near.found});
      } else {
        s.sink->leave(v, near.found == s.count ? near.sorted[s.count - 1].distance2 : kInfinity);
      }
    }
  });
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(SearchSeveral);
HWY_EXPORT(WriteMore);

void several_search(const SeveralSearch& s) { MERGANSER_DISPATCH(SearchSeveral)(s); }

bool write_more_filter(const MoreAxes& more, std::size_t count, double units, std::uint16_t* const* to) {
  return MERGANSER_DISPATCH(WriteMore)(more, count, units, to);
}

}  // namespace merganser::nearest
#endif
