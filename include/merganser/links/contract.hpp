#pragma once
/// Contraction of nearest-neighbour graphs, as in Boruvka's algorithm: every tree (or star) of links is merged into one
/// root vertex.
/// Invariant: after a call every vertex has exactly one root, the same for all vertices of its tree or star.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/links/links.hpp"
#include "merganser/links/prune.hpp"

namespace merganser::links {

/// Policy that selects the links kept by a round of contraction of a nearest-neighbour graph, as in Boruvka's algorithm.
enum class Policy : std::uint8_t {
  stars,  ///< links that prune_single_pass keeps: short chains of messages, about 0.42 of the vertices remain
  trees,  ///< all but one link of each dual link: whole trees contract, about 0.30 of the vertices remain
};

/// Root of a vertex: the vertex, perhaps the same one, that represents it after contraction, by owning rank and local
/// index.
struct Root {
  std::int32_t rank = 0;     ///< owner of the root
  std::uint32_t vertex = 0;  ///< index of the root by the numbering of its owner
  friend bool operator==(const Root&, const Root&) = default;
};

/// Cost counters of one contraction of a graph of links on this rank; contract() fills it.
struct ContractStatistics {
  /// Waves of queries (trees); longest chain of cross-rank labels, as PruneStatistics::rounds (stars)
  std::int64_t rounds = 0;
  std::int64_t asked = 0;  ///< queries sent to other ranks (trees), or labels sent (stars)
};

/// Contracts a graph of links: returns the root of each vertex of this rank that is listed. Of a dual link the end with the
/// lower global id loses its link; the roots of trees are those ends and the vertices without a link. On return links.target
/// holds the kept links only (kNone elsewhere); a kept link to another rank stays kAway | index.
///
/// Policy::trees: collective over the transport. Chains within a rank are followed, chains over ranks are shortened by
/// pointer doubling; one reduction per round detects termination. The mailbox's graph must contain an arc to every
/// other rank.
/// Policy::stars: called by every rank with a cross-rank link, no collective, as prune_single_pass.
/// @param links  cycles of length 2 only; `out` and `in` ordered by arc, then slot; no relays with Policy::trees
/// @param live  vertices of this rank whose roots are wanted, each once; every vertex with a link must be among them
/// @param ids  global ids of the local vertices, unique over all ranks
/// @param statistics  written if not null
/// @return one root per vertex of `live`, in its order
/// @throws InputError for links that violate these conditions, on the rank that finds them only, and for a cycle of three or more
/// links (trees); ranks that wait for that rank end with CommError once the error leaves its comm::run(), or with its process
/// Cost: one pass over 4 bytes for every vertex of the rank, for trees their clearing too. Trees: O(live vertices + links) work a round,
/// at most 2 +
/// log2(longest chain of cross-rank links) rounds of two waves.
std::vector<Root> contract(Policy policy, Links& links, std::span<const std::uint32_t> live, const Ids& ids,
                           const Channels& channels, ContractStatistics* statistics = nullptr);

}  // namespace merganser::links
