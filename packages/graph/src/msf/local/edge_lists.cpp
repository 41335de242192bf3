// Vectorised scan of edges of 12 bytes for filter-Kruskal. Compiled once per vector target by Highway; the end of the file has the
// dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/msf/local/edge_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "merganser/base/detail/selected_lanes.hpp"
#include "src/msf/local/edge_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::msf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U = hn::CappedTag<std::uint32_t, kListSlack>;

/// Stores the positions in the lanes selected by the mask at `to` and returns their number; writes a whole vector, hence kListSlack.
template <class V, class M>
HWY_INLINE std::size_t append(V positions, M mask, std::uint32_t* to) {
  const U u;
#if HWY_TARGET == HWY_AVX2
  const hn::Rebind<std::uint8_t, U> bytes;
  std::uint8_t bits[8];
  hn::StoreMaskBits(u, mask, bits);
  const auto lanes =
      hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(&merganser::detail::kSelectedLanes[bits[0]]));
  hn::StoreU(hn::TableLookupLanes(positions, hn::IndicesFromVec(u, hn::PromoteTo(u, lanes))), u, to);
  return static_cast<std::size_t>(__builtin_popcount(bits[0]));
#else
  hn::StoreU(hn::Compress(positions, mask), u, to);
  return hn::CountTrue(u, mask);
#endif
}

/// Body of list_edges() for edges of 12 bytes, whose numbers `words` are. @param last  last vertex of the range
ListedEdges list_edges(const std::uint32_t* HWY_RESTRICT words, std::size_t count, std::uint32_t flip,
                       std::uint32_t bound, std::uint32_t first, std::uint32_t last, std::uint32_t* HWY_RESTRICT light,
                       std::uint32_t* HWY_RESTRICT away) {
  const U u;
  const std::size_t lanes = hn::Lanes(u);
  const auto flips = hn::Set(u, flip);
  const auto bounds = hn::Set(u, bound);
  const auto firsts = hn::Set(u, first);
  const auto lasts = hn::Set(u, last);
  auto most = hn::Zero(u);
  auto position = hn::Iota(u, 0);
  ListedEdges found;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto low = hn::Undefined(u);
    auto high = hn::Undefined(u);
    auto weight = hn::Undefined(u);
    hn::LoadInterleaved3(u, words + 3 * i, low, high, weight);
    weight = hn::Xor(weight, flips);
    most = hn::Max(most, high);
    found.light += append(position, hn::Eq(hn::Min(weight, bounds), weight), light + found.light);
    const auto leaves = hn::Or(hn::Ne(hn::Max(low, firsts), low), hn::Ne(hn::Min(high, lasts), high));
    if (HWY_UNLIKELY(!hn::AllFalse(u, leaves))) found.away += append(position, leaves, away + found.away);
    position = hn::Add(position, hn::Set(u, static_cast<std::uint32_t>(lanes)));
  }
  std::uint32_t highest = hn::GetLane(hn::MaxOfLanes(u, most));
  for (; i < count; ++i) {
    const std::uint32_t* const e = words + 3 * i;
    highest = HWY_MAX(highest, e[1]);
    light[found.light] = static_cast<std::uint32_t>(i);
    found.light += static_cast<std::size_t>((e[2] ^ flip) <= bound);
    away[found.away] = static_cast<std::uint32_t>(i);
    found.away += static_cast<std::size_t>(e[0] < first) | static_cast<std::size_t>(e[1] > last);
  }
  found.highest = highest;
  return found;
}

/// Body of list_outside() for edges of 12 bytes, whose numbers `words` are.
std::size_t list_outside(const std::uint32_t* HWY_RESTRICT words, std::size_t edges,
                         const std::uint32_t* HWY_RESTRICT set, std::uint32_t* HWY_RESTRICT list) {
  const U u;
  const hn::RebindToSigned<U> signed_words;
  const std::size_t lanes = hn::Lanes(u);
  const auto in_word = hn::Set(u, 31);
  const auto one = hn::Set(u, 1);
  const auto is_in = [&](auto v) HWY_ATTR {
    const auto word = hn::GatherIndex(u, set, hn::BitCast(signed_words, hn::ShiftRight<5>(v)));
    return hn::Shr(word, hn::And(v, in_word));
  };
  auto position = hn::Iota(u, 0);
  std::size_t count = 0;
  std::size_t i = 0;
  for (; i + lanes <= edges; i += lanes) {
    auto low = hn::Undefined(u);
    auto high = hn::Undefined(u);
    auto weight = hn::Undefined(u);
    hn::LoadInterleaved3(u, words + 3 * i, low, high, weight);
    const auto both = hn::And(hn::And(is_in(low), is_in(high)), one);
    count += append(position, hn::Ne(both, one), list + count);
    position = hn::Add(position, hn::Set(u, static_cast<std::uint32_t>(lanes)));
  }
  for (; i < edges; ++i) {
    const std::uint32_t* const e = words + 3 * i;
    list[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>((set[e[0] / 32] >> (e[0] % 32) & set[e[1] / 32] >> (e[1] % 32) & 1U) == 0);
  }
  return count;
}

}  // namespace merganser::msf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::msf {

HWY_EXPORT(list_edges);
HWY_EXPORT(list_outside);

template <>
ListedEdges list_edges<graphs::Edge12>(std::span<const graphs::Edge12> edges, std::uint32_t flip, std::uint32_t bound,
                                       const VertexRange& range, std::uint32_t* light, std::uint32_t* away) {
  constexpr std::uint64_t kMaxVertex = std::numeric_limits<std::uint32_t>::max();
  return MERGANSER_DISPATCH(list_edges)(reinterpret_cast<const std::uint32_t*>(edges.data()), edges.size(), flip, bound,
                                        static_cast<std::uint32_t>(std::min(range.first, kMaxVertex)),
                                        static_cast<std::uint32_t>(std::min(range.last, kMaxVertex)), light, away);
}

template <>
std::size_t list_outside<graphs::Edge12>(std::span<const graphs::Edge12> edges, const std::uint32_t* set,
                                         std::uint32_t* list) {
  return MERGANSER_DISPATCH(list_outside)(reinterpret_cast<const std::uint32_t*>(edges.data()), edges.size(), set,
                                          list);
}

}  // namespace merganser::msf
#endif
