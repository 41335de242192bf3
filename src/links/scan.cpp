// Vectorised list passes of the single-pass pruning. Compiled once per vector target by Highway; the end of the file
// has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/links/scan.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "merganser/base/detail/selected_lanes.hpp"
#include "merganser/links/links.hpp"
#include "src/links/scan.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::links::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U = hn::CappedTag<std::uint32_t, kListSlack>;
using I = hn::RebindToSigned<U>;

#if HWY_TARGET == HWY_AVX2
/// Stores the vertices in the lanes selected by the mask at `to` and returns their number; writes a whole vector, hence kListSlack.
template <class V, class M>
HWY_INLINE std::size_t append(V values, M mask, std::uint32_t* to) {
  const U u;
  const hn::Rebind<std::uint8_t, U> bytes;
  std::uint8_t bits[8];
  hn::StoreMaskBits(u, mask, bits);
  const auto lanes =
      hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(&merganser::detail::kSelectedLanes[bits[0]]));
  hn::StoreU(hn::TableLookupLanes(values, hn::IndicesFromVec(u, hn::PromoteTo(u, lanes))), u, to);
  return static_cast<std::size_t>(__builtin_popcount(bits[0]));
}
#else
/// Stores the vertices in the lanes selected by the mask at `to` and returns their number; writes a whole vector, hence kListSlack.
template <class V, class M>
HWY_INLINE std::size_t append(V values, M mask, std::uint32_t* to) {
  hn::StoreU(hn::Compress(values, mask), U(), to);
  return hn::CountTrue(U(), mask);
}
#endif

/// Lists the vertices whose target is on this rank (target < n), by vector compress: the first pass of the pruning over the links.
LocalLinks list_local(const std::uint32_t* HWY_RESTRICT target, std::uint32_t n, std::uint32_t* HWY_RESTRICT list) {
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  // Tests target < n as unsigned numbers: with the top bit flipped the signed order is the unsigned one. kNone and
  // kAway are not below n, because n < kAway.
  const I i;
  const auto flip = hn::Set(i, INT32_MIN);
  const auto bound = hn::Xor(hn::Set(i, static_cast<std::int32_t>(n)), flip);
  const auto none = hn::Set(u, kNone);
  LocalLinks found{0, 0};
  std::uint32_t v = 0;
  auto vertex = hn::Iota(u, 0);
  for (; v + lanes <= n; v += lanes) {
    const auto t = hn::LoadU(u, target + v);
    const auto is_local = hn::RebindMask(u, hn::Lt(hn::Xor(hn::BitCast(i, t), flip), bound));
    found.local += append(vertex, is_local, list + found.local);
    found.unlinked += hn::CountTrue(u, hn::Eq(t, none));
    vertex = hn::Add(vertex, hn::Set(u, lanes));
  }
  for (; v < n; ++v) {
    list[found.local] = v;
    found.local += target[v] < n;
    found.unlinked += target[v] == kNone;
  }
  return found;
}

/// Splits a list of vertices of the pruning, keeping one kind in place and moving another to `apart`, by vector compress.
SplitLinks split_list(const std::uint8_t* HWY_RESTRICT kinds, std::uint32_t* list, std::size_t count,
                      std::uint32_t* HWY_RESTRICT apart) {
  const U u;
  const hn::Rebind<std::uint8_t, U> bytes;
  const std::size_t lanes = hn::Lanes(u);
  SplitLinks split{0, 0};
  std::size_t k = 0;
  for (; k + lanes <= count; k += lanes) {
    const auto v = hn::LoadU(u, list + k);
    const auto kind = hn::PromoteTo(u, hn::LoadU(bytes, kinds + k));
    split.apart += append(v, hn::Eq(kind, hn::Set(u, kApart)), apart + split.apart);
    // In place: kept <= k, so the whole vector that is written covers entries already read.
    split.kept += append(v, hn::Eq(kind, hn::Set(u, kKept)), list + split.kept);
  }
  for (; k < count; ++k) {
    const std::uint32_t v = list[k];
    apart[split.apart] = v;
    split.apart += kinds[k] == kApart;
    list[split.kept] = v;
    split.kept += kinds[k] == kKept;
  }
  return split;
}

}  // namespace merganser::links::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::links {

HWY_EXPORT(list_local);
HWY_EXPORT(split_list);

LocalLinks list_local(const std::uint32_t* target, std::uint32_t n, std::uint32_t* list) {
  return MERGANSER_DISPATCH(list_local)(target, n, list);
}

SplitLinks split_list(const std::uint8_t* kinds, std::uint32_t* list, std::size_t count, std::uint32_t* apart) {
  return MERGANSER_DISPATCH(split_list)(kinds, list, count, apart);
}

}  // namespace merganser::links
#endif
