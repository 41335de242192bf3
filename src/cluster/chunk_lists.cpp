// Vectorised work lists of the merge of stars. Compiled once per vector target by Highway; the end of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/cluster/chunk_lists.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "merganser/base/detail/selected_lanes.hpp"
#include "merganser/links/links.hpp"
#include "src/cluster/chunk_lists.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::cluster::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U = hn::CappedTag<std::uint32_t, kLaneSlack>;
using I = hn::RebindToSigned<U>;

/// Returns the lanes selected by a mask, moved to the front of the vector in their order.
#if HWY_TARGET == HWY_AVX2
template <class V, class M>
HWY_INLINE V compress(V values, M mask) {
  const U u;
  const hn::Rebind<std::uint8_t, U> bytes;
  std::uint8_t bits[8];
  hn::StoreMaskBits(u, mask, bits);
  const auto lanes =
      hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(&merganser::detail::kSelectedLanes[bits[0]]));
  return hn::TableLookupLanes(values, hn::IndicesFromVec(u, hn::PromoteTo(u, lanes)));
}
#else
template <class V, class M>
HWY_INLINE V compress(V values, M mask) {
  return hn::Compress(values, mask);
}
#endif

/// Lists the vertices begin .. end - 1 that have a link and are no centre yet, and returns their number (list_linked()).
std::size_t ListLinked(const std::uint32_t* HWY_RESTRICT target, std::uint32_t begin, std::uint32_t end,
                       std::uint32_t* HWY_RESTRICT list) {
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  const auto none = hn::Set(u, links::kNone);
  const auto head = hn::Set(u, kHead);
  const auto kind = hn::Set(u, kSource | kHead);
  std::size_t count = 0;
  std::uint32_t v = begin;
  auto vertex = hn::Add(hn::Set(u, begin), hn::Iota(u, 0));
  for (; v + lanes <= end; v += lanes) {
    const auto code = hn::LoadU(u, target + v);
    const auto linked = hn::Not(hn::Or(hn::Eq(code, none), hn::Eq(hn::And(code, kind), head)));
    hn::StoreU(compress(vertex, linked), u, list + count);
    count += hn::CountTrue(u, linked);
    vertex = hn::Add(vertex, hn::Set(u, lanes));
  }
  for (; v < end; ++v) {
    list[count] = v;
    count += static_cast<std::size_t>(target[v] != links::kNone) &
             static_cast<std::size_t>((target[v] & (kSource | kHead)) != kHead);
  }
  return count;
}

/// Sorts the vertices begin .. end - 1 into the work lists of the merge by their codes (sort_chunk()). A code with the top bit set
/// marks a source, except kNone, which as a signed number is -1.
void SortChunk(const std::uint32_t* HWY_RESTRICT target, std::uint32_t begin, std::uint32_t end, ChunkWork& work) {
  const U u;
  const I i;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  constexpr std::uint32_t kKind = kSource | kHead | kMany;
  std::uint32_t survivors = 0;
  std::uint32_t pairs = 0;
  std::uint32_t stars = 0;
  std::uint32_t v = begin;
  const auto iota = hn::Iota(u, 0);
  for (; v + lanes <= end; v += lanes) {
    const auto code = hn::LoadU(u, target + v);
    const auto survives = hn::RebindMask(u, hn::Gt(hn::BitCast(i, code), hn::Set(i, -2)));
    const std::size_t here = hn::CountTrue(u, survives);
    hn::StoreU(compress(hn::Add(hn::Set(u, v), iota), survives), u, work.survivors + survivors);
    const auto position = hn::Add(hn::Set(u, survivors), iota);
    // Lanes beyond the survivors get the kind of no centre.
    const auto kind = hn::IfThenElseZero(hn::FirstN(u, here), hn::And(compress(code, survives), hn::Set(u, kKind)));
    const auto pair = hn::Eq(kind, hn::Set(u, kHead));
    const auto star = hn::Eq(kind, hn::Set(u, kHead | kMany));
    hn::StoreU(compress(position, pair), u, work.pairs + pairs);
    hn::StoreU(compress(position, star), u, work.stars + stars);
    survivors += static_cast<std::uint32_t>(here);
    pairs += static_cast<std::uint32_t>(hn::CountTrue(u, pair));
    stars += static_cast<std::uint32_t>(hn::CountTrue(u, star));
  }
  for (; v < end; ++v) {
    const std::uint32_t code = target[v];
    work.survivors[survivors] = v;
    work.pairs[pairs] = survivors;
    work.stars[stars] = survivors;
    survivors += static_cast<std::uint32_t>((code & kSource) == 0 || code == links::kNone);
    pairs += static_cast<std::uint32_t>((code & kKind) == kHead);
    stars += static_cast<std::uint32_t>((code & kKind) == (kHead | kMany));
  }
  work.survivor_count = survivors;
  work.pair_count = pairs;
  work.star_count = stars;
}

}  // namespace merganser::cluster::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::cluster {

HWY_EXPORT(ListLinked);
HWY_EXPORT(SortChunk);

std::size_t list_linked(const std::uint32_t* target, std::uint32_t begin, std::uint32_t end, std::uint32_t* list) {
  return MERGANSER_DISPATCH(ListLinked)(target, begin, end, list);
}

void sort_chunk(const std::uint32_t* target, std::uint32_t begin, std::uint32_t end, ChunkWork& work) {
  MERGANSER_DISPATCH(SortChunk)(target, begin, end, work);
}

}  // namespace merganser::cluster
#endif
