// Vectorised brute-force distances. Compiled once per vector target by Highway; the end of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/pair_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "merganser/nearest/pair_scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, 8>;
using V = hn::Vec<D>;
using Norm = merganser::nearest::Norm;

/// Adds the term of one axis to the brute-force distances of a vector of points; an infinite period leaves |a - b|.
template <bool kPeriodic, Norm kNorm>
HWY_INLINE V add_axis(V sum, V a, V b, V period) {
  V s = hn::Abs(hn::Sub(a, b));
  if constexpr (kPeriodic) s = hn::Min(hn::Abs(hn::Sub(period, s)), s);
  if constexpr (kNorm == Norm::squares) return hn::Add(sum, hn::Mul(s, s));
  return kNorm == Norm::sum ? hn::Add(sum, s) : hn::Max(sum, s);
}

/// Vectors of points in one group of the brute-force scan: their sums are independent, which hides the latency of the additions.
constexpr std::size_t kGroupVectors = 4;

/// Vectorised step of pair_distances(): computes the brute-force distances of a position to one group of points from `first` on.
/// Leaves the sums as they are once all are beyond their limits, since any number above a limit will do. @return number of points
/// in the group
template <bool kPeriodic, Norm kNorm>
HWY_INLINE std::size_t compare_group(const PairPoints& points, const double* place, const double* most,
                                     std::size_t first, double* to) {
  constexpr std::size_t kLook = 16;  // axes between two looks at the limits
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const double* at[kGroupVectors];
  for (std::size_t v = 0; v < kGroupVectors; ++v) {
    const std::size_t point = first + v * lanes;
    at[v] = points.data + point / 8 * 8 * points.axes + point % 8;
  }
  V s0 = hn::Zero(d);
  V s1 = hn::Zero(d);
  V s2 = hn::Zero(d);
  V s3 = hn::Zero(d);
  for (std::size_t a = 0; a < points.axes;) {
    const std::size_t end = points.axes - a > kLook ? a + kLook : points.axes;
    for (; a < end; ++a) {
      const V x = hn::Set(d, place[a]);
      const V period = hn::Set(d, kPeriodic ? points.period[a] : 0.0);
      s0 = add_axis<kPeriodic, kNorm>(s0, x, hn::LoadU(d, at[0] + 8 * a), period);
      s1 = add_axis<kPeriodic, kNorm>(s1, x, hn::LoadU(d, at[1] + 8 * a), period);
      s2 = add_axis<kPeriodic, kNorm>(s2, x, hn::LoadU(d, at[2] + 8 * a), period);
      s3 = add_axis<kPeriodic, kNorm>(s3, x, hn::LoadU(d, at[3] + 8 * a), period);
    }
    const auto near =
        hn::Or(hn::Or(hn::Le(s0, hn::LoadU(d, most)), hn::Le(s1, hn::LoadU(d, most + lanes))),
               hn::Or(hn::Le(s2, hn::LoadU(d, most + 2 * lanes)), hn::Le(s3, hn::LoadU(d, most + 3 * lanes))));
    if (hn::AllFalse(d, near)) break;
  }
  hn::StoreU(s0, d, to);
  hn::StoreU(s1, d, to + lanes);
  hn::StoreU(s2, d, to + 2 * lanes);
  hn::StoreU(s3, d, to + 3 * lanes);
  return kGroupVectors * lanes;
}

/// Loop of pair_distances(): computes the brute-force distances from one position to the points begin .. end - 1, group by group.
template <bool kPeriodic, Norm kNorm>
void compare(const PairPoints& points, const double* place, const double* most, std::size_t begin, std::size_t end,
             double* to) {
  for (std::size_t i = begin; i < end;)
    i += compare_group<kPeriodic, kNorm>(points, place, most + (i - begin), i, to + (i - begin));
}

/// Body of pair_distances(), the inner loop of brute-force search: selects the code for norm and periodicity.
void PairDistances(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                   std::size_t end, double* to) {
  const auto with = [&](auto few, auto many) HWY_ATTR {
    points.period == nullptr ? few(points, place, most, begin, end, to) : many(points, place, most, begin, end, to);
  };
  if (points.norm == Norm::squares) return with(compare<false, Norm::squares>, compare<true, Norm::squares>);
  if (points.norm == Norm::sum) return with(compare<false, Norm::sum>, compare<true, Norm::sum>);
  with(compare<false, Norm::most>, compare<true, Norm::most>);
}

/// Computes the distances of a position to a group of points into `to`, and returns the bits of those within their limits
/// (near_pairs()).
std::uint32_t NearPairs(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                        double* to) {
  PairDistances(points, place, most, begin, begin + kPairGroup, to);
  const D d;
  std::uint32_t near = 0;
  for (std::size_t i = 0; i < kPairGroup; i += hn::Lanes(d)) {
    std::uint8_t bits[8] = {};  // of at most eight lanes, in the first byte
    hn::StoreMaskBits(d, hn::Le(hn::LoadU(d, to + i), hn::LoadU(d, most + i)), bits);
    near |= std::uint32_t{bits[0]} << i;
  }
  return near;
}

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(PairDistances);

void pair_distances(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                    std::size_t end, double* to) {
  MERGANSER_DISPATCH(PairDistances)(points, place, most, begin, end, to);
}

HWY_EXPORT(NearPairs);

std::uint32_t near_pairs(const PairPoints& points, const double* place, const double* most, std::size_t begin,
                         double* to) {
  return MERGANSER_DISPATCH(NearPairs)(points, place, most, begin, to);
}

}  // namespace merganser::nearest
#endif
