// Vectorised inner loop of the exact nearest-neighbour search. Compiled once per vector target by Highway; the end of
// the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/nearest/block_search.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>

#include "merganser/base/detail/highway.hpp"
#include "merganser/links/links.hpp"
#include "src/nearest/block_search.hpp"
#include "src/nearest/candidate_row.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::nearest::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Candidates = CandidateRow<0>;

/// Most rivals of a nearest candidate that are listed; parcels of crowds or lattices, with more of them, are left open.
constexpr int kMaxRivals = 2;

/// Computes the squared distances from vertex v to the first kStep * kSteps candidates. @return the least that is not 0, as is that
/// of the vertex itself
template <std::uint32_t kSteps>
HWY_INLINE std::uint32_t compare(const BlockSearch& s, const Candidates& candidates, std::uint32_t v, Comparison& to) {
  const U u;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(u));
  const VU px = hn::Set(u, s.x[v]);
  const VU py = hn::Set(u, s.y[v]);
  const VU pz = hn::Set(u, s.z[v]);
  const VU one = hn::Set(u, 1);
  VU minimum = hn::Set(u, 0xffff);
  const std::uint16_t* const x = candidates.x + candidates.first();
  const std::uint16_t* const y = candidates.y + candidates.first();
  const std::uint16_t* const z = candidates.z + candidates.first();
#pragma GCC unroll 16
  for (std::uint32_t k = 0; k < kStep * kSteps; k += lanes) {
    const VU distance2 = filtered_distance2(px, py, pz, x + k, y + k, z + k);
    hn::Store(distance2, u, to.distance2 + k);
    minimum = hn::Min(minimum, hn::Sub(distance2, one));  // 0 becomes the greatest number
  }
  return least(u, minimum) + 1U;
}

/// Nearest candidate of a vertex.
struct Nearest {
  std::uint32_t vertex;
  int rivals;  ///< number of other candidates that may be as near, for rounding
};

/// Returns the nearest candidate of vertex v, or one nearly as near, given that there is one: of the squared distances up to `limit`,
/// one is that of the vertex itself; if there is but one other, that is the nearest.
template <std::uint32_t kSteps>
HWY_INLINE Nearest find_nearest(const Candidates& candidates, std::uint32_t v, std::uint32_t limit,
                                const Comparison& c) {
  constexpr std::uint32_t kWords = (kSteps + 1) / 2;
  const VU most = hn::Set(U(), static_cast<std::uint16_t>(limit));
  int count = 0;
  // The first and the last bit set, without branches: a word without bits counts 64 places on either side.
  std::uint32_t below = 0;
  std::uint32_t above = 0;
  std::uint64_t near[kWords];
  for (std::uint32_t w = 0; w < kWords; ++w) {
    near[w] = near_bits(c.distance2 + 64 * w, most);
    if (2 * w + 1 < kSteps) near[w] |= static_cast<std::uint64_t>(near_bits(c.distance2 + 64 * w + kStep, most)) << 32;
    count += std::popcount(near[w]);
    const auto none = static_cast<std::uint32_t>(near[w] == 0);
    above = static_cast<std::uint32_t>(std::countl_zero(near[w] | 1)) + ((above + 1) & (0U - none));
  }
  for (std::uint32_t w = kWords; w-- > 0;)
    below = static_cast<std::uint32_t>(std::countr_zero(near[w])) +
            (below & (0U - static_cast<std::uint32_t>(near[w] == 0)));
  const std::int32_t* const vertex = candidates.vertex + candidates.first();
  const auto first = static_cast<std::uint32_t>(vertex[below]);
  const auto last = static_cast<std::uint32_t>(vertex[64 * kWords - 1 - above]);
  return {first == v ? last : first, count - 2};
}

/// Appends the candidates of vertex v whose squared distance is at most `limit` to the contenders.
HWY_NOINLINE void list_contenders(const BlockSearch& s, const Candidates& candidates, std::uint32_t v,
                                  std::uint32_t limit, const Comparison& c) {
  const VU most = hn::Set(U(), static_cast<std::uint16_t>(limit));
  const std::int32_t* const vertex = candidates.vertex + candidates.first();
  for (std::uint32_t k = 0; k < candidates.size(); k += kStep)
    for (std::uint32_t near = near_bits(c.distance2 + k, most); near != 0; near &= near - 1) {
      const auto other = static_cast<std::uint32_t>(vertex[k + static_cast<std::uint32_t>(std::countr_zero(near))]);
      if (other != v) s.contenders->push_back({v, other});
    }
}

/// Searches the first kStep * kSteps candidates of a node for its small parcels begin .. end - 1 of by_node.
template <std::uint32_t kSteps>
HWY_NOINLINE void search_node(const BlockSearch& s, const Candidates& candidates, const Node& node, std::uint32_t begin,
                              std::uint32_t end, Comparison& comparison) {
  for (std::uint32_t k = begin; k < end; ++k) {
    const std::uint32_t v = s.by_node[k];
    const std::uint32_t distance2 = compare<kSteps>(s, candidates, v, comparison);
    if (distance2 >= kNearest) [[unlikely]] {
      s.open->push_back({v, links::kNone});
      continue;
    }
    const Nearest nearest = find_nearest<kSteps>(candidates, v, distance2 + kDoubt, comparison);
    s.target[v] = nearest.vertex;
    if (nearest.rivals == 0 && static_cast<std::int32_t>(distance2) < node.sure) [[likely]]
      continue;
    if (nearest.rivals > kMaxRivals || !is_within(node, {s.x[v], s.y[v], s.z[v]}, distance2)) {
      s.open->push_back({v, nearest.vertex});
    } else if (nearest.rivals > 0) {
      list_contenders(s, candidates, v, distance2 + kDoubt, comparison);
    }
  }
}

/// Calls search_node() for the number of candidates that the node has, kStep * kSteps or fewer.
template <std::uint32_t kSteps>
HWY_INLINE void search_steps(const BlockSearch& s, const Candidates& candidates, const Node& node, std::uint32_t begin,
                             std::uint32_t end, Comparison& comparison) {
  if constexpr (kSteps > 1)
    if (candidates.size() <= kStep * (kSteps - 1))
      return search_steps<kSteps - 1>(s, candidates, node, begin, end, comparison);
  search_node<kSteps>(s, candidates, node, begin, end, comparison);
}

/// Body of block_search(): searches the candidates around every node for the node's small parcels.
void SearchNodes(const BlockSearch& s) {
  Candidates candidates{};
  Comparison comparison{};
  visit_nodes(s, candidates, [&](const Node& node, std::uint32_t begin, std::uint32_t end) HWY_ATTR {
    if (candidates.size() > kCandidates) {
      for (std::uint32_t k = begin; k < end; ++k) s.open->push_back({s.by_node[k], links::kNone});
      return;
    }
    search_steps<kCandidates / kStep>(s, candidates, node, begin, end, comparison);
  });
}

/// Returns Highway's name of the vector instruction set that this copy of the file is compiled for.
const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace merganser::nearest::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::nearest {

HWY_EXPORT(SearchNodes);
HWY_EXPORT(TargetName);

void block_search(const BlockSearch& s) { MERGANSER_DISPATCH(SearchNodes)(s); }
const char* block_search_target() { return MERGANSER_DISPATCH(TargetName)(); }

}  // namespace merganser::nearest
#endif
