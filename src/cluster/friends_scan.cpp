// Vectorised comparison of the points of a cell with those around it. Compiled once per vector target by Highway; the end of the
// file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cluster/friends_scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "merganser/base/detail/highway.hpp"
#include "src/cluster/friends_scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::cluster::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FriendLanes = hn::CappedTag<float, FriendFilter::kPadding>;
using FriendVec = hn::Vec<FriendLanes>;

/// Returns one bit per lane of a mask.
HWY_INLINE std::uint32_t friend_bits(hn::Mask<FriendLanes> mask) {
  std::uint8_t bytes[8] = {0};
  hn::StoreMaskBits(FriendLanes(), mask, bytes);
  return merganser::detail::mask_bits_of(bytes);
}

/// Returns the bits of the lanes that are below `end`, where lane 0 is `at`.
HWY_INLINE std::uint32_t bits_below(std::uint32_t at, std::uint32_t end) {
  return end - at >= FriendFilter::kPadding ? ~std::uint32_t{0} : (std::uint32_t{1} << (end - at)) - 1;
}

/// Comparison of spots in single precision; writes the pairs that it finds.
template <bool kWraps>
struct FriendCompare {
  const FriendFilter& f;
  FriendPair* sure;
  FriendPair* open;

  /// Returns separations on one axis.
  HWY_INLINE FriendVec separation(int axis, FriendVec x, std::uint32_t at) const {
    const FriendLanes d;
    const FriendVec plain = hn::Sub(x, hn::LoadU(d, f.at[axis] + at));
    if constexpr (!kWraps) return plain;
    return hn::Min(hn::Abs(plain), hn::Abs(hn::Sub(hn::Set(d, f.period[axis]), hn::Abs(plain))));
  }

  /// Compares spot i with the spots begin .. end - 1.
  HWY_INLINE void with_run(std::uint32_t i, std::uint32_t begin, std::uint32_t end) {
    const FriendLanes d;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
    const FriendVec x = hn::Set(d, f.at[0][i]);
    const FriendVec y = hn::Set(d, f.at[1][i]);
    const FriendVec z = hn::Set(d, f.at[2][i]);
    for (std::uint32_t j = begin; j < end; j += lanes) {
      const FriendVec dx = separation(0, x, j);
      const FriendVec dy = separation(1, y, j);
      const FriendVec dz = separation(2, z, j);
      const FriendVec d2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
      std::uint32_t near = friend_bits(hn::Le(d2, hn::Set(d, f.near2))) & bits_below(j, end);
      if (near == 0) continue;
      const std::uint32_t certain = friend_bits(hn::Le(d2, hn::Set(d, f.sure2)));
      for (; near != 0; near &= near - 1) {
        const std::uint32_t lowest = near & (0 - near);
        const FriendPair pair{i, j + static_cast<std::uint32_t>(__builtin_ctz(near))};
        if ((certain & lowest) != 0) {
          *sure++ = pair;
        } else {
          *open++ = pair;
        }
      }
    }
  }

  /// Compares the spots of a cell that are within the limits of a run with it.
  HWY_INLINE void cell_with_run(std::uint32_t first, std::uint32_t last, const FriendRun& run) {
    const FriendLanes d;
    const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
    for (std::uint32_t i = first; i < last; i += lanes) {
      auto within = hn::FirstN(d, lanes);
      for (int a = 0; a < 3; ++a) {
        const FriendVec x = hn::LoadU(d, f.at[a] + i);
        within = hn::And(within, hn::And(hn::Ge(x, hn::Set(d, run.lower[a])), hn::Le(x, hn::Set(d, run.upper[a]))));
      }
      for (std::uint32_t bits = friend_bits(within) & bits_below(i, last); bits != 0; bits &= bits - 1)
        with_run(i + static_cast<std::uint32_t>(__builtin_ctz(bits)), run.begin, run.end);
    }
  }
};

/// Body of scan_friends(), with room for all pairs.
template <bool kWraps>
void scan_cell(const FriendFilter& filter, std::uint32_t first, std::uint32_t last, std::span<const FriendRun> runs,
               FriendPairs& found) {
  FriendCompare<kWraps> compare{filter, found.sure.data(), found.open.data()};
  for (std::uint32_t i = first; i + 1 < last; ++i) compare.with_run(i, i + 1, last);
  for (const FriendRun& run : runs) compare.cell_with_run(first, last, run);
  found.sure_count = static_cast<std::size_t>(compare.sure - found.sure.data());
  found.open_count = static_cast<std::size_t>(compare.open - found.open.data());
}

/// Compares a cell with the runs around it (scan_friends()).
void ScanFriends(const FriendFilter& filter, std::uint32_t first, std::uint32_t last, std::span<const FriendRun> runs,
                 bool wraps, FriendPairs& found) {
  if (wraps) {
    scan_cell<true>(filter, first, last, runs, found);
  } else {
    scan_cell<false>(filter, first, last, runs, found);
  }
}

}  // namespace merganser::cluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::cluster {

HWY_EXPORT(ScanFriends);

void scan_friends(const FriendFilter& filter, std::uint32_t first, std::uint32_t last, std::span<const FriendRun> runs,
                  bool wraps, FriendPairs& found) {
  std::size_t others = last - first;
  for (const FriendRun& run : runs) others += run.end - run.begin;
  const std::size_t most = (last - first) * others;
  if (found.sure.size() < most) {
    found.sure.resize(most);
    found.open.resize(most);
  }
  MERGANSER_DISPATCH(ScanFriends)(filter, first, last, runs, wraps, found);
}

}  // namespace merganser::cluster
#endif
