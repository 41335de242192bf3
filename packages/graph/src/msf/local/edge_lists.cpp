// Vectorised scan of edges of 12 bytes, and paths to roots, for filter-Kruskal. Compiled once per vector target by Highway; the end of the file has the
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
                       const graphs::Edge12& pivot, std::uint32_t first, std::uint32_t last,
                       std::uint32_t* HWY_RESTRICT light, std::uint32_t* HWY_RESTRICT away) {
  const U u;
  const std::size_t lanes = hn::Lanes(u);
  const auto flips = hn::Set(u, flip);
  const auto bounds = hn::Set(u, pivot.weight);
  const auto lows = hn::Set(u, pivot.low);
  const auto highs = hn::Set(u, pivot.high);
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
    auto is_light = hn::Eq(hn::Min(weight, bounds), weight);
    const auto ties = hn::Eq(weight, bounds);
    const auto leaves = hn::Or(hn::Ne(hn::Max(low, firsts), low), hn::Ne(hn::Min(high, lasts), high));
    if (HWY_UNLIKELY(!hn::AllFalse(u, hn::Or(ties, leaves)))) {
      found.away += append(position, leaves, away + found.away);
      const auto above =
          hn::Or(hn::Ne(hn::Min(low, lows), low), hn::And(hn::Eq(low, lows), hn::Ne(hn::Min(high, highs), high)));
      is_light = hn::AndNot(hn::And(ties, above), is_light);
    }
    found.light += append(position, is_light, light + found.light);
    position = hn::Add(position, hn::Set(u, static_cast<std::uint32_t>(lanes)));
  }
  std::uint32_t highest = hn::GetLane(hn::MaxOfLanes(u, most));
  for (const std::uint32_t* e = words + 3 * i; i < count; ++i, e += 3) {
    highest = HWY_MAX(highest, e[1]);
    light[found.light] = static_cast<std::uint32_t>(i);
    found.light += static_cast<std::size_t>(!is_above(graphs::Edge12{e[0], e[1], e[2] ^ flip}, pivot));
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

/// Body of flatten_paths() for words of 32 vertices; positions are below 2^31, since gathers take signed ones.
/// @param first,end  multiples of 32
void flatten_words(std::uint32_t* parent, std::uint32_t first, std::uint32_t end, std::uint32_t mask,
                   std::uint32_t root, std::uint32_t* HWY_RESTRICT members) {
  const U u;
  const hn::RebindToSigned<U> signed_words;
  const std::size_t lanes = hn::Lanes(u);
  const auto masks = hn::Set(u, mask);
  const auto roots = hn::Set(u, root);
  auto base = hn::Set(u, first);
  for (std::uint32_t v = first; v < end; v += 32) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 32; i += lanes) {
      auto entry = hn::LoadU(u, parent + v + i);
      auto up = hn::And(entry, masks);
      auto top = hn::GatherIndex(u, parent, hn::BitCast(signed_words, up));
      // Parents before this vector are flat; of those in it the paths are followed.
      while (HWY_UNLIKELY(!hn::AllFalse(u, hn::And(hn::Eq(hn::Max(up, base), up), hn::Ne(top, entry))))) {
        entry = top;
        up = hn::And(entry, masks);
        top = hn::GatherIndex(u, parent, hn::BitCast(signed_words, up));
      }
      hn::StoreU(top, u, parent + v + i);
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(u, hn::Eq(hn::And(top, masks), roots), bits);
      word |= merganser::detail::mask_bits_of(bits) << i;
      base = hn::Add(base, hn::Set(u, static_cast<std::uint32_t>(lanes)));
    }
    if (members != nullptr) members[v / 32] = word;
  }
}

}  // namespace merganser::msf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::msf {

HWY_EXPORT(list_edges);
HWY_EXPORT(list_outside);
HWY_EXPORT(flatten_words);

template <>
ListedEdges list_edges<graphs::Edge12>(std::span<const graphs::Edge12> edges, std::uint32_t flip,
                                       const graphs::Edge12& pivot, const VertexRange& range, std::uint32_t* light,
                                       std::uint32_t* away) {
  constexpr std::uint64_t kMaxVertex = std::numeric_limits<std::uint32_t>::max();
  return MERGANSER_DISPATCH(list_edges)(reinterpret_cast<const std::uint32_t*>(edges.data()), edges.size(), flip, pivot,
                                        static_cast<std::uint32_t>(std::min(range.first, kMaxVertex)),
                                        static_cast<std::uint32_t>(std::min(range.last, kMaxVertex)), light, away);
}

template <>
std::size_t list_outside<graphs::Edge12>(std::span<const graphs::Edge12> edges, const std::uint32_t* set,
                                         std::uint32_t* list) {
  return MERGANSER_DISPATCH(list_outside)(reinterpret_cast<const std::uint32_t*>(edges.data()), edges.size(), set,
                                          list);
}

// Paths to roots, by vectors in whole words of the bits where positions are below 2^31.
void flatten_paths(std::uint32_t* parent, std::size_t first, std::size_t end, std::uint32_t mask, std::uint32_t root,
                   std::uint32_t* members) {
  const auto one_by_one = [&](std::size_t from, std::size_t to) {
    for (std::size_t v = from; v < to; ++v) {
      parent[v] = parent[parent[v] & mask];
      if (members != nullptr) members[v / 32] |= static_cast<std::uint32_t>((parent[v] & mask) == root) << (v % 32);
    }
  };
  constexpr std::size_t kSigned = std::size_t{1} << 31;
  const std::size_t words = std::min((first + 31) / 32 * 32, end);
  const std::size_t rest = end > kSigned ? words : std::max(words, end / 32 * 32);
  one_by_one(first, words);
  if (words < rest) MERGANSER_DISPATCH(flatten_words)
  (parent, static_cast<std::uint32_t>(words), static_cast<std::uint32_t>(rest), mask, root, members);
  one_by_one(rest, end);
}

}  // namespace merganser::msf
#endif
