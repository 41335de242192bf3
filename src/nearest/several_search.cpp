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

constexpr std::uint32_t kRoom = kMaxNear + 8;  // whole vectors of doubles

/// Parcels near one small parcel: those that the filter has left, and their order.
struct NearLists {
  std::uint32_t count;
  std::uint32_t vertex[kRoom];
  alignas(64) double x[kRoom];
  alignas(64) double y[kRoom];
  alignas(64) double z[kRoom];
  alignas(64) double distance2[kRoom];
  alignas(64) std::int64_t rank[kRoom];
  Near sorted[kRoom];
};

/// Lists the candidates of small parcel v whose filtered squared distances are at most `limit`, without v itself. @return false if there
/// are more than kMaxNear
HWY_INLINE bool list_near(const BlockSearch& s, const CandidateRow& candidates, std::uint32_t v, std::uint32_t limit,
                          NearLists& to) {
  const U u;
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
    if (count + static_cast<std::uint32_t>(std::popcount(bits)) > kMaxNear) [[unlikely]]
      return false;
    for (; bits != 0; bits &= bits - 1) {
      const auto w = static_cast<std::uint32_t>(vertex[at + static_cast<std::uint32_t>(std::countr_zero(bits))]);
      to.vertex[count] = w;
      count += static_cast<std::uint32_t>(w != v);
    }
  }
  to.count = count;
  return true;
}

/// Returns |a - b|, or the rest of the period if that is less: Box::separation(). An infinite period leaves |a - b|.
HWY_INLINE VD separation(VD a, VD b, VD period) {
  const VD d = hn::Abs(hn::Sub(a, b));
  return hn::Min(hn::Abs(hn::Sub(period, d)), d);
}

/// Computes the canonical squared distances of the parcels listed to a small parcel: Box::distance2().
HWY_INLINE void measure_near(const SeveralSearch& s, const VD* period, std::uint32_t v, NearLists& near) {
  const D d;
  for (std::uint32_t k = 0; k < near.count; ++k) {
    const Site& site = s.sites[near.vertex[k]];
    near.x[k] = site.x;
    near.y[k] = site.y;
    near.z[k] = site.z;
  }
  const Site& at = s.sites[v];
  const VD x = hn::Set(d, at.x);
  const VD y = hn::Set(d, at.y);
  const VD z = hn::Set(d, at.z);
  for (std::uint32_t k = 0; k < near.count; k += static_cast<std::uint32_t>(hn::Lanes(d))) {
    const VD dx = separation(x, hn::Load(d, near.x + k), period[0]);
    const VD dy = separation(y, hn::Load(d, near.y + k), period[1]);
    const VD dz = separation(z, hn::Load(d, near.z + k), period[2]);
    hn::Store(hn::Add(hn::Add(hn::Mul(dx, dx), hn::Mul(dy, dy)), hn::Mul(dz, dz)), d, near.distance2 + k);
  }
}

/// Drops the parcels listed whose positions are too far, and adds the squares of differences of the other coordinates to the squared
/// distances of the rest.
HWY_INLINE void measure_more(const SeveralSearch& s, std::uint32_t v, NearLists& near) {
  const D d;
  const std::size_t axes = s.more.count;
  const double* rows[kRoom];
  std::uint32_t count = 0;
  for (std::uint32_t k = 0; k < near.count; ++k) {
    near.vertex[count] = near.vertex[k];
    near.distance2[count] = near.distance2[k];
    rows[count] = s.more.values + s.order[near.vertex[k]] * axes;
    count += static_cast<std::uint32_t>(near.distance2[k] <= s.most2);
  }
  near.count = count;
  const double* const own = s.more.values + s.order[v] * axes;
  for (std::size_t a = 0; a < axes; ++a) {
    const VD at = hn::Set(d, own[a]);
    for (std::uint32_t k = 0; k < count; ++k) near.x[k] = rows[k][a];
    for (std::uint32_t k = 0; k < count; k += static_cast<std::uint32_t>(hn::Lanes(d))) {
      const VD difference = hn::Sub(at, hn::Load(d, near.x + k));
      hn::Store(hn::Add(hn::Load(d, near.distance2 + k), hn::Mul(difference, difference)), d, near.distance2 + k);
    }
  }
}

/// Sorts the parcels listed by (distance2, id): each goes to the place that is the number of lesser distances; equal ones are left to
/// the sink.
HWY_INLINE void sort_near(const SeveralSearch& s, NearLists& near) {
  const D d;
  const L i;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const std::uint32_t count = near.count;
  auto sum = hn::Zero(i);
  for (std::uint32_t k = count; k % lanes != 0; ++k) near.distance2[k] = -1;  // padding has place 0, and adds 0
  for (std::uint32_t k = 0; k < count; k += lanes) {
    const VD own = hn::Load(d, near.distance2 + k);
    auto place = hn::Zero(i);
    for (std::uint32_t j = 0; j < count; ++j)
      place = hn::Sub(place, hn::BitCast(i, hn::VecFromMask(d, hn::Lt(hn::Set(d, near.distance2[j]), own))));
    hn::Store(place, i, near.rank + k);
    sum = hn::Add(sum, place);
  }
  for (std::uint32_t k = 0; k < count; ++k) near.sorted[near.rank[k]] = {near.distance2[k], near.vertex[k]};
  if (static_cast<std::uint64_t>(hn::GetLane(hn::SumOfLanes(i, sum))) == std::uint64_t{count} * (count - 1) / 2)
      [[likely]]
    return;
  for (std::uint32_t k = 0; k < count; ++k) near.sorted[k] = {near.distance2[k], near.vertex[k]};
  s.sink->sort({near.sorted, count});
}

/// Searches the nearest of small parcel v among the candidates of its node with filtered squared distances up to `limit`. @return
/// whether they are certain; they are at the front of near.sorted
HWY_INLINE bool search_within(const SeveralSearch& s, const VD* period, const CandidateRow& candidates,
                              const Node& node, std::uint32_t v, std::uint32_t limit, NearLists& near) {
  if (!list_near(s.block, candidates, v, limit, near)) return false;
  if (near.count < s.count && s.most2 * s.units >= limit) return false;
  measure_near(s, period, v, near);
  if (s.more.count > 0) measure_more(s, v, near);
  sort_near(s, near);
  const bool enough = near.count >= s.count;
  const double reach2 = enough ? std::min(near.sorted[s.count - 1].distance2, s.most2) : s.most2;
  const double filtered = reach2 * s.units;
  if (!(filtered < limit - (kError + 1))) return false;  // a parcel beyond the limit may be as near
  const auto distance2 = static_cast<std::uint32_t>(filtered) + 1;
  return static_cast<std::int32_t>(distance2) < node.sure ||
         is_within(node, {s.block.x[v], s.block.y[v], s.block.z[v]}, distance2);
}

/// Finds the nearest parcels of the small parcels of every node, and hands over those that are certain (several_search()).
void SearchSeveral(const SeveralSearch& s) {
  const D d;
  constexpr std::uint32_t kMaxLimit = kNearest - 1;
  VD period[3];
  for (int a = 0; a < 3; ++a)
    period[a] = hn::Set(d, s.box.periodic[a] ? s.box.extent[a] : std::numeric_limits<double>::infinity());
  // Within a first limit there are by chance hardly fewer than are searched, and few more.
  const double wanted = s.count + 1.75 * std::sqrt(s.count);
  const double cubes = 8 * wanted * s.block.width[0] * s.block.width[1] * s.block.width[2] * 0.75 / 3.14159;
  std::uint16_t limits[kCandidates + 1];
  for (std::uint32_t n = 0; n <= kCandidates; ++n) {
    const double radius = std::cbrt(cubes / std::max(n, 1U));
    limits[n] = static_cast<std::uint16_t>(std::min<double>(radius * radius / kFilterUnits + kError + 1, kMaxLimit));
    if (s.more.count > 0) limits[n] = kMaxLimit;  // positions are nearer than the parcels
  }
  CandidateRow candidates{};
  NearLists near{};
  visit_nodes(s.block, candidates, [&](const Node& node, std::uint32_t begin, std::uint32_t end) HWY_ATTR {
    const bool many = candidates.size() > kCandidates;
    const std::uint32_t limit = many ? 0 : limits[candidates.size()];
    for (std::uint32_t k = begin; k < end; ++k) {
      const std::uint32_t v = s.block.by_node[k];
      if (!many && (search_within(s, period, candidates, node, v, limit, near) ||
                    (limit < kMaxLimit && search_within(s, period, candidates, node, v, kMaxLimit, near)))) {
        std::uint32_t found = std::min(near.count, s.count);
        if (s.more.count == 0)
          while (found > 0 && !(near.sorted[found - 1].distance2 <= s.most2)) --found;
        s.sink->take(v, {near.sorted, found});
      } else {
        s.sink->leave(v);
      }
    }
  });
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(SearchSeveral);

void several_search(const SeveralSearch& s) { MERGANSER_DISPATCH(SearchSeveral)(s); }

}  // namespace merganser::nearest
#endif
